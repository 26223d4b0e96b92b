#pragma once
#include <optional>
#include <string>

#include "app/run/analyses/means_on_list.h"
#include "app/views/table.h"
#include "app/views/view.h"

// What views of means over a list of prompts have in common.
namespace headscope::app {

/// Whether views show the mean over the open list instead of the shown prompt; one switch for all of them.
extern const Option<bool> kMeanOverList;

/// Whether a view has this switch.
inline bool can_show_means(const View& view) {
  return view.over_list == &kMeanOverList;
}

/// What a view does while it shows means: members as in View. Null: nothing.
struct MeansForm {
  Picture (*build)(const ViewContext&);
  Facts (*facts)(const ViewContext&, const Picture&, const viz::Hit&);
  Table (*table)(const ViewContext&);
  ViewActions (*on)(const ViewContext&, const Picture&, const viz::Hit*, const Gesture&);
  std::vector<Scroll> (*scrolls)(const ViewContext&, const Picture&);
  std::string (*refuse)(const ViewContext&) = nullptr;
  viz::Point (*figure_size)(const ViewContext&);
};

/// Whether the means are shown now.
inline bool mean_is_shown(const ViewContext& c) {
  return c.options[kMeanOverList];
}

/// A view of one prompt with a switch to its means, which are about no prompt in particular: while it is on,
/// the functions of `means` stand in for those of `prompt`. The latter has the options of both.
View with_means(View prompt, const MeansForm& means);

/// The picture without a run, or without a list.
std::optional<Picture> waiting_for_list(const ViewContext& context);

/// "mean of 20 prompts of “pairs.jsonl”, ± standard error", or how many are done.
std::string means_words(const ViewContext& context, const MeansOnList& means);

/// "computing… 12 of 40 prompts"; empty if all are done.
std::string progress_words(const ViewContext& context, const MeansOnList& means);

/// The picture as long as no prompt is measured; nothing after that. `means`: the answer so far; null: none.
std::optional<Picture> waiting_for_first_prompt(const ViewContext& context, const Question& question,
                                                const MeansOnList* means);

/// "+1.234 ± 0.05678" in digits for pictures; without a standard error if there is none, "none" if no prompt
/// has the number.
std::string mean_text(const SampleMean& mean, bool with_sign);

/// Says mean, standard error and count, with all their digits.
void say_mean(Facts& facts, const std::string& label, const SampleMean& mean, bool with_sign);

/// "mean", "standard_error" and "count" of each cell, under the headings of what its place has: as the
/// commands with --mean write it.
Table table_of(const CellMeans& means);

}  // namespace headscope::app
