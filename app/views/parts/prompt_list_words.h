#pragma once
#include <cstddef>
#include <string>

#include "app/run/analyses/over_prompts.h"
#include "app/views/view.h"

// What views say about a list of prompts.
namespace headscope::app {

/// The context's list of prompts as questions take it; it must exist. With the start token where
/// the prompt has it.
OverPrompts over_list(const ViewContext& context);
/// The message of a picture of many prompts without a list.
Picture no_list(const ViewContext& context);
/// "120 prompts of “names.jsonl”", with the progress, and how many were left out.
std::string list_words(const ViewContext& context, const ListProgress& progress);
/// The same where only the first ones are looked at.
std::string list_words(const ViewContext& context, const ListProgress& progress, std::size_t of_first);
/// Whether one of them is the prompt that is shown.
bool is_shown_prompt(const ViewContext& context, std::size_t index);
/// The action that shows one of them, and a place in it.
ShowPrompt show_prompt(const ViewContext& context, std::size_t index, const Selection& selection);

}  // namespace headscope::app
