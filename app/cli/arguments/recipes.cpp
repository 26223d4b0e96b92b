#include <algorithm>
#include <array>
#include <set>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"

namespace headscope::app {
namespace {

/// Options that stand for one another: one of them given takes the place of the others.
std::string group_of(const std::string& option) {
  for (const char* prompt : {"--ids", "--prompt-file", "--prompts"})
    if (option == prompt) return "--prompt";
  return option == "--edits" ? "--edit" : option;
}

std::set<std::string> groups_of(std::span<const Word> words) {
  std::set<std::string> groups;
  for (const Word& word : words)
    if (!word.option.empty()) groups.insert(group_of(word.option));
  if (groups.contains("--attention")) groups.insert({"--prompt", "--model", "--second-model"});
  if (groups.contains("--model")) groups.insert({"--attention", "--second-attention"});
  return groups;
}

/// Whether a view has what an option sets, if a view's option it is.
bool fits(const View& view, const std::string& option) {
  const OptionSpec* spec = option.starts_with("--") ? find_option(option.substr(2)) : nullptr;
  return spec == nullptr || std::ranges::find(view.options, spec) != view.options.end();
}

}  // namespace

std::optional<Command> recipe_command(const std::vector<std::string>& arguments) {
  if (std::ranges::none_of(arguments, [](const std::string& text) { return text.starts_with("--recipe"); }))
    return std::nullopt;
  std::vector<Word> words;
  try {
    words = words_of(arguments);
  } catch (const WrongUse&) {
    return std::nullopt;  // the parser says it
  }
  RecipeCommand command;
  std::string name;
  int recipes = 0;
  for (const Word& word : words) {
    if (word.option == "--help" || word.option == "-h") return std::nullopt;
    if (word.option == "--recipe") {
      if (word.value.empty()) return std::nullopt;
      command.file = word.value;
      ++recipes;
    } else if (name.empty() && word.option.empty()) {
      name = word.value;
    } else {
      command.words.push_back(word);
    }
  }
  if (recipes != 1 || (name != "plot" && name != "shot")) return std::nullopt;
  command.window = name == "shot";
  return command;
}

std::vector<std::string> with_given(const Recipe& recipe, std::span<const Word> others) {
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
    all.insert(all.end(), word.arguments.begin(), word.arguments.end());
  }
  for (const Word& word : others)
    if (named == others.end() || &word != &*named)
      all.insert(all.end(), word.arguments.begin(), word.arguments.end());
  return all;
}

}  // namespace headscope::app
