#pragma once
#include <cstddef>

#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/over_prompts.h"
#include "app/views/view.h"

// Wording for views about a list of prompts.
namespace headscope::app {

/// What a view is about that may be about the prompt or a list.
enum class TextOf { prompt, list };
extern const Option<TextOf> kTextOf;
bool uses_list(const ViewContext& context);
/// The context's list of prompts, for questions; it must exist. With the start token if the prompt has one.
OverPrompts over_list(const ViewContext& context);
/// The same if the view is about it; without a list if it is about the prompt.
OverPrompts chosen_text(const ViewContext& context);
/// The message of a picture about many prompts without a list, which the frame shows.
std::string no_list_words(const ViewContext& context);
/// "120 prompts of “names.jsonl”", progress, and how many were skipped. `of_first`: if only those are used.
std::string list_words(const ViewContext& context, const ListProgress& progress,
                       std::optional<std::size_t> of_first = {});
/// The source of means over the context's list, with the answer as far as it is known.
MeanSource mean_source(const ViewContext& context, const MeansOverList& means);
/// Whether the means over the context's list are known; else the content's message says how far they are.
bool has_list_means(Content& content, const MeansOverList& means);
/// "means over 1,500 tokens of 120 prompts of “names.jsonl”"; they must be known.
std::string mean_words(const ViewContext& context, const MeanSource& source);
/// "; largest 200; this prompt": how many of what was found are kept, and where they are from.
std::string found_words(const ViewContext& context, std::size_t kept, std::int64_t found,
                        const ListProgress& progress);
/// Whether a prompt of the list, counted from 1, is the shown one; without a list all is of that.
bool is_shown_prompt(const ViewContext& context, int prompt);
/// Shows a place of the prompt, or of one of the list.
ViewActions show_place(const ViewContext& context, int prompt, const Selection& place);
/// Says which prompt of the list a place is in, and adds a command for it; `words`: its label without a list.
void add_place_of_list(Facts& facts, const ViewContext& context, int prompt, std::string words,
                       ViewActions actions);

}  // namespace headscope::app
