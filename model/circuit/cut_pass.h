#pragma once
#include <memory>
#include <span>
#include <stop_token>

#include "model/circuit/stream_graph.h"
#include "model/files/weights.h"
#include "model/gradient/metric.h"
#include "model/kernels/workspace.h"

namespace headscope::model {

/// Transformer::cut_pass.
double cut_pass(const Weights& weights, std::span<const int> tokens, std::span<const float> embedding,
                const StreamWrites& cut, const KeptEdges& kept, const Metric& metric,
                Workspace::Impl& workspace, const std::stop_token& stop);

}  // namespace headscope::model
