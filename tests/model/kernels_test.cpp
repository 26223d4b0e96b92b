// Steps of a pass, products of rounded weights, roundings, and the threads and memory that they use.
#include <ctime>
#include <thread>

#include "model/kernels/float_memory.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/kernels/thread_pool.h"
#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"
#include "tests/support/packed_weights.h"
#include "tests/support/parameter_names.h"
#include "tests/support/random_numbers.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model::kernels_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

/// The row loops for every kind of processor.
class Rows : public ::testing::TestWithParam<PanelKernels> {
 protected:
  const RowKernels& kernels() const { return GetParam().rows; }
  float exp(float x) const {
    kernels().exp(&x, 1);
    return x;
  }
  float largest(const std::vector<float>& row) const {
    return kernels().largest(row.data(), static_cast<int>(row.size()));
  }
  double sum_of_exp(const std::vector<float>& row, float shift) const {
    return kernels().sum_of_exp(row.data(), static_cast<int>(row.size()), shift);
  }
  void softmax(std::span<float> row, float scale = 1) const {
    kernels().softmax(scale, row.data(), static_cast<int>(row.size()));
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, Rows, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& rows) { return testing::as_test_name(rows.param.name); });

TEST_P(Rows, ExpIsWithinTwoTenMillionthsWhereTheResultIsNormal) {
  double worst = 0;
  std::vector<float> row;
  for (float x = -87.3F; x < 88.7F; x += 0.00037F) row.push_back(x);
  std::vector<float> found = row;
  kernels().exp(found.data(), static_cast<int>(found.size()));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double expected = std::exp(static_cast<double>(row[i]));
    worst = std::max(worst, std::abs(found[i] - expected) / expected);
  }
  EXPECT_LT(worst, 2e-7);
}

TEST_P(Rows, ExpIsGraduallySubnormalBelow) {
  constexpr double kSmallest = std::numeric_limits<float>::denorm_min();
  for (float x = -110; x < -87.3F; x += 0.0011F) {
    EXPECT_NEAR(exp(x), std::exp(static_cast<double>(x)), kSmallest) << x;
  }
  EXPECT_GT(exp(-90.0F), 0.0F);
}

TEST_P(Rows, ExpIsExactAtTheEnds) {
  EXPECT_EQ(exp(0.0F), 1.0F);
  EXPECT_EQ(exp(-0.0F), 1.0F);
  EXPECT_EQ(exp(-kInfinity), 0.0F);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(exp(88.8F), kInfinity);
  EXPECT_TRUE(std::isnan(exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_P(Rows, SoftmaxMaskedCellsAreExactlyZeroAndChangeNothing) {
  for (std::size_t seen : {0U, 1U, 5U, 16U, 33U, 64U}) {
    std::vector<float> scores = normal_numbers(seen, 3);
    std::vector<float> masked = scores;
    masked.resize(101, -kInfinity);
    softmax(scores);
    softmax(masked);
    for (std::size_t i = 0; i < masked.size(); ++i) {
      const float expected = i < seen ? scores[i] : 0.0F;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(masked[i]), std::bit_cast<std::uint32_t>(expected))
          << seen << " " << i;
    }
  }
}

TEST_P(Rows, SoftmaxStandsHugeScores) {
  std::vector<float> huge = {3e38F, -3e38F, 3e38F};
  softmax(huge);
  EXPECT_EQ(huge, (std::vector<float>{0.5F, 0.0F, 0.5F}));
}

/// Like numpy's, except that masked cells remain exactly 0.
TEST_P(Rows, SoftmaxOfARowWithNaNOrInfinityIsNaNWhereNothingIsMasked) {
  for (const float bad : {kNotANumber, kInfinity}) {
    for (const std::size_t n : {1U, 2U, 16U, 17U, 70U}) {
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<float> row = normal_numbers(n, 3);
        row.resize(n + 3, -kInfinity);
        row[at] = bad;
        softmax(row, 0.5F);
        for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(row[i])) << n << " " << at << " " << i;
        for (std::size_t i = n; i < row.size(); ++i) ASSERT_EQ(row[i], 0.0F) << n << " " << at << " " << i;
      }
    }
  }
}

