#pragma once
#include <cstddef>
#include <string>

#include "app/run/analyses/over_prompts.h"
#include "app/views/view.h"

// Wording for views about a list of prompts.
namespace headscope::app {

/// The context's list of prompts, for questions; it must exist. With the start token if the prompt has one.
OverPrompts over_list(const ViewContext& context);
/// The message of a picture about many prompts without a list.
Picture no_list(const ViewContext& context);
/// "120 prompts of “names.jsonl”", with the progress, and how many were skipped.
std::string list_words(const ViewContext& context, const ListProgress& progress);
/// The same if only the first ones are used.
std::string list_words(const ViewContext& context, const ListProgress& progress, std::size_t of_first);
/// Whether a prompt of the list is the shown prompt.
bool is_shown_prompt(const ViewContext& context, std::size_t index);
/// The action that shows a prompt of the list, and a place in it.
ShowPrompt show_prompt(const ViewContext& context, std::size_t index, const Selection& selection);

}  // namespace headscope::app
