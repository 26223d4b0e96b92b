#pragma once
#include <memory>
#include <stop_token>

#include "model/circuit/stream_graph.h"
#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"

namespace headscope::model {

/// Transformer::stream_writes.
StreamWrites read_stream_writes(const Weights& weights, const std::shared_ptr<const void>& identity,
                                const Run& run, Workspace::Impl& workspace, const std::stop_token& stop);

}  // namespace headscope::model
