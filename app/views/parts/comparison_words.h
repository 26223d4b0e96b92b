#pragma once
#include <string>

#include "app/views/view.h"

// How a comparison of two runs is put into words.
namespace headscope::app {

/// The picture of a difference where nothing in the baseline stands for a position, or for the selected
/// query.
Picture no_counterpart(const ViewContext& context, int position);
Picture no_counterpart(const ViewContext& context);
/// "second prompt", "second model" or "second file": what the run is compared with, named by what differs
/// first.
std::string second_name(const PromptRun& run);
/// The same where prompt and model differ: "second prompt in the second model".
std::string second_words(const PromptRun& run);
/// "nothing in the second prompt stands for it".
std::string no_counterpart_words(const ViewContext& context);
/// "changed − original", "first − second prompt".
std::string difference_words(const ViewContext& context);
/// What the difference side shows: a "change" by edits, or between two prompts or models a
/// "difference".
const char* difference_name(const ViewContext& context);
/// Suffix of titles on the difference side: ": what changed", ": what differs". Else empty.
const char* difference_suffix(const ViewContext& context);
/// Prefix of names of numbers there: "change of ", "difference of ". Else empty.
const char* difference_prefix(const ViewContext& context);

}  // namespace headscope::app
