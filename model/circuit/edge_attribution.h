#pragma once
#include <memory>
#include <stop_token>

#include "model/circuit/stream_graph.h"
#include "model/files/weights.h"
#include "model/gradient/metric.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"

namespace headscope::model {

/// Transformer::attribute_edges. `identity` marks the runs of these weights.
///
/// A reader's derivative is that of its query, key or value times the transpose of c_attn.weight, through a
/// layer norm of its own. The products with the writers' changes are made for 64 positions and one layer's
/// readers at a time.
double attribute_edges(const Weights& weights, const std::shared_ptr<const void>& identity, const Run& run,
                       const Metric& metric, const StreamWrites& changes, double factor, Rows<double> sums,
                       Workspace::Impl& workspace, const std::stop_token& stop);

}  // namespace headscope::model
