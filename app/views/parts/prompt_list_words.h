#pragma once
#include <cstddef>

#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/over_prompts.h"
#include "app/views/view.h"

// Wording for views about a list of prompts.
namespace headscope::app {

/// The context's list of prompts, for questions; it must exist. With the start token if the prompt has one.
OverPrompts over_list(const ViewContext& context);
/// The message of a picture about many prompts without a list.
std::string no_list_words(const ViewContext& context);
/// "120 prompts of “names.jsonl”", with the progress, and how many were skipped. `of_first`: if only the
/// first ones are used.
std::string list_words(const ViewContext& context, const ListProgress& progress,
                       std::optional<std::size_t> of_first = {});
/// The source of means over the context's list, with the answer as far as it is known.
MeanSource mean_source(const ViewContext& context, const MeansOverList& means);
/// Whether the means over the context's list are known; else the content's message says how far they are.
bool has_list_means(Content& content, const MeansOverList& means);
/// "means over 1,500 tokens of 120 prompts of “names.jsonl”"; they must be known.
std::string mean_words(const ViewContext& context, const MeanSource& source);
/// Whether a prompt of the list is the shown prompt.
bool is_shown_prompt(const ViewContext& context, std::size_t index);
/// The action that shows a prompt of the list, and a place in it.
ShowPrompt show_prompt(const ViewContext& context, std::size_t index, const Selection& selection);

}  // namespace headscope::app
