#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A word of a command line: an option with its value, if it takes one, or a word of its own.
struct Word {
  std::string option;                  ///< "--layer"; empty: none
  std::string value;                   ///< the option's; without an option the word itself
  std::vector<std::string> arguments;  ///< as the parser takes them, the value by itself
};

/// The words of what follows the program's name: the table of commands says which options take a value. What
/// is an option's value is left alone whatever it looks like. Throws UsageError for an option whose value is
/// missing.
std::vector<Word> words_of(const std::vector<std::string>& arguments);

/// Whether an option is among them.
bool has_option(std::span<const Word> words, std::string_view option);

}  // namespace headscope::app
