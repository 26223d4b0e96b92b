#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "model/kernels/float_memory.h"
#include "model/kernels/panel_matrix.h"
#include "tests/support/number_matrix.h"

namespace headscope::testing {

/// Packed weights for products, and the exact numbers they hold.
class PackedWeights {
 public:
  PackedWeights(int depth, int cols, model::Precision precision, std::mt19937& generator)
      : numbers_(depth, cols, precision, generator),
        matrix_{nullptr, depth, cols, precision},
        memory_(model::allocate_floats(matrix_.bytes() / sizeof(float))) {
    model::ThreadPool pool(1);
    std::vector<float> floats;
    for (int row = 0; row < depth; ++row)
      for (int col = 0; col < cols; ++col) floats.push_back(numbers_(row, col));
    matrix_ = model::pack([&](std::size_t first, std::size_t, int) { return floats.data() + first; }, false,
                          matrix_, reinterpret_cast<std::byte*>(memory_.get()), pool);
  }
  float operator()(int row, int col) const { return numbers_(row, col); }
  const model::PanelMatrix& matrix() const { return matrix_; }

 private:
  NumberMatrix numbers_;
  model::PanelMatrix matrix_;
  model::FloatMemory memory_;
};

/// Compares y with start(j) + sum over k of x(i, k) * w(k, j).
template <class Weight>
void expect_product(
    const Surrounded& y, const NumberMatrix& x, const Weight& w, int rows, int depth, int cols,
    const std::function<double(int)>& start = [](int) { return 0; }) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      DoubleSum expected;
      expected.add(start(j));
      for (int k = 0; k < depth; ++k) expected.add(static_cast<double>(x(i, k)) * w(k, j));
      ASSERT_NEAR(y(i, j), expected.sum, expected.tolerance(depth))
          << rows << "x" << depth << "x" << cols << " at " << i << ", " << j;
    }
  ASSERT_TRUE(y.surroundings_untouched());
}

}  // namespace headscope::testing
