#pragma once
#include <stop_token>
#include <vector>

#include "app/run/analyses/sweep.h"

namespace headscope::app {

/// First-order estimates of all cells of a sweep at once (attribution patching: Nanda 2023): for each cell
/// the sum, over the values that its edit replaces, of the metric's derivative with respect to the value
/// times the amount by which the edit changes it. One pass for the values and one for the derivatives of each
/// metric, instead of a pass for each cell. NaN for cells without an edit. `sweep` has its position and its
/// tokens; of neurons, no cells yet: there are estimates of all neurons, [n_layer, n_inner]. Throws RunError
/// or Stopped.
///
/// There are none of the KL divergence: it is smallest, 0, at the run itself, so that all of its derivatives
/// are 0 there.
std::vector<SweepEstimate> estimate_cells(const SweepOf& question, const Sweep& sweep, const PromptRun& run,
                                          model::Workspace& workspace, const std::stop_token& stop);

}  // namespace headscope::app