// --- sums and maxima of rows of any length, in whole groups of lanes or not ---

constexpr std::size_t kLongestRow = 70;

TEST_P(Rows, LargestIsThatOfTheRow) {
  EXPECT_EQ(largest({}), -kInfinity);
  for (std::size_t n = 1; n <= kLongestRow; ++n) {
    std::vector<float> row = normal_numbers(n, 3, static_cast<unsigned>(n));
    EXPECT_EQ(largest(row), *std::max_element(row.begin(), row.end())) << n;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<float> below(n, -5), with_nan = row;
      below[i] = -1;
      ASSERT_EQ(largest(below), -1.0F) << n << " " << i;
      with_nan[i] = kNotANumber;
      ASSERT_TRUE(std::isnan(largest(with_nan))) << n << " " << i;
    }
    EXPECT_EQ(largest(std::vector<float>(n, -kInfinity)), -kInfinity) << n;
  }
}

TEST_P(Rows, SumOfExpIsThatOfDoubles) {
  EXPECT_EQ(sum_of_exp({}, 3), 0.0);
  for (std::size_t n = 1; n <= kLongestRow; ++n) {
    for (const float shift : {0.0F, 4.0F, -4.0F}) {
      std::vector<float> row = normal_numbers(n, 3, static_cast<unsigned>(n));
      row[n / 3] = -kInfinity;
      double sum = 0;
      for (const float x : row) sum += std::exp(static_cast<double>(x) - shift);
      EXPECT_NEAR(sum_of_exp(row, shift), sum, 1e-6 * sum) << n << " " << shift;
    }
    EXPECT_EQ(sum_of_exp(std::vector<float>(n, -kInfinity), 1), 0.0) << n;
  }
}

TEST_P(Rows, SoftmaxIsThatOfTheScaledRow) {
  for (const float scale : {1.0F, 0.125F, 0.3F}) {
    for (std::size_t n = 0; n <= kLongestRow; ++n) {
      std::vector<float> row = normal_numbers(n, 6, static_cast<unsigned>(n));
      if (n > 2) row[n / 3] = -kInfinity;
      std::vector<float> found = row, in_steps = row;
      softmax(found, scale);
      double most = -kInfinity, sum = 0;
      for (const float x : row) most = std::max(most, static_cast<double>(scale) * x);
      for (const float x : row) sum += std::exp(static_cast<double>(scale) * x - most);
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = std::exp(static_cast<double>(scale) * row[i] - most) / sum;
        EXPECT_NEAR(found[i], expected, 3e-6 * expected) << n << " " << i;
      }
      for (float& x : in_steps) x *= scale;
      softmax(in_steps);
      EXPECT_EQ(found, in_steps) << n;  // bit-identical: hooks see the values of the pass
    }
  }
}

TEST(Center, IsThatOfDoublesEvenBesideAnOutlier) {
  for (std::size_t n : {1U, 7U, 8U, 9U, 768U}) {
    std::vector<float> x = normal_numbers(n, 1);
    x[n / 2] += 3000;
    double mean = 0, squares = 0;
    for (const float value : x) mean += value;
    mean /= static_cast<double>(n);
    for (const float value : x) squares += (value - mean) * (value - mean);
    const double expected = std::sqrt(squares / static_cast<double>(n) + 1e-5);
    std::vector<float> centered(n);
    EXPECT_NEAR(center(x, 1e-5F, centered), expected, 1e-7 * expected);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(centered[i], x[i] - mean, 1e-7 * std::abs(x[i] - mean) + 1e-30);
  }
}

