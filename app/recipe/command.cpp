// The command that makes a figure.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/text/json_text.h"
#include "app/views/chosen_options.h"
#include "app/views/figure_size.h"
#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

/// Quotes a word for bash and zsh, with $'...' if it has bytes that a terminal does not show.
std::string shell_word(std::string_view word) {
  static constexpr std::string_view kHex = "0123456789abcdef", kPlain = "-_./,:=+@%";
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  };
  if (!word.empty() && word.front() != '=' && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string quoted;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f)
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    else if (c == '\'' || c == '\\')
      quoted += {'\\', c};
    else
      quoted += c;
  }
  return (quoted.size() > word.size() ? "$'" : "'") + quoted + "'";
}

}  // namespace

std::vector<const View*> shown_views(const Recipe& recipe) {
  const Session& s = recipe.session;
  if (recipe.figure && recipe.figure->window) return views_in_window(s.view, s.second_view);
  return {find_view(s.view)};
}

std::vector<std::string> arguments_of(const Recipe& recipe) {
  const bool window = recipe.figure && recipe.figure->window;
  const Options& options = recipe.session.options;
  Recipe said = recipe;
  Session& s = said.session;
  // What is off or has no effect is not said.
  std::erase_if(s.edits, [](const WrittenEdit& edit) { return !edit.on; });
  if (s.second && !s.second->on) s.second.reset();
  const bool has_second = s.second || s.second_model;
  if (!has_second && s.edits.empty()) s.side = Side::run;
  if (!s.prompt.ids.empty()) s.prompt.text.clear();
  const std::vector<const View*> shown = shown_views(recipe);
  s.options = {};
  for (const OptionSpec* option : chosen_options(shown, options))
    s.options.set(*option, options.value(*option));
  // A second prompt or a list would choose another value than the default, which is said, too.
  Options defaults;
  for (const View* one : shown)
    for (const OptionSpec* option :
         {has_second ? one->with_second.option : nullptr, s.prompts ? one->over_list.option : nullptr})
      if (option != nullptr && has_effect(*one, *option, options))
        defaults.set(*option, stepped(*option, s.options.value(*option), 1));

  std::vector<std::string> words{window ? "shot" : s.view};
  const auto say = [&](const std::string& option, std::string_view value) {
    words.push_back("--" + option);
    if (value.starts_with('-'))  // would look like an option
      words.back().append("=").append(value);
    else
      words.emplace_back(value);
  };
  if (window) say("view", s.view);
  nlohmann::ordered_json all = options_of(said, defaults);
  if (s.prompt.ids.empty() && s.model.attention.empty()) all.emplace("prompt", "");
  for (const auto& [option, value] : all.items()) {
    if (value.is_boolean())
      words.push_back("--" + option);
    else if (option == "ids")
      say(option, value.dump().substr(1, value.dump().size() - 2));
    else
      for (const nlohmann::json one : option == "edit" ? value : nlohmann::ordered_json::array({value}))
        say(option,
            one.is_number_float() ? plain(one.get<float>()) : bytes_from_json(one).value_or(one.dump()));
  }
  return words;
}

Figure figure_for(Target target, bool window) {
  if (window) return {.window = true, .width = 1600, .height = 1000, .page = Page::exact, .scale = 1};
  const TargetSpec spec = spec_of(target);
  Figure figure{.width = static_cast<int>(std::lround(spec.width)),
                .height = static_cast<int>(std::lround(spec.height)),
                .scale = spec.scale,
                .target = target};
  if (target != Target::screen) figure.page = figure.height > 0 ? Page::exact : Page::width;
  return figure;
}

std::string size_text(const Figure& figure) {
  if (figure.page == Page::trimmed) return "fit";
  const std::string width = std::to_string(figure.width), height = std::to_string(figure.height);
  return figure.page == Page::width ? width : width + "x" + height + (figure.page == Page::exact ? "" : "+");
}

bool set_size(Figure& figure, std::string_view text) {
  const bool may_grow = text.ends_with('+');
  const auto size = text == "fit" ? FigureSize{Figure().width, 0}
                                  : parse_figure_size(text.substr(0, text.size() - (may_grow ? 1 : 0)));
  if (!size || (may_grow && size->height == 0)) return false;
  figure.width = size->width, figure.height = size->height;
  figure.page = text == "fit"      ? Page::trimmed
                : may_grow         ? Page::at_least
                : size->height > 0 ? Page::exact
                                   : Page::width;
  return true;
}

std::string command_of(const Recipe& recipe) {
  const Session& s = recipe.session;
  std::string line = "headscope";
  const std::vector<std::string> words = arguments_of(recipe);
  const auto has_zero = [](const std::string& word) { return word.find('\0') != word.npos; };
  if (std::ranges::any_of(words, has_zero))  // which no argument can have
    line += " " + words.front() + " --recipe THIS_FILE";
  else
    for (const std::string& word : words) line += " " + shell_word(word);
  if (s.prompts) line += " --over LIST_OF_PROMPTS";
  const auto say_model = [&](const char* option, const std::string& name) {
    const bool is_found = name == kBundledModel || name.find('/') != name.npos;
    line += option + std::string(is_found ? "" : "FOLDER_OF_") + shell_word(name);
  };
  if (s.second_model) say_model(" --second-model ", s.second_model->name);
  if (s.model.attention.empty() && s.model.name != kBundledModel) say_model(" --model ", s.model.name);
  return line;
}

}  // namespace headscope::app
