#pragma once
#include "app/views/view.h"

namespace headscope::app {

/// Whether, with these options, the view is of tokens that each line of the list names, whatever its option
/// for that token says. `prompts`: the open list; null: none.
bool is_named_by_lines(const View& view, const OptionSpec& option, const Options& options,
                       const PromptList* prompts);

}  // namespace headscope::app
