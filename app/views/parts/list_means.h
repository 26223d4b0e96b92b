#pragma once
#include <optional>
#include <string>

#include "app/run/analyses/means_on_list.h"
#include "app/views/parts/frame.h"
#include "app/views/table.h"
#include "app/views/view.h"

// What views of means over a list of prompts have in common.
namespace headscope::app {

/// Whether views show the mean over the open list instead of the shown prompt; one switch for all of them.
extern const Option<bool> kMeanOverList;

/// Whether a view can show them.
inline bool shows_means(const View& view) {
  return view.over_list == &kMeanOverList;
}

/// Makes a view one that can show means; it lists the switch among its options. Such a picture is about no
/// prompt in particular.
void add_means(View& view);

/// query_steps that are not possible while the mean over the list is shown: it has no query.
std::vector<KeyCommand> query_steps_of_prompt(std::string_view help_before, std::string_view help_after);

/// The picture without a run, or without a list.
std::optional<Picture> waiting_for_list(const ViewContext& context);

/// "mean of 20 prompts of “pairs.jsonl”, ± standard error", or how many are done.
std::string means_words(const ViewContext& context, const MeansOnList& means);

/// "computing… 12 of 40 prompts"; empty if all are done.
std::string progress_words(const ViewContext& context, const MeansOnList& means);

/// The picture as long as no prompt is measured; nothing after that.
template <class Q>
std::optional<Picture> waiting_for_first_prompt(const ViewContext& context, const Q& question) {
  const auto means = context.ask(question);
  if (!means) return waiting(context, question, false);
  if (!means->means.empty()) return std::nullopt;
  return message(context, progress_words(context, *means));
}

/// "+1.234 ± 0.05678" in digits for pictures; without a standard error if there is none, "none" if no prompt
/// has the number. `factor`: of the unit that people read.
std::string mean_text(const SampleMean& mean, double factor, bool with_sign);

/// Says mean, standard error and count, with all their digits.
void say_mean(Facts& facts, const std::string& label, const SampleMean& mean, double factor, bool with_sign);

/// "mean", "standard_error" and "count" of each cell, under the headings of what its place has: as the
/// commands with --mean write it, in the units of the numbers.
Table table_of(const CellMeans& means);

}  // namespace headscope::app
