#pragma once
#include <memory>
#include <span>
#include <stop_token>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Transformer::variants.
void run_variants(const Weights& weights, const std::shared_ptr<const void>& identity, const Run& clean,
                  std::span<const std::shared_ptr<const Plan>> plans, int first, int count,
                  Workspace::Impl& workspace, const VariantVisitor& visit, const std::stop_token& stop);

}  // namespace headscope::model
