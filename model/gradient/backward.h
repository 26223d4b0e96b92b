#pragma once
#include "model/files/weights.h"
#include "model/gradient/metric.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Transformer::gradients. `identity` marks the runs of these weights.
///
/// Layer by layer from the last: the stream after attention is recomputed from q, k and v, since a run does
/// not keep it, then the MLP's input and hidden units, in float32 as in the pass and with its edits; each
/// head's pattern is recomputed in blocks of 64 queries, of which a thread holds three. That is about half of
/// a pass. The derivatives take one more: as many products, each with the weights transposed.
double backward_pass(const Weights& weights, const std::shared_ptr<const void>& identity, const Run& run,
                     const Metric& metric, Workspace::Impl& workspace, const GradientOptions& options);

}  // namespace headscope::model