TEST(Activate, IsThatOfDoubles) {
  for (const Activation activation : testing::kActivations)
    for (double x = -30; x < 30; x += 0.0037) {
      float found = static_cast<float>(x);
      const double want = testing::activated(activation, found);
      activate(fastest_kernels().rows, activation, {&found, 1});
      EXPECT_NEAR(found, want, 4e-7 * std::max(std::abs(want), 0.1))
          << function_of(activation).name << " at " << x;
    }
}

TEST(Activate, GeluStandsHugeNumbers) {
  std::vector<float> row = {1e30F, -1e30F, 300.0F, -300.0F};
  activate(fastest_kernels().rows, Activation::gelu_new, row);
  EXPECT_EQ(row, (std::vector<float>{1e30F, -0.0F, 300.0F, -0.0F}));
}

class Product : public ::testing::TestWithParam<Precision> {
 protected:
  std::mt19937 generator{7};
};

TEST_P(Product, LinearIsThatOfDoublesForAnyShape) {
  Workers workers(2);
  // Of rows as long as the last ones, fewer are processed at a time.
  for (const auto& [depth, cols] :
       {std::pair{1, 1}, {5, 3}, {30, 193}, {130, 64}, {300, 400}, {513, 17}, {5000, 3}}) {
    const PackedWeights w(depth, cols, GetParam(), generator);
    const NumberMatrix bias(1, cols, Precision::f32, generator);
    for (const int rows : {1, 2, 3, 8, 41, 65, 128, 129, 300}) {
      const NumberMatrix x(rows, depth, Precision::f32, generator, 7);
      Surrounded y(rows, cols);
      linear(x.view(), {w.matrix(), {bias.floats(), static_cast<std::size_t>(cols)}}, workers, y.view());
      expect_product(y, x, w, rows, depth, cols, [&](int j) { return bias(0, j); });
    }
  }
}

TEST_P(Product, WithColumnsIsThatOfDoublesWhereverItBeginsAndEnds) {
  Workers workers(2);
  constexpr int kDepth = 33, kCols = 301;
  const PackedWeights w(kDepth, kCols, GetParam(), generator);
  for (const int rows : {1, 4, 130}) {
    const NumberMatrix x(rows, kDepth, Precision::f32, generator, 1);
    for (const auto& [first, cols] : {std::pair{0, 301}, {64, 237}, {64, 100}, {128, 64}, {256, 1}}) {
      Surrounded y(rows, cols);
      product(x.view(), w.matrix(), {0, first}, workers, y.view());
      expect_product(
          y, x, [&, from = first](int k, int j) { return w(k, from + j); }, rows, kDepth, cols);
    }
  }
}

TEST_P(Product, WithOneColumnIsTheSameToTheBit) {
  constexpr int kCols = 70;
  for (const PanelKernels& kernels : runnable_kernels())
    for (const int depth : {1, 127, 128, 300}) {
      Workers workers(1, kernels);
      const PackedWeights w(depth, kCols, GetParam(), generator);
      const NumberMatrix x(1, depth, Precision::f32, generator);
      Surrounded y(1, kCols);
      product(x.view(), w.matrix(), {}, workers, y.view());
      std::vector<float> column(static_cast<std::size_t>(depth));
      for (int j = 0; j < kCols; ++j)
        EXPECT_EQ(product_with_column(kernels, x.view().row(0), w.matrix(), j, column), y(0, j))
            << kernels.name << ", depth " << depth << ", column " << j;
    }
}

