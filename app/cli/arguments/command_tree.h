#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::app {

/// The description of an option.
struct OptionDescription {
  std::string name;     ///< "--top"; for a positional argument its name
  std::string letter;   ///< "-h"; empty: none
  std::string values;   ///< "K", "light|dark"; empty: takes no value
  std::string help;     ///< may have several lines
  std::string heading;  ///< "Prompt"
  bool repeated = false;
  bool operator==(const OptionDescription&) const = default;
};

/// The program, one of its commands, or a choice after a command's name.
struct CommandTree {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> words;  ///< positional arguments: "NAME"
  std::vector<CommandTree> commands;
};

CommandTree tree_of(const CLI::App& app);

/// All commands with their options (command.cpp).
CommandTree whole_program();

/// The help text on one line.
std::string unwrapped(std::string text);

/// What a shell can complete for an option's value.
struct Offer {
  enum class Kind { nothing, words, files, folders };
  Kind kind = Kind::nothing;
  std::vector<std::string> words = {};  ///< Kind::words
};

/// "light|dark" are words, "FILE.json" is a file, "DIR" a folder; "N|auto" is the word auto.
Offer offer_of(std::string_view values);

// Completion scripts of a program (completions.cpp). They contain its commands, options and values, so that
// completing does not start the program.
std::string bash_completion(const CommandTree& program);
std::string zsh_completion(const CommandTree& program);
std::string fish_completion(const CommandTree& program);

/// The manual page for section 1, as man(7) source (manual.cpp). Options that a command shares with the
/// program, or a view with its command, are described only once. `date` as in 2026-11-22.
std::string manual_page(const CommandTree& program, const std::string& version, const std::string& date);

}  // namespace headscope::app
