#pragma once
#include <string>
#include <string_view>

#include "app/run/prompt_run.h"
#include "model/pass/edits.h"

namespace headscope::app {

/// Edits as people write them on the command line and read them in the window; several with ";"
/// between. The grammar is in edit_grammar(). Throws model::RunError: one sentence with the part that is
/// wrong.
model::Edits parse_edits(std::string_view text, const LoadedModel& model);

/// One page for --help.
std::string edit_grammar();

/// The text that parse_edits reads back as the same edit.
std::string edit_text(const model::Edit& edit);
std::string edit_text(const model::Edits& all);

/// The same, or where that would be long the words of edit_words.
std::string edit_brief(const model::Edit& edit);

/// In a few words: "L5 H1 off", "no mask", "query 8 may not see key 3".
std::string edit_words(const model::Edit& edit);

}  // namespace headscope::app
