#pragma once
#include <memory>
#include <span>

#include "model/run.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "model/workspace.h"

namespace headscope::model {

/// Transformer::forward. `identity` marks the run as one of these weights.
std::shared_ptr<const Run> forward_pass(const Weights& weights, const std::shared_ptr<const void>& identity,
                                        std::span<const int> tokens, Workspace::Impl& workspace,
                                        const ForwardOptions& options);

/// The final layer norm with gain and bias, of rows of the residual stream: rows, out [n, d_model].
void final_layer_norm(const Weights& weights, ConstFloatRows rows, Workers& workers, FloatRows out);

/// The same of positions [first, first + out.rows) of a run.
void final_layer_norm(const Weights& weights, const Run& run, int first, Workers& workers, FloatRows out);

}  // namespace headscope::model
