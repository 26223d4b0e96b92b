// The command that makes a figure.
#include <algorithm>
#include <cmath>

#include "app/recipe/names.h"
#include "app/recipe/recipe.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/precision_names.h"
#include "app/views/option_names.h"
#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

/// Quotes a word for bash and zsh, with $'...' if it has bytes that a terminal does not show.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./,:=+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && word.front() != '=' && std::ranges::all_of(word, is_plain)) return std::string(word);
  const bool strange = std::ranges::any_of(word, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  std::string quoted = strange ? "$'" : "'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (strange && (byte < 0x20 || byte >= 0x7f)) {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else if (strange && (c == '\'' || c == '\\')) {
      quoted += {'\\', c};
    } else if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

const View* shown_view(const Recipe& recipe) {
  return recipe.figure && !recipe.figure->window ? find_view(recipe.session.view) : nullptr;
}

std::vector<std::string> arguments_of(const Recipe& recipe) {
  const Session& s = recipe.session;
  const Figure figure = recipe.figure.value_or(Figure{});
  std::vector<std::string> words{figure.window ? "shot" : s.view};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (value.starts_with('-')) {  // would look like an option
      words.push_back("--" + name + "=" + value);
    } else {
      words.push_back("--" + name);
      words.push_back(value);
    }
  };
  if (figure.window) {
    add("view", s.view);
    if (!s.second_view.empty() && s.second_view != s.view) add("beside", s.second_view);
  }
  if (s.model.precision != model::Precision::f32) add("precision", std::string(name_of(s.model.precision)));
  if (!s.model.attention.empty()) {
    add("attention", s.model.attention);
  } else if (s.prompt.ids.empty()) {
    add("prompt", s.prompt.text);
  } else {
    std::string ids;
    for (const int id : s.prompt.ids) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    add("ids", ids);
  }
  const bool start_token = s.prompt.start_token.value_or(s.model.adds_start_token);
  if (start_token || s.model.adds_start_token) words.emplace_back(start_token ? "--bos" : "--no-bos");
  for (const WrittenEdit& edit : s.edits)
    if (edit.on) add("edit", edit.text);
  if (s.second && s.second->on) {
    if (s.second->attention.empty()) {
      add("second", s.second->text);
    } else {
      add("second-attention", s.second->attention);
    }
    if (s.second->alignment != Alignment::position)
      add("align", std::string(name_of(kAlignmentNames, s.second->alignment)));
  }
  if (s.side != Side::run && has_comparison(s)) add("show", std::string(name_of(kSideNames, s.side)));
  const Selection by_default;
  for (const auto& [name, at] : {std::pair("layer", &Selection::layer),
                                 {"head", &Selection::head},
                                 {"query", &Selection::query},
                                 {"key", &Selection::key}})
    if (s.selection.*at != by_default.*at) add(name, std::to_string(s.selection.*at));
  const View* const only = shown_view(recipe);
  for (const WrittenOption& option : written_options(s.options, only)) add(option.name, option.value);
  // A second prompt or model, one for each prompt of a list, or a list would choose another value than the
  // default.
  const bool has_second = s.second_model || (s.second && s.second->on);
  const bool lines_have = s.prompts && all_have_second(*s.prompts);
  const auto add_default = [&](const OptionSpec& option) {
    if (s.options.value(option) == option.default_value)
      add(std::string(only != nullptr ? option.flag_name() : option.name),
          to_text(option, option.default_value));
  };
  for (const View* view : only != nullptr ? std::vector{only} : views_in_window(s.view, s.second_view)) {
    const bool over_list = is_over_list(*view, s.options);
    if (s.side == Side::run && view->with_second && (has_second || (lines_have && over_list)))
      add_default(*view->with_second);
    if (s.prompts && view->over_list && !over_list && !sets_list_mean(*view, s.options))
      add_default(*view->over_list);
  }
  if (const std::string size = size_words(figure); !size.empty()) add("size", size);
  if (figure.rows > 0) add("rows", std::to_string(figure.rows));
  const TargetSpec target = spec_of(figure.target);
  const bool printed = figure.target != Target::screen;
  if (printed) add("for", std::string(name_of(kTargetNames, figure.target)));
  if (!printed || figure.scale != target.scale) add("scale", plain(figure.scale));
  if (s.look.dark) add("theme", "dark");
  if (s.look.font_size != target.font_size) add("font-size", plain(s.look.font_size));
  if (figure.window) return words;
  if (!figure.title) words.emplace_back("--no-title");
  if (!figure.caption) words.emplace_back("--no-caption");
  if (figure.svg_text) words.emplace_back("--svg-text");
  return words;
}

Figure figure_for(Target target) {
  Figure figure;
  figure.target = target;
  if (target == Target::screen) return figure;
  const TargetSpec spec = spec_of(target);
  figure.width = static_cast<int>(std::lround(spec.width));
  figure.height = static_cast<int>(std::lround(spec.height));
  figure.page = figure.height > 0 ? Page::exact : Page::width;
  figure.scale = spec.scale;
  return figure;
}

std::string size_words(const Figure& figure) {
  const Figure chosen = figure_for(figure.target);
  if (figure.target != Target::screen) {
    if (figure.width == chosen.width && figure.height == chosen.height && figure.page == chosen.page)
      return "";
    if (figure.page == Page::trimmed && figure.height == 0) return "fit";
  }
  if (figure.page == Page::width) return std::to_string(figure.width);
  return figure.height > 0 ? std::to_string(figure.width) + "x" + std::to_string(figure.height) : "";
}

std::string command_of(const Recipe& recipe) {
  const std::vector<std::string> words = arguments_of(recipe);
  const std::string& model = recipe.session.model.name;
  const auto option = [](const char* name, const std::string& of) {
    const bool named = of == kBundledModel || of.find('/') != std::string::npos;
    return name + std::string(named ? "" : "FOLDER_OF_") + shell_word(of);
  };
  const bool written =
      std::ranges::none_of(words, [](const std::string& word) { return word.find('\0') != word.npos; });
  std::string line = "headscope";
  if (written) {
    for (const std::string& word : words) line += " " + shell_word(word);
  } else {  // an argument cannot contain a zero byte
    line += " " + words.front() + " --recipe THIS_FILE";
  }
  if (recipe.session.prompts) line += " --over LIST_OF_PROMPTS";
  if (!recipe.session.model.attention.empty()) return line;
  if (const auto& second = recipe.session.second_model) line += option(" --second-model ", second->name);
  return model == kBundledModel ? line : line + option(" --model ", model);
}

}  // namespace headscope::app