TEST_P(Product, IsTheSameToTheBitForAnyNumberOfThreads) {
  constexpr int kDepth = 96, kCols = 1000, kFirst = 128, kFirstRow = 30;
  const PackedWeights w(kDepth, kCols, GetParam(), generator);
  const NumberMatrix bias(1, kCols, Precision::f32, generator);
  for (const int rows : {1, 2, 33, 200}) {
    const NumberMatrix x(rows, kDepth, Precision::f32, generator);
    const ConstFloatRows part = x.view().middle_cols(0, kDepth - kFirstRow);
    const auto results = [&](int threads) {
      Workers workers(threads);
      std::vector<Surrounded> out = {{rows, kCols}, {rows, kCols - kFirst}, {rows, kCols}};
      linear(x.view(), {w.matrix(), {bias.floats(), kCols}}, workers, out[0].view());
      product(x.view(), w.matrix(), {0, kFirst}, workers, out[1].view());
      product(part, w.matrix(), {kFirstRow, 0}, workers, out[2].view());
      return out;
    };
    const std::vector<Surrounded> expected = results(1);
    for (const int threads : {2, 3, 7}) {
      const std::vector<Surrounded> found = results(threads);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(std::memcmp(found[i].values().data(), expected[i].values().data(),
                              found[i].values().size() * sizeof(float)),
                  0)
            << threads << " threads, " << rows << " rows, product " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Product,
                         ::testing::Values(Precision::f32, Precision::f16, Precision::bf16),
                         [](const auto& test) { return testing::name_of(test.param); });

TEST(Convert, RoundsToTheNearestAndTiesToEven) {
  constexpr float kHalfStep = 0x1p-11F, kBrainStep = 0x1p-8F;  // half a step above 1
  for (const float step : {kHalfStep, kBrainStep})
    for (const float value :
         {1.F, 1 + step, 1 + step * 1.01F, 1 + step * 3, -65519.F, 65520.F, 0x1p-24F, -kInfinity}) {
      std::uint16_t half = 0, brain = 0;
      convert({&value, 1}, Precision::f16, &half);
      convert({&value, 1}, Precision::bf16, &brain);
      EXPECT_EQ(half, Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value))) << value;
      EXPECT_EQ(brain, Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value))) << value;
    }
}

TEST(ExceedsHalf, MeansFiniteNumbersThatBecomeInfinite) {
  const auto exceeds = [](float value) { return exceeds_half(std::vector<float>{1, value, 2}); };
  EXPECT_FALSE(exceeds(65519));
  EXPECT_TRUE(exceeds(65520));
  EXPECT_TRUE(exceeds(-1e30F));
  EXPECT_FALSE(exceeds(INFINITY));
  EXPECT_FALSE(exceeds(NAN));
}

TEST(ThreadPool, AnExceptionComesOutAndThePoolGoesOn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      EXPECT_THROW(pool.parallel_for(50,
                                     [](int block, int) {
                                       if (block == 7) throw std::runtime_error("block 7");
                                     }),
                   std::runtime_error);
      std::atomic<int> sum = 0;
      pool.parallel_for(10, [&](int block, int) { sum += block; });
      EXPECT_EQ(sum, 45);
    }
  }
}

constexpr std::size_t kFloats = 1000, kBytes = kFloats * sizeof(float);

TEST(PageMemory, CountsWhatIsInUseAgainstTheBound) {
  PageMemory memory;
  memory.keep_at_most(2 * kBytes);
  std::vector<FloatMemory> pages;
  for (int i = 0; i < 3; ++i) pages.push_back(memory.take(kFloats));  // more may be in use than are kept
  std::vector<const float*> places;
  for (FloatMemory& page : pages) {
    places.push_back(page.get());
    memory.give_back(std::move(page), kFloats);
  }
  const FloatMemory second = memory.take(kFloats);  // the first one was freed beside two in use
  EXPECT_EQ(second.get(), places[1]);
}

TEST(PageMemory, TakesBackFromAnyThread) {
  PageMemory memory;
  memory.keep_at_most(4 * kBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        FloatMemory mine = memory.take(kFloats);
        FloatMemory handed_over = memory.take(kFloats);
        std::fill_n(mine.get(), kFloats, static_cast<float>(i));
        std::thread([&] { memory.give_back(std::move(handed_over), kFloats); }).join();
        ASSERT_EQ(std::count(mine.get(), mine.get() + kFloats, static_cast<float>(i)), kFloats);
        memory.give_back(std::move(mine), kFloats);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headscope::model::kernels_test
