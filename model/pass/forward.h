#pragma once
#include <memory>
#include <span>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Transformer::forward. `identity` marks the run as one of these weights.
std::shared_ptr<const Run> forward_pass(const Weights& weights, const std::shared_ptr<const void>& identity,
                                        std::span<const int> tokens, Workspace::Impl& workspace,
                                        const ForwardOptions& options);

}  // namespace headscope::model
