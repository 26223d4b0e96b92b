#pragma once
#include <string>
#include <vector>

#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

// The question of a sweep, by the view's options.
namespace headscope::app {

extern const Option<SweepMetric> kSweptMetric;
extern const Option<SweepEdit> kSweptEdit;
extern const Option<int> kSweptSite;     ///< 0: the default one, else a row of kSweepSites, from 1
extern const Option<int> kSweptNeurons;  ///< their number
/// How many tokens the metric names.
int swept_tokens(const Options& options);

/// Its tokens are TokenChoice::By::none until they are known.
SweepOf sweep_question(const ViewContext& context);

/// The means of a list that it sets, which have to be known first.
MeansOverList means_of(const ViewContext& context, const SweepOf& question);

/// Whether there is something to patch from or a list's means, and all else that it needs.
bool has_source(const SweepOf& question);
bool can_be_asked(const SweepOf& question);

/// Whether the run has a place's edit, alone or joined with others; cells are measured on top of the run's
/// edits.
bool is_applied(const ViewContext& context, const SweepOf& question, const SweepPlace& place);
/// The places of a grid for which it is true, some perhaps twice. They are found by the run's edits, of which
/// there are few, since a grid can have more than 100,000 cells.
std::vector<SweepPlace> applied_places(const ViewContext& context, const SweepOf& question);

/// Why there is no sweep with these options: one sentence, and in `option` the one that mends it; empty if
/// there is one.
struct SweepRefusal {
  std::string why;
  const OptionSpec* option = nullptr;  ///< null: none
};
SweepRefusal refuse_sweep(const ViewContext& context, const SweepOf& question);
/// The sentence for View::refuse: this, or that the options name no token or cannot limit the rows.
std::string refuse_sweep_options(const ViewContext& context, SweepRefusal refusal);

}  // namespace headscope::app
