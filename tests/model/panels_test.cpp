// Loops over panels for every kind of processor; and the causal softmax is its steps.
#include "model/kernels/kernels.h"
#include "model/pass/attention.h"
#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"
#include "tests/support/parameter_names.h"

namespace headscope::model::panels_test {
namespace {

class PanelsOf : public ::testing::TestWithParam<PanelKernels> {
 protected:
  std::mt19937 generator{11};
};

/// The kernels, and the precision of the weights.
class WeightPanels : public ::testing::TestWithParam<std::tuple<PanelKernels, Precision>> {
 protected:
  const PanelKernels& kernels() const { return std::get<0>(GetParam()); }
  Precision precision() const { return std::get<1>(GetParam()); }

  PanelProduct product(const NumberMatrix& x, const void* w, Surrounded& y, int rows, int depth) {
    return {.x = x.floats(),
            .x_stride = x.stride(),
            .w = w,
            .precision = precision(),
            .y = y.data(),
            .y_stride = y.stride(),
            .rows = rows,
            .depth = depth,
            .scratch = scratch.data()};
  }

  std::mt19937 generator{11};
  GuardedMemory<float> scratch{std::vector<float>(std::size_t{kPanelDepth} * kPanelCols)};
};

std::vector<int> row_counts() {
  std::vector<int> rows;
  for (int i = 1; i <= 20; ++i) rows.push_back(i);
  rows.push_back(64);
  return rows;
}

/// a * b + c, rounded once; not every C library's fmaf does that.
float fused(float a, float b, float c) {
  const double product = double{a} * b, sum = product + c;  // the product is exact
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  // Rounded to odd, so that rounding to float gives what it would give of the exact sum.
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error != 0 && bits % 2 == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(std::bit_cast<double>(bits));
}

/// x(i, k) * w(k, j) for k from `first` to `end`, summed in that order from zero, with the rounding
/// of the kernels' loops: the tests are compiled without contraction by the compiler.
float chain(const PanelKernels& kernels, const NumberMatrix& x, const NumberMatrix& w, int i, int j,
            int first, int end) {
  float sum = 0;
  for (int k = first; k < end; ++k) {
    sum = kernels.fused ? fused(x(i, k), w(k, j), sum) : sum + x(i, k) * w(k, j);
  }
  return sum;
}

/// So a position's numbers do not depend on the other positions computed with it, nor on the loop that a
/// number of rows takes.
TEST_P(WeightPanels, ACellIsAChainOfMultiplyAddsInTheOrderOfDepth) {
  for (const int rows : row_counts())
    for (const int depth : {1, 7, 127, 128, 129, 300}) {
      const NumberMatrix x(rows, depth, Precision::f32, generator, 5);
      const NumberMatrix w(depth, kPanelCols, precision(), generator);
      const NumberMatrix bias(1, kPanelCols, Precision::f32, generator);
      Surrounded y(rows, kPanelCols);
      PanelProduct p = product(x, w.data(), y, rows, depth);
      for (const float* start : {static_cast<const float*>(nullptr), bias.floats()}) {
        p.bias = start;
        kernels().multiply_panel(p);
        ASSERT_TRUE(y.surroundings_untouched());
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < kPanelCols; ++j) {
            float expected = start != nullptr ? start[j] : 0;
            for (int first = 0; first < depth; first += kPanelDepth)
              expected += chain(kernels(), x, w, i, j, first, std::min(first + kPanelDepth, depth));
            ASSERT_EQ(y(i, j), expected) << rows << "x" << depth << ", cell " << i << ", " << j;
          }
      }
    }
}

TEST_P(PanelsOf, ACellOfMultiplyIsAChainOfMultiplyAddsInTheOrderOfDepth) {
  for (int rows = 1; rows <= 19; ++rows)
    for (const auto& [depth, cols] : {std::pair{1, 1}, {7, 15}, {64, 64}, {200, 50}, {90, 85}, {33, 401}}) {
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(depth) + "x" + std::to_string(cols));
      const NumberMatrix x(rows, depth, Precision::f32, generator, 5);
      const NumberMatrix w(depth, cols, Precision::f32, generator, 2);
      Surrounded y(rows, cols);
      Multiplication m{x.floats(), x.stride(), w.floats(), w.stride(), y.data(),
                       y.stride(), rows,       depth,      cols};
      GetParam().multiply(m);
      const Surrounded once = y;
      m.accumulate = true;
      GetParam().multiply(m);
      ASSERT_TRUE(y.surroundings_untouched());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) {
          const float expected = chain(GetParam(), x, w, i, j, 0, depth);
          ASSERT_EQ(once(i, j), expected) << i << ", " << j;
          ASSERT_EQ(y(i, j), expected + expected) << i << ", " << j;
        }
    }
}

