#pragma once
#include <string>

#include "app/views/view.h"

// How a comparison of two runs is put into words.
namespace headscope::app {

/// What a picture of changes says where nothing stands for a position, or for the selected query.
Picture no_counterpart(const ViewContext& context, int position);
Picture no_counterpart(const ViewContext& context);
/// "second prompt", "second model", "second file": what a run of two is compared with, by what tells them
/// apart first.
std::string second_name(const PromptRun& run);
/// The same where both are others: "second prompt in the second model".
std::string second_words(const PromptRun& run);
/// "nothing in the second prompt stands for it".
std::string no_counterpart_words(const ViewContext& context);
/// "changed − original", "first − second prompt".
std::string difference_words(const ViewContext& context);
/// What the side of changes shows: a "change", or of two prompts or models, of which none became the other, a
/// "difference".
const char* difference_name(const ViewContext& context);
/// That stands behind titles on the side of changes: ": what changed", ": what differs". Else nothing.
const char* difference_suffix(const ViewContext& context);
/// What stands before the name of a number there: "change of ", "difference of ". Else nothing.
const char* difference_prefix(const ViewContext& context);

}  // namespace headscope::app
