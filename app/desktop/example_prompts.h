#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// An example prompt and what to look for in it.
struct ExamplePrompt {
  struct Head {
    int layer = 0;
    int head = 0;
    bool operator==(const Head&) const = default;
  };
  std::string title;
  std::string look_for;      ///< lines joined by spaces
  std::optional<Head> head;  ///< the head to show first
  std::string text;          ///< exact, without the final newline
  bool operator==(const ExamplePrompt&) const = default;
};

/// Parses the text of assets/prompts.txt:
///
///     % a comment
///     # title
///     > what to look for (one line or more)
///     @ L5 H1
///     the prompt's text, one line or more
///
/// The `@` line is optional. The text ends with a blank line before the next `#`, or with the file; blank
/// lines within it belong to it, those after it do not. Throws model::LoadError that names `file`
/// and the line.
std::vector<ExamplePrompt> parse_example_prompts(std::string_view text, const std::string& file);

/// Reads and parses a file. Throws model::LoadError.
std::vector<ExamplePrompt> load_example_prompts(const std::filesystem::path& file);

/// The examples installed with the program; empty if they cannot be read, since the program works without
/// them.
std::vector<ExamplePrompt> bundled_examples();

}  // namespace headscope::app