TEST_P(PanelsOf, Transposes) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 17}, {16, 16}, {40, 33}, {64, 100}}) {
    const NumberMatrix w(rows, cols, Precision::f32, generator, 3);
    Surrounded transposed(cols, rows);
    GetParam().transpose(w.floats(), w.stride(), rows, cols, transposed.data(), transposed.stride());
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) ASSERT_EQ(transposed(j, i), w(i, j)) << i << ", " << j;
    }
    EXPECT_TRUE(transposed.surroundings_untouched());
  }
}

TEST_P(WeightPanels, AnyNumberOfElementsIsWidened) {
  for (int n = 0; n <= 70; ++n) {
    const NumberMatrix w(1, n, precision(), generator);
    Surrounded out(1, n);
    kernels().widen(w.data(), precision(), n, out.data());
    for (int i = 0; i < n; ++i) ASSERT_EQ(out(0, i), w(0, i)) << n << ", " << i;
    ASSERT_TRUE(out.surroundings_untouched()) << n;
  }
}

std::string name_of_kernels(const ::testing::TestParamInfo<PanelKernels>& kernels) {
  return testing::as_test_name(kernels.param.name);
}

std::string name_of_both(const ::testing::TestParamInfo<std::tuple<PanelKernels, Precision>>& both) {
  const auto& [kernels, precision] = both.param;
  return testing::as_test_name(kernels.name) + "_" + testing::name_of(precision);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PanelsOf, ::testing::ValuesIn(runnable_kernels()), name_of_kernels);
INSTANTIATE_TEST_SUITE_P(Kernels, WeightPanels,
                         ::testing::Combine(::testing::ValuesIn(runnable_kernels()),
                                            ::testing::Values(Precision::f32, Precision::f16,
                                                              Precision::bf16)),
                         name_of_both);

TEST(Panels, PlainCodeRunsEverywhereAndTheFastestComesFirst) {
  ASSERT_FALSE(runnable_kernels().empty());
  EXPECT_STREQ(runnable_kernels().back().name, "plain");
  EXPECT_STREQ(runnable_kernels().front().name, fastest_kernels().name);
}

TEST(Panels, NumbersOf16BitsAreWidenedExactly) {
  constexpr int kNumbers = 65536;
  std::vector<std::uint16_t> bits(kNumbers);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  const auto same = [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  };
  for (const PanelKernels& kernels : runnable_kernels()) {
    std::vector<float> halves(kNumbers), brains(kNumbers);
    kernels.widen(bits.data(), Precision::f16, kNumbers, halves.data());
    kernels.widen(bits.data(), Precision::bf16, kNumbers, brains.data());
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
      EXPECT_TRUE(same(halves[i], static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits[i]))))
          << kernels.name << " " << i;
      EXPECT_TRUE(same(brains[i], std::bit_cast<float>(i << 16))) << kernels.name << " " << i;
    }
  }
}

constexpr int kLayer = 1;

TEST(Attention, TheCausalSoftmaxIsItsStepsToTheBit) {
  model::Run run;
  run.config.n_head = 3;
  run.config.n_embd = 60;
  const HeadCache head{.pages = {}, .layer = kLayer, .head = 1};
  std::mt19937 generator(3);
  for (const PanelKernels& kernels : runnable_kernels()) {
    for (const auto& [first, queries] : {std::pair{0, 1}, {0, 64}, {63, 2}, {128, 7}, {130, 64}}) {
      const NumberMatrix random(queries, first + queries, Precision::f32, generator);
      Surrounded causal(queries, first + queries), steps(queries, first + queries);
      for (int i = 0; i < queries; ++i) {
        std::ranges::copy(random.view().row(i), causal.view().row_data(i));
        std::ranges::copy(random.view().row(i), steps.view().row_data(i));
      }
      softmax_causal(kernels, run.config.attention_scale(kLayer), first, causal.view());
      scale_and_mask(run, head, first, steps.view());
      softmax_masked(kernels, run, head, first, steps.view());
      for (int i = 0; i < queries; ++i)
        for (int key = 0; key < first + queries; ++key)
          ASSERT_EQ(causal(i, key), steps(i, key)) << kernels.name << ' ' << i << ' ' << key;
      EXPECT_TRUE(causal.surroundings_untouched());
    }
  }
}

}  // namespace
}  // namespace headscope::model::panels_test
