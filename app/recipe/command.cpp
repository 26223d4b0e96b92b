// The command that makes a figure.
#include <algorithm>
#include <cmath>

#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/views/chosen_options.h"
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

/// A figure's size as --size takes it: "900x600", "900", "fit".
std::string size_words(const Figure& figure) {
  if (figure.page == Page::trimmed && figure.height == 0) return "fit";
  const std::string width = std::to_string(figure.width);
  return figure.height > 0 ? width + "x" + std::to_string(figure.height) : width;
}

}  // namespace

std::vector<const View*> shown_views(const Recipe& recipe) {
  const Session& s = recipe.session;
  if (recipe.figure && recipe.figure->window) return views_in_window(s.view, s.second_view);
  return {find_view(s.view)};
}

std::vector<std::string> arguments_of(const Recipe& recipe) {
  const Session& s = recipe.session;
  const Figure figure = recipe.figure.value_or(Figure{}), chosen = figure_for(figure.target);
  const bool window = figure.window;
  std::vector<std::string> words{window ? "shot" : s.view};
  const auto say = [&](const std::string& option, std::string_view value) {
    words.push_back("--" + option);
    if (value.starts_with('-'))  // would look like an option
      words.back() += "=" + std::string(value);
    else
      words.emplace_back(value);
  };
  /// Says what is not as without the option.
  const auto say_other = [&](const std::string& option, std::string_view value, std::string_view without) {
    if (value != without) say(option, value);
  };
  const auto say_if = [&](bool is_said, const char* flag) {
    if (is_said) words.emplace_back(flag);
  };
  if (window) say("view", s.view), say_other("beside", s.second_view, "");
  say_other("precision", name_of(s.model.precision), "f32");
  say_other("attention", s.model.attention, "");
  std::string ids;
  for (const int id : s.prompt.ids) ids += (ids.empty() ? "" : ",") + std::to_string(id);
  if (s.model.attention.empty()) say(ids.empty() ? "prompt" : "ids", ids.empty() ? s.prompt.text : ids);
  const bool start_token = s.prompt.start_token.value_or(s.model.adds_start_token);
  say_if(start_token, "--bos");
  say_if(!start_token && s.model.adds_start_token, "--no-bos");
  for (const WrittenEdit& edit : s.edits)
    if (edit.on) say("edit", edit.text);
  const bool second = s.second && s.second->on;
  if (second) {
    const bool is_file = !s.second->attention.empty();
    say(is_file ? "second-attention" : "second", is_file ? s.second->attention : s.second->text);
    say_other("align", name_of(kAlignmentNames, s.second->alignment), "position");
  }
  if (second || s.second_model || std::ranges::any_of(s.edits, &WrittenEdit::on))
    say_other("show", name_of(kSideNames, s.side), "run");
  say_other("layer", std::to_string(s.selection.layer), "0");
  say_other("head", std::to_string(s.selection.head), "0");
  say_other("query", std::to_string(s.selection.query), "-1");
  say_other("key", std::to_string(s.selection.key), "-1");
  const std::vector<const View*> shown = shown_views(recipe);
  std::vector<const OptionSpec*> options = chosen_options(shown, s.options);
  // A second prompt or a list would choose another value than the default.
  for (const View* one : shown)
    for (const OptionSpec* option :
         {second || s.second_model ? one->with_second : nullptr, s.prompts ? one->over_list : nullptr})
      if (option != nullptr && has_effect(*one, *option, s.options) &&
          std::ranges::count(options, option) == 0)
        options.push_back(option);
  for (const OptionSpec* option : options)
    say(std::string(window ? option->name : option->flag_name()), to_text(*option, s.options.value(*option)));
  say_other("size", size_words(figure), size_words(chosen));
  say_other("rows", std::to_string(figure.rows), "0");
  say_other("for", name_of(kTargetNames, figure.target), "screen");
  say_other("scale", plain(figure.scale), plain(window ? 1 : chosen.scale));
  say_other("theme", name_of(kThemeNames, s.look.dark), "light");
  say_other("font-size", plain(s.look.font_size), plain(spec_of(figure.target).font_size));
  say_if(!window && !figure.title, "--no-title");
  say_if(!window && !figure.caption, "--no-caption");
  say_if(!window && figure.svg_text, "--svg-text");
  return words;
}

Figure figure_for(Target target) {
  const TargetSpec spec = spec_of(target);
  Figure figure{.width = static_cast<int>(std::lround(spec.width)),
                .height = static_cast<int>(std::lround(spec.height)),
                .scale = spec.scale,
                .target = target};
  if (target != Target::screen) figure.page = figure.height > 0 ? Page::exact : Page::width;
  return figure;
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
