#include "model/kernels/product.h"

#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"
#include "tests/support/packed_weights.h"
#include "tests/support/parameter_names.h"

namespace headscope::model::product_test {
namespace {

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
      product_with_columns(x.view(), w.matrix(), first, workers, y.view());
      expect_product(
          y, x, [&, from = first](int k, int j) { return w(k, from + j); }, rows, kDepth, cols);
    }
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
      product_with_columns(x.view(), w.matrix(), kFirst, workers, out[1].view());
      product_with_slice(part, w.matrix(), kFirstRow, workers, out[2].view());
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

}  // namespace
}  // namespace headscope::model::product_test
