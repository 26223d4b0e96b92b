// Products in double precision of doubles with float32.
#include "model/maths/products.h"
#include "tests/support/matchers.h"

namespace headscope::model::double_product_test {
namespace {

/// Matrices whose rows are further apart than they are wide.
template <class T>
struct Padded {
  Padded(int rows, int cols, unsigned seed) : values(static_cast<std::size_t>(rows) * (cols + 3), T{7}) {
    std::mt19937 random(seed);
    view = {values.data(), rows, cols, cols + 3};
    for (int i = 0; i < rows; ++i)
      for (T& v : view.row(i)) v = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / T{512};
  }
  std::vector<T> values;
  Rows<T> view;
};

TEST(DoubleProduct, IsTheSumOfProducts) {
  for (const auto& [n, k, m] : {std::tuple{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {40, 64, 70}}) {
    const Padded<double> a(n, k, 1);
    const Padded<float> b(m, k, 2), c(n, m, 3);
    Padded<double> by_transposed(n, m, 4), sum(m, k, 5);
    const Padded<double> before = sum;
    multiply_by_transposed(a.view, b.view, by_transposed.view);
    add_transposed_product(c.view, a.view, sum.view);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        double expected = 0;
        for (int t = 0; t < k; ++t) expected += a.view.row(i)[t] * static_cast<double>(b.view.row(j)[t]);
        EXPECT_NEAR(by_transposed.view.row(i)[j], expected, 1e-12);
      }
    }
    for (int j = 0; j < m; ++j) {
      for (int t = 0; t < k; ++t) {
        double expected = before.values[static_cast<std::size_t>(j) * (k + 3) + static_cast<std::size_t>(t)];
        for (int i = 0; i < n; ++i) expected += static_cast<double>(c.view.row(i)[j]) * a.view.row(i)[t];
        EXPECT_NEAR(sum.view.row(j)[t], expected, 1e-12);
      }
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(by_transposed.view.row_data(i)[m], 7) << "beyond the row";
  }
}

}  // namespace
}  // namespace headscope::model::double_product_test
