#pragma once
#include <cstddef>
#include <utility>

#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

// The numbers of a sweep's picture, and its words. Cells are counted layer by layer.
namespace headscope::app {

/// The metric's difference in a cell, and its estimate, in the unit in which it is shown. NaN: there is no
/// estimate.
double shown_difference(const ViewContext& context, const Sweep& sweep, std::size_t cell);
double shown_estimate(const ViewContext& context, const Sweep& sweep, std::size_t cell);
/// The difference in each cell, or where it is not known its estimate.
std::vector<float> shown_values(const ViewContext& context, const Sweep& sweep);

/// "Each head zeroed", "mlp_out replaced by its mean, by layer and position", "Paths into L9 H6 q, each
/// sender zeroed".
std::string sweep_title(const PromptRun& run, const SweepOf& question);
std::string sweep_subtitle(const ViewContext& context, const SweepOf& question, const Sweep& sweep);
/// "Δ logit difference"
std::string sweep_scale_title(const ViewContext& context);

/// A place's edit: "L4 H3 off", "L4 H3 = mean over the list". There must be one.
std::string edit_words(const SweepOf& question, const SweepPlace& place);

/// "L4 H3", "L4 MLP", "L4 neuron 17", "L4 at 8 “·it”".
std::string place_name(const ViewContext& context, const SweepPlace& place);

/// The strongest difference, and how much is computed.
std::string sweep_state(const ViewContext& context, const SweepOf& question, const Sweep& sweep);
/// What the picture says of estimates, and the same for a narrow one; empty: nothing.
std::pair<std::string, std::string> words_on_estimates(const ViewContext& context, const SweepOf& question,
                                                       const Sweep& sweep);

bool is_complete(const Sweep& sweep);

/// Whether a sweep is a list of bars, because its places have no second axis.
bool is_listed(SweepOver over);
/// The cells in the order of the list's rows: MLPs layer by layer; neurons by their differences, the
/// strongest first, or as long as some are not known by their estimates.
std::vector<std::size_t> listed_cells(const SweepOf& question, const Sweep& sweep, SweepMetric metric);

}  // namespace headscope::app
