#pragma once
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/sweep.h"
#include "app/run/cell_means.h"

// The numbers of a prompt's answers as cells of means over prompts.
namespace headscope::app {

/// What is measured at each place of a sweep, [layers, columns], then the metric "in the run", and for shares
/// "in the second one": the differences that the edits make, or their first-order estimates if `estimated`,
/// and with `source`, the metrics of what is patched from, as shares of the way to it.
MeasuredCells cells_of(const SweepOf& question, const Sweep& sweep, SweepMetric metric,
                       bool estimated = false, const SweepReading* source = nullptr);

/// After a position that the lens knows, for each place in the residual stream: the token's probability and
/// rank, from 1, and KL(end || here).
MeasuredCells cells_of(const LogitLens& lens, int position);
/// Numbers of a place in these cells.
inline constexpr std::size_t kLensNumbers = 3;

/// Each part of the model, then the logit or the difference as the model computed it: the embeddings; the
/// heads, attention's bias and the MLP of each layer; ln_f's bias; edits.
MeasuredCells cells_of(const Attribution& parts);

}  // namespace headscope::app
