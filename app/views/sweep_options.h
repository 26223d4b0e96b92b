#pragma once
#include "app/run/sweep.h"
#include "app/views/option.h"

namespace headscope::app {

/// With which the view of sweeps asks the question and shows the metric. The position is the selected query,
/// what is patched from comes with the run.
Options sweep_options(const SweepOf& question, SweepMetric metric);

}  // namespace headscope::app
