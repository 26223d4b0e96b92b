// The derivatives of single steps, compared with sums and slopes in double.
#include "model/gradient/steps.h"

#include "model/gradient/transposed_product.h"
#include "model/kernels/kernels.h"
#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"
#include "tests/support/packed_weights.h"
#include "tests/support/parameter_names.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model::gradient_steps_test {
namespace {

// --- products ---

class TransposedProduct : public ::testing::TestWithParam<Precision> {
 protected:
  std::mt19937 generator_{7};
  Buffer transposed_;
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
                                      {40, 2 * kColumnsTransposed + 70}}) {
      const PackedWeights w(depth, cols, GetParam(), generator_);
      for (const int rows : {1, 2, 41, 63, 129, 300}) {
        const NumberMatrix x(rows, cols, Precision::f32, generator_, 7);
        Surrounded y(rows, depth);
        product_with_transposed(x.view(), w.matrix(), {}, workers, transposed_, y.view());
        expect_product(
            y, x, [&](int j, int k) { return w(k, j); }, rows, cols, depth);
      }
    }
  }
}

TEST_P(TransposedProduct, IsTheSameToTheBitForAnyNumberOfThreadsAndRows) {
  constexpr int kDepth = 150, kCols = 301, kRows = 140;
  const PackedWeights w(kDepth, kCols, GetParam(), generator_);
  const NumberMatrix x(kRows, kCols, Precision::f32, generator_);
  Workers one(1);
  Surrounded expected(kRows, kDepth), single(1, kDepth);
  product_with_transposed(x.view(), w.matrix(), {}, one, transposed_, expected.view());
  for (const int threads : {2, 3, 16}) {
    Workers workers(threads);
    Surrounded y(kRows, kDepth);
    product_with_transposed(x.view(), w.matrix(), {}, workers, transposed_, y.view());
    EXPECT_EQ(y.values(), expected.values()) << threads;
  }
  product_with_transposed(x.view().middle_rows(77, 1), w.matrix(), {}, one, transposed_, single.view());
  for (int k = 0; k < kDepth; ++k) EXPECT_EQ(single(0, k), expected(77, k)) << k;
}

INSTANTIATE_TEST_SUITE_P(Precisions, TransposedProduct,
                         ::testing::Values(Precision::f32, Precision::f16, Precision::bf16),
                         [](const auto& test) { return testing::name_of(test.param); });

// --- activations ---

// Against differences of the reference, on either side: at a kink they are not the same.
TEST(ActivationSlopes, AreThoseOfDoubles) {
  std::vector<float> values;
  for (float x = -12; x < 12; x += 0.007F) values.push_back(x);
  constexpr double kStep = 1e-5;
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation : testing::kActivations) {
      std::vector<float> slopes = values;
      activation_slopes(kernels.rows, activation, slopes);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<double>(values[i]);
        const double at = testing::activated(activation, x),
                     after = testing::activated(activation, x + kStep),
                     before = testing::activated(activation, x - kStep);
        if (std::abs(after - 2 * at + before) > 1e-3 * kStep) continue;
        ASSERT_NEAR(slopes[i], (after - before) / (2 * kStep), 4e-6)
            << kernels.name << " " << function_of(activation).name << " at " << values[i];
      }
    }
}

TEST(ActivationSlopes, AreThatOfAStraightLineFarOut) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation :
         {Activation::gelu_new, Activation::gelu, Activation::quick_gelu, Activation::relu, Activation::silu,
          Activation::mish, Activation::tanh, Activation::sigmoid}) {
      const float right = activation == Activation::tanh || activation == Activation::sigmoid ? 0 : 1;
      std::vector<float> row{30,   150,   1e6F,   3e38F,      kInfinity,
                             -150, -1e6F, -3e38F, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
      activation_slopes(kernels.rows, activation, row);
      for (std::size_t i = 0; i + 1 < row.size(); ++i)
        EXPECT_NEAR(row[i], i < 5 ? right : 0, 1e-12) << function_of(activation).name << " " << i;
      EXPECT_TRUE(std::isnan(row.back())) << function_of(activation).name;
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
