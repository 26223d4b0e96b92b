#pragma once
#include <random>

#include "model/kernels/arena.h"
#include "model/kernels/panel_matrix.h"
#include "tests/support/number_matrix.h"

namespace headscope::testing {

/// Packed weights for products, and the exact numbers they hold.
class PackedWeights {
 public:
  PackedWeights(int depth, int cols, model::Precision precision, std::mt19937& generator)
      : numbers_(depth, cols, precision, generator),
        arena_(model::panel_matrix_bytes(depth, cols, precision)) {
    model::ThreadPool pool(1);
    matrix_ = model::pack({numbers_.data(), precision, false}, depth, cols, precision,
                          arena_.take(arena_.size()), pool);
  }
  float operator()(int row, int col) const { return numbers_(row, col); }
  const model::PanelMatrix& matrix() const { return matrix_; }

 private:
  NumberMatrix numbers_;
  model::Arena arena_;
  model::PanelMatrix matrix_;
};

}  // namespace headscope::testing
