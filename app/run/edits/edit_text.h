#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/edits.h"

namespace headscope::app {

constexpr std::size_t kMaxEdits = 10'000;  ///< of a run

/// Throws model::RunError for more than kMaxEdits.
void require_few(std::size_t edits);

/// Parses edits as written on the command line and in the window, several separated by ";". For the grammar
/// see edit_grammar(). Throws model::RunError: one sentence with the part that is wrong.
model::Edits parse_edits(std::string_view text, const LoadedModel& model);

/// Parses edits with one on each line; blank lines are skipped. Throws model::LoadError: one sentence that
/// begins with `file` and the line's number.
model::Edits parse_edit_lines(std::string_view lines, const std::string& file, const LoadedModel& model);

/// The grammar, one page for --help.
std::string edit_grammar();

/// The text that parse_edits reads as the same edit.
std::string edit_text(const model::Edit& edit);
std::string edit_text(const model::Edits& all);

/// About how many positions, units and values an edit names.
std::size_t numbers_of(const model::Edit& edit);

/// edit_text, or edit_words if that is too long.
std::string edit_brief(const model::Edit& edit);

/// What the words of edits name.
struct EditNames {
  std::string means_over = "positions";
  /// A prompt in quotes, by the ids of its tokens; empty: prompts, and edits of their runs, are not named.
  std::function<std::string(const std::vector<int>& ids)> prompt = {};
};

/// In a few words: "L5 H1 off", "no mask", "key 3 masked for query 8"; for captions "L9 H6 q patched from
/// “The king”".
std::string edit_words(const model::Edit& edit, const EditNames& names = {});

}  // namespace headscope::app
