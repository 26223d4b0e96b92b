#pragma once
#include <cstddef>
#include <span>

#include "model/weights.h"
#include "model/workspace.h"

namespace headscope::model {

/// Transformer::parameter_rows.
void read_parameter_rows(const Weights& weights, std::size_t index, int first, int count,
                         std::span<float> out);

/// Transformer::compare_embeddings.
void compare_embeddings(const Weights& weights, std::span<const float> vector, Workspace::Impl& workspace,
                        std::span<float> dots, std::span<float> norms);

}  // namespace headscope::model
