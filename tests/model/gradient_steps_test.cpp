// The derivatives of single steps, compared with sums and slopes in double.
#include "model/gradient/steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "model/gradient/transposed_product.h"
#include "model/kernels/kernels.h"
#include "tests/support/number_matrix.h"
#include "tests/support/packed_weights.h"
#include "tests/support/parameter_names.h"

namespace headscope::model::gradient_steps_test {
namespace {

using namespace headscope::testing;

// --- products ---

class TransposedProduct : public ::testing::TestWithParam<Precision> {
 protected:
  std::mt19937 generator_{7};
  Buffer turned_;
};

TEST_P(TransposedProduct, IsThatOfDoublesForAnyShape) {
  for (const PanelKernels& kernels : runnable_kernels()) {
    Workers workers(2, kernels);
    for (const auto& [depth, cols] : {std::pair{1, 1},
                                      {5, 3},
                                      {130, 64},
                                      {30, 193},
                                      {300, 400},
                                      {513, 17},
                                      {40, 2 * kColumnsTurned + 70}}) {
      const PackedWeights w(depth, cols, GetParam(), generator_);
      for (const int rows : {1, 2, 41, 63, 129, 300}) {
        const NumberMatrix x(rows, cols, Precision::f32, generator_, 7);
        Surrounded y(rows, depth);
        product_with_transposed(x.view(), w.matrix(), {}, workers, turned_, y.view());
        for (int i = 0; i < rows; ++i)
          for (int k = 0; k < depth; ++k) {
            DoubleSum expected;
            for (int j = 0; j < cols; ++j) expected.add(static_cast<double>(x(i, j)) * w(k, j));
            ASSERT_NEAR(y(i, k), expected.sum, expected.tolerance(cols))
                << kernels.name << " " << i << ", " << k;
          }
        ASSERT_TRUE(y.surroundings_untouched());
      }
    }
  }
}

TEST_P(TransposedProduct, OfAPartOfTheMatrixIsThatOfDoubles) {
  Workers workers(2);
  constexpr int kDepth = 150, kCols = 301, kRows = 9;
  const PackedWeights w(kDepth, kCols, GetParam(), generator_);
  for (const MatrixCorner at : {MatrixCorner{0, 0}, {3, 0}, {0, 1}, {17, 63}, {64, 64}, {149, 300}})
    for (const auto& [depth, cols] : {std::pair{1, 1}, {1, 200}, {100, 70}, {133, 238}}) {
      if (at.row + depth > kDepth || at.col + cols > kCols) continue;
      const NumberMatrix x(kRows, cols, Precision::f32, generator_, 1);
      Surrounded y(kRows, depth);
      product_with_transposed(x.view(), w.matrix(), at, workers, turned_, y.view());
      for (int i = 0; i < kRows; ++i)
        for (int k = 0; k < depth; ++k) {
          DoubleSum expected;
          for (int j = 0; j < cols; ++j)
            expected.add(static_cast<double>(x(i, j)) * w(at.row + k, at.col + j));
          ASSERT_NEAR(y(i, k), expected.sum, expected.tolerance(cols)) << at.row << ", " << at.col;
        }
      ASSERT_TRUE(y.surroundings_untouched());
    }
}

TEST_P(TransposedProduct, IsTheSameToTheBitForAnyNumberOfThreadsAndRows) {
  constexpr int kDepth = 150, kCols = 301, kRows = 140;
  const PackedWeights w(kDepth, kCols, GetParam(), generator_);
  const NumberMatrix x(kRows, kCols, Precision::f32, generator_);
  Workers one(1);
  Surrounded expected(kRows, kDepth), single(1, kDepth);
  product_with_transposed(x.view(), w.matrix(), {}, one, turned_, expected.view());
  for (const int threads : {2, 3, 16}) {
    Workers workers(threads);
    Surrounded y(kRows, kDepth);
    product_with_transposed(x.view(), w.matrix(), {}, workers, turned_, y.view());
    EXPECT_EQ(y.values(), expected.values()) << threads;
  }
  product_with_transposed(x.view().middle_rows(77, 1), w.matrix(), {}, one, turned_, single.view());
  for (int k = 0; k < kDepth; ++k) EXPECT_EQ(single(0, k), expected(77, k)) << k;
}

INSTANTIATE_TEST_SUITE_P(Precisions, TransposedProduct,
                         ::testing::Values(Precision::f32, Precision::f16, Precision::bf16),
                         [](const auto& test) { return testing::name_of(test.param); });

// --- activations ---

double slope(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu_new: {
      const double c = std::sqrt(2 / std::numbers::pi), t = std::tanh(c * (x + 0.044715 * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
    }
    case Activation::gelu:
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
             x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::silu: {
      const double s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
    case Activation::tanh:
      return 1 - std::tanh(x) * std::tanh(x);
  }
  return 0;
}

constexpr Activation kActivations[] = {Activation::gelu_new, Activation::gelu, Activation::relu,
                                       Activation::silu, Activation::tanh};

TEST(ActivationSlopes, AreThoseOfDoubles) {
  std::vector<float> values{0};
  for (float x = -12; x < 12; x += 0.007F) values.push_back(x);
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation : kActivations) {
      std::vector<float> slopes = values;
      activation_slopes(kernels.rows, activation, slopes);
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(slopes[i], slope(activation, static_cast<double>(values[i])), 3e-6)
            << kernels.name << " " << static_cast<int>(activation) << " at " << values[i];
    }
}

TEST(ActivationSlopes, AreThatOfAStraightLineFarOut) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation : kActivations) {
      const float right = activation == Activation::tanh ? 0 : 1;
      std::vector<float> row{30, 150, 1e6F, 3e38F, kInfinity, -150, -1e6F, -3e38F, -kInfinity};
      activation_slopes(kernels.rows, activation, row);
      for (std::size_t i = 0; i < row.size(); ++i)
        EXPECT_NEAR(row[i], i < 5 ? right : 0, 1e-12) << static_cast<int>(activation) << " " << i;
      std::vector<float> nan{std::numeric_limits<float>::quiet_NaN()};
      activation_slopes(kernels.rows, activation, nan);
      EXPECT_TRUE(std::isnan(nan[0])) << static_cast<int>(activation);
    }
}

TEST(SoftmaxGradient, IsZeroWhereNothingIsSeen) {
  std::vector<float> weights{0, 0.5F, 0.5F, 0}, gradient{3, 1, 2, -7};
  softmax_gradient(weights, gradient);
  EXPECT_EQ(gradient, (std::vector<float>{0, -0.25F, 0.25F, 0}));
  std::vector<float> none(3, 0.0F), of_none{1, 2, 3};
  softmax_gradient(none, of_none);
  EXPECT_EQ(of_none, none);
}

}  // namespace
}  // namespace headscope::model::gradient_steps_test
