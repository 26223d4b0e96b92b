#pragma once
#include <memory>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// For the files that define members of Transformer.
struct Transformer::Impl {
  Weights weights;
  std::shared_ptr<const void> identity = std::make_shared<char>();  ///< marks the runs of these weights
};

}  // namespace headscope::model
