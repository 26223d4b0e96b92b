#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "app/run/token_ref.h"

// Lists of prompts that are analysed together.
namespace headscope::app {

/// A prompt of a list, and what its line says of how the prediction after it is measured, in the words of the
/// command line; what it leaves out is as for the whole list.
struct ListedPrompt : Prompt {
  std::optional<std::string> second = {};  ///< the prompt that it is patched from
  TokenRef token = {};
  TokenRef other_token = {};
  std::optional<int> position = {};  ///< -1: the last
  std::string problem = {};          ///< why these cannot be used, a sentence with the place; empty: they can
  bool operator==(const ListedPrompt&) const = default;
};

/// Throws model::LoadError if what a line says of how it is measured cannot be used.
void require_measurable(const ListedPrompt& prompt);

/// A list as one immutable value, small enough to be stored in sessions and exported figures.
struct PromptList {
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;  ///< limit of its file's size
  static constexpr std::size_t kMaxPrompts = 20'000;

  std::string name;                   ///< name of its file, for people: no path
  std::vector<ListedPrompt> prompts;  ///< text or ids each, without start token and edits
  std::string lines = {};             ///< the bytes of its file, as sessions and figures keep it
  bool operator==(const PromptList&) const = default;
};

/// Parses a line of a list: a JSON string, or an object with either "prompt" (a string) or "ids" (an array of
/// whole numbers), and perhaps "second", "token", "other_token" and "position". Other keys are ignored, and
/// so are these where they are null; what is wrong with them is kept as `problem`, since lists made for
/// something else use such names, too. Throws model::LoadError that begins with `where`.
ListedPrompt parse_prompt_line(std::string_view line, const std::string& where);

bool all_have_second(const PromptList& list);

/// A text file's bytes without UTF-8's byte order mark, which some editors write and which is no text.
std::string_view without_byte_order_mark(std::string_view bytes);
/// A line without UTF-8's byte order mark (on the first line) and the carriage return of a line end.
std::string_view bare_prompt_line(std::string_view line, bool first);

/// Whether a line of a list has a prompt: blank ones have none.
bool is_prompt_line(std::string_view line);

/// Whether each line of a list is a prompt without further syntax, by the file's extension: .txt.
bool has_plain_lines(const std::filesystem::path& file);

/// Whether a file may be a list of prompts, by its extension: .jsonl, .ndjson, .txt.
bool may_hold_prompts(const std::filesystem::path& file);

/// Reads one prompt per line: of a .txt file the line as it is, else as parse_prompt_line reads it. Throws
/// model::LoadError that names file and line, also for a file without prompts or with too many.
PromptList read_prompt_list(const std::filesystem::path& file);
PromptList parse_prompt_list(std::string_view bytes, const std::filesystem::path& file);
/// The number of each prompt's line, from 1.
std::vector<int> lines_with_prompts(std::string_view bytes);

inline std::string no_prompt_in(const std::string& name) {
  return "there is no prompt in " + name;
}

/// The list of prompts that a question is about, compared by its address; none: it is about a run.
struct OverPrompts {
  std::shared_ptr<const PromptList> list = {};
  bool start_token = false;  ///< added at the start of each
  bool operator==(const OverPrompts&) const = default;
};

}  // namespace headscope::app
