#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace headscope::app {

/// What the parser knows of an option, as values.
struct OptionDescription {
  std::string name;     ///< "--top"; of a word, what it is called
  std::string letter;   ///< "-h"; empty: none
  std::string values;   ///< "K", "light|dark"; empty: it takes none
  std::string help;     ///< may have several lines
  std::string heading;  ///< "Prompt"
  bool repeated = false;
  bool operator==(const OptionDescription&) const = default;
};

/// A program, one of its commands, or what may be named after a command.
struct CommandTree {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> words;  ///< that are given without an option's name: "NAME"
  std::vector<CommandTree> commands;
};

CommandTree tree_of(const CLI::App& app);

/// Every command with its options (command.cpp).
CommandTree whole_program();

/// A help text on one line.
std::string unwrapped(std::string text);

/// What a shell can offer for an option's values.
struct Offer {
  enum class Kind { nothing, words, files, folders };
  Kind kind = Kind::nothing;
  std::vector<std::string> words = {};  ///< Kind::words
};

/// "light|dark" are words, "FILE.json" is a file, "DIR" a folder; "N|auto" is the word auto.
Offer offer_of(std::string_view values);

// Scripts that complete the command line of a program (completions.cpp). They know its commands, its options
// and their values, and start nothing when a key is pressed.
std::string bash_completion(const CommandTree& program);
std::string zsh_completion(const CommandTree& program);
std::string fish_completion(const CommandTree& program);

/// The manual page of section 1, as man(7) reads it (manual.cpp). What a command takes that the program or,
/// of a view, its command takes too, is described there alone. `date` as in 2026-11-22.
std::string manual_page(const CommandTree& program, const std::string& version, const std::string& date);

}  // namespace headscope::app
