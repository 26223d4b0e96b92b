#pragma once
#include "model/files/weights.h"
#include "model/gradient/metric.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Transformer::gradients. `identity` marks the runs of these weights.
double backward_pass(const Weights& weights, const std::shared_ptr<const void>& identity, const Run& run,
                     const Metric& metric, Workspace::Impl& workspace, const GradientOptions& options);

}  // namespace headscope::model
