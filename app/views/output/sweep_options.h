#pragma once
#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

namespace headscope::app {

/// With which the view of sweeps asks the question and shows the metric. The position is the selected query,
/// what is patched from comes with the run.
Options sweep_options(const SweepOf& question, SweepMetric metric);

/// The view itself.
const View& view_of_sweeps();

}  // namespace headscope::app
