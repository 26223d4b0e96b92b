#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::app {

/// A word of a command line: an option with its value, if it takes one, or a positional word.
struct Word {
  std::string option;                  ///< "--layer"; empty: none
  std::string value;                   ///< the option's value; without an option the word itself
  std::vector<std::string> arguments;  ///< as passed to the parser, with the value separate
};

/// Splits the arguments after the program's name into words. The table of commands says which options take a
/// value; a value may look like an option. Throws UsageError if an option's value is missing.
std::vector<Word> words_of(const std::vector<std::string>& arguments);

/// Whether the words contain an option.
bool has_option(std::span<const Word> words, std::string_view option);

/// An option by its name without dashes. Its value: whether a flag is given, or yes or no for an option that
/// takes these; the text after the option; or several texts.
struct NamedOption {
  std::string name;
  std::variant<bool, std::string, std::vector<std::string>> value;
};

/// The arguments of a command line: the words, then the options. Several texts are given one by one to an
/// option that takes several values or may be repeated, to others joined by commas. Throws UsageError for an
/// option that cannot have such a value.
std::vector<std::string> with_options(const std::vector<std::string>& words,
                                      std::span<const NamedOption> options);

}  // namespace headscope::app
