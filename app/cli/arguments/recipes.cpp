#include <algorithm>
#include <array>
#include <set>

#include "app/cli/arguments/commands.h"

namespace headscope::app {
namespace {

/// A word of a command line: an option with its value, if one follows, or a word of its own.
struct Word {
  std::string option;            // with its dashes; empty: none
  std::vector<std::string> all;  // as it was given
  std::string value;
};

/// What `plot` and `shot` take that needs no value.
constexpr std::array<std::string_view, 6> kFlags{"--bos", "--svg-text", "--no-caption", "--no-recipe", "--help", "-h"};

/// The word behind an option is its value, unless it looks like an option itself.
std::vector<Word> words_of(const std::vector<std::string>& arguments) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    if (!text.starts_with('-') || text.size() < 2) {
      words.push_back({"", {text}, text});
      continue;
    }
    const std::size_t sign = text.find('=');
    Word& word = words.emplace_back(Word{text.substr(0, sign), {text}, ""});
    const bool flag = std::ranges::find(kFlags, word.option) != kFlags.end();
    if (sign != std::string::npos) {
      word.value = text.substr(sign + 1);
    } else if (!flag && i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      word.value = arguments[++i];
      word.all.push_back(word.value);
    }
  }
  return words;
}

/// Options that stand for one another: one of them given takes the place of the others.
std::string group_of(const std::string& option) {
  for (const char* prompt : {"--ids", "--prompt-file", "--prompts"})
    if (option == prompt) return "--prompt";
  return option == "--edits" ? "--edit" : option;
}

std::set<std::string> groups_of(const std::vector<Word>& words) {
  std::set<std::string> groups;
  for (const Word& word : words)
    if (!word.option.empty()) groups.insert(group_of(word.option));
  return groups;
}

/// Whether a view has what an option sets, if a view's option it is.
bool fits(const View& view, const std::string& option) {
  const OptionSpec* spec = option.starts_with("--") ? find_option(option.substr(2)) : nullptr;
  return spec == nullptr || std::ranges::find(view.options, spec) != view.options.end();
}

}  // namespace

bool gives(const std::vector<std::string>& arguments, std::string_view option) {
  return std::ranges::any_of(words_of(arguments), [&](const Word& word) { return word.option == option; });
}

std::optional<Command> recipe_command(const std::vector<std::string>& arguments) {
  RecipeCommand command;
  std::string name;
  int recipes = 0;
  for (const Word& word : words_of(arguments)) {
    if (word.option == "--help" || word.option == "-h") return std::nullopt;
    if (word.option == "--recipe") {
      if (word.value.empty()) return std::nullopt;  // the parser says that it needs one
      command.file = word.value;
      ++recipes;
    } else if (name.empty() && word.option.empty()) {
      name = word.value;
    } else {
      command.arguments.insert(command.arguments.end(), word.all.begin(), word.all.end());
    }
  }
  if (recipes != 1 || (name != "plot" && name != "shot")) return std::nullopt;
  command.window = name == "shot";
  return command;
}

std::vector<std::string> with_given(const Recipe& recipe, const std::vector<std::string>& given) {
  const std::vector<Word> others = words_of(given);
  const std::set<std::string> groups = groups_of(others);
  const auto named = std::ranges::find_if(
      others, [](const Word& word) { return word.option.empty() && find_view(word.value) != nullptr; });
  Recipe wanted = recipe;
  if (named != others.end()) {
    wanted.session.view = named->value;
    if (wanted.figure && wanted.figure->window) wanted.figure = Figure{};
  }
  const bool window = wanted.figure && wanted.figure->window;
  const View& view = *find_view(wanted.session.view);
  std::vector<std::string> all;
  for (const Word& word : words_of(arguments_of(wanted))) {
    if (groups.contains(group_of(word.option)) || (!window && !fits(view, word.option))) continue;
    all.insert(all.end(), word.all.begin(), word.all.end());
  }
  for (const Word& word : others)
    if (named == others.end() || &word != &*named) all.insert(all.end(), word.all.begin(), word.all.end());
  return all;
}

}  // namespace headscope::app
