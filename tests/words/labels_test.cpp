// Every technical word in a label has an entry in the glossary.
#include <fstream>
#include <set>

#include "app/cli/arguments/command_tree.h"
#include "app/desktop/bundled_guide.h"
#include "app/run/analyses/head_metric.h"
#include "app/window/commands.h"
#include "tests/app/view_fixture.h"
#include "tests/support/source_folders.h"

namespace headscope::app {
namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Words that need no definition: `ordinary.txt`, one a line.
const std::set<std::string>& ordinary_words() {
  static const std::set<std::string> words = [] {
    std::set<std::string> read;
    std::ifstream file(source_dir() / "tests/words/ordinary.txt");
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line.front() != '#') read.insert(line);
    return read;
  }();
  return words;
}

/// "12", or the name of a layer or head: "L5".
bool is_number(std::string_view word) {
  if (word.size() > 1 && (word.front() == 'L' || word.front() == 'H')) word.remove_prefix(1);
  return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// The words of a label that are neither ordinary nor part of a term.
std::vector<std::string> unknown_words(const Glossary& glossary, std::string_view label) {
  const auto matches = glossary.matches(label);
  std::vector<std::string> unknown;
  for (const std::string_view word : words_in(label)) {
    const auto at = static_cast<std::size_t>(word.data() - label.data());
    const bool defined = std::ranges::any_of(
        matches, [&](const Glossary::Match& match) { return match.start <= at && at < match.end; });
    if (!defined && !is_number(word) && !ordinary_words().contains(lower(word)))
      unknown.push_back(lower(word));
  }
  return unknown;
}

/// Labels with the place where they are.
using Labels = std::vector<std::pair<std::string, std::string>>;

Labels labels_of(const View& view) {
  const std::string where(view.name());
  Labels labels{{where, std::string(view.title)}, {where, std::string(spec_of(view.group).title)}};
  for (const KeyCommand& command : view.commands) labels.emplace_back(where, command.label);
  for (const OptionSpec* option : view.options) {
    labels.emplace_back(where + " --" + std::string(option->name), option->label);
    for (const Choice& choice : option->choices)
      labels.emplace_back(where + " --" + std::string(option->name), choice.label);
  }
  return labels;
}

/// Whether a heading is a token with its position, "3 ·had".
bool names_token(const Scenario& scenario, const std::string& heading) {
  const std::vector<std::string>& tokens = scenario.run->tokens.labels;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (heading == std::to_string(i) + " " + tokens[i]) return true;
  return false;
}

/// The defaults, and each choice of each option, except those that need a list of prompts.
std::vector<Options> options_to_try(const View& view) {
  std::vector<Options> all(1);
  for (const OptionSpec* option : view.options) {
    for (int i = 0; i < std::ssize(option->choices); ++i) {
      Options options;
      options.set(*option, i);
      if (!needs_list(view, options)) all.push_back(options);
    }
  }
  return all;
}

Labels all_labels() {
  Labels labels;
  const auto add = [&](Labels more) { labels.insert(labels.end(), more.begin(), more.end()); };
  const Scenario scenario("The old king had a daughter, and the old king");
  for (const View& view : views()) {
    add(labels_of(view));
    for (const Options& options : options_to_try(view)) {
      ViewContext context = scenario.context(900, 700);
      context.options = options;
      for (const std::string& heading : view.table(context).header)
        if (!names_token(scenario, heading))
          labels.emplace_back(std::string(view.name()) + " column", heading);
    }
  }
  for (const HeadMetricKind& kind : head_metrics())
    for (const std::string_view label : {kind.label, kind.title, kind.unit})
      labels.emplace_back("metric " + std::string(kind.name), label);
  for (const Command& command : commands()) labels.emplace_back("window", command.label);
  for (const CommandTree& command : whole_program().commands) labels.emplace_back("command", command.name);
  return labels;
}

TEST(Labels, EveryTechnicalWordIsInTheGlossary) {
  const Guide guide = load_guide(source_dir() / "assets/guide");
  std::set<std::string> missing;
  for (const auto& [where, label] : all_labels())
    for (const std::string& word : unknown_words(guide.glossary, label))
      missing.insert(word + " (" + where + ": “" + label + "”)");
  std::string list;
  for (const std::string& one : missing) list += one + "\n";
  EXPECT_TRUE(missing.empty())
      << "Define these words in assets/guide/glossary.md, or if everyone knows them add them to "
         "tests/words/ordinary.txt:\n"
      << list;
}

TEST(Labels, AViewWithAnUnknownWordIsFound) {
  const Guide guide = load_guide(source_dir() / "assets/guide");
  View view;
  view.id = view.title = "Eigenspectrum of all heads";
  std::vector<std::string> unknown;
  for (const auto& [where, label] : labels_of(view))
    for (const std::string& word : unknown_words(guide.glossary, label)) unknown.push_back(word);
  EXPECT_THAT(unknown, ElementsAre("eigenspectrum"));
}

TEST(Labels, OrdinaryWordsAreNotDefined) {
  const Guide guide = load_guide(source_dir() / "assets/guide");
  for (const std::string& word : ordinary_words())
    EXPECT_TRUE(guide.glossary.find(word) == nullptr) << word << " is in both lists";
}

}  // namespace
}  // namespace headscope::app
