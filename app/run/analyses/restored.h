#pragma once
#include "app/run/analyses/sweep.h"

// How much of the difference between two prompts a patch restores.
namespace headscope::app {

/// A sweep's metrics in the baseline of its run, which is patched from: after the counterpart of the measured
/// position, for the same tokens. The divergence is NaN. Throws model::RunError if there is no counterpart.
SweepReading source_reading(const PromptRun& run, const Sweep& sweep, model::Workspace& workspace);

/// (patched - corrupted) / (clean - corrupted), where the run is the corrupted prompt and its baseline the
/// clean one (Zhang and Nanda 2024, "Towards best practices of activation patching"): 0 where the patch
/// changes nothing, 1 where it goes all the way. NaN if both prompts have the same metric.
double restored(const Sweep& sweep, const SweepReading& source, SweepMetric metric, double change);

}  // namespace headscope::app
