// Products and solutions to the bit those of loops that add one term after another.
#include "model/maths/ordered_algebra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "model/files/error.h"

namespace headscope::model {
namespace {

using Doubles = RowMajor<double>;

/// Numbers that are the same everywhere, which those of <random>'s distributions are not.
Doubles noise(int rows, int cols, std::uint64_t state) {
  Doubles values(rows, cols);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values.data()[i] =
        static_cast<double>(static_cast<std::int64_t>(state) >> 20) / static_cast<double>(1LL << 43);
  }
  return values;
}

Doubles product_in_order(const Doubles& a, const Doubles& b) {
  Doubles out(a.cols(), b.cols());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
      double sum = 0;
      for (Eigen::Index k = 0; k < a.rows(); ++k) sum -= a(k, i) * b(k, j);
      out(i, j) = -sum;
    }
  }
  return out;
}

Doubles solution_in_order(Doubles a, Doubles x) {
  const Eigen::Index n = a.rows();
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = n - 1; j >= i; --j) {
      for (Eigen::Index k = 0; k < i; ++k) a(i, j) -= a(k, i) * a(k, j);
    }
    const double root = std::sqrt(a(i, i));
    for (Eigen::Index j = i; j < n; ++j) a(i, j) /= root;
  }
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index k = 0; k < i; ++k) x(i, j) -= a(k, i) * x(k, j);
      x(i, j) /= a(i, i);
    }
    for (Eigen::Index i = n - 1; i >= 0; --i) {
      for (Eigen::Index k = i + 1; k < n; ++k) x(i, j) -= a(i, k) * x(k, j);
      x(i, j) /= a(i, i);
    }
  }
  return x;
}

bool same_bits(const Doubles& a, const Doubles& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

TEST(OrderedAlgebra, ProductsAreChainsOfSums) {
  for (const auto& [k, n, m] : {std::array{1, 1, 1}, std::array{37, 5, 300}, std::array{130, 129, 128}}) {
    const Doubles a = noise(k, n, 1), b = noise(k, m, 2);
    EXPECT_TRUE(same_bits(transposed_product(a, b, {}), product_in_order(a, b))) << k << ' ' << n << ' ' << m;
  }
}

TEST(OrderedAlgebra, SolutionsAreChainsOfSums) {
  for (const auto& [n, m] : {std::array{1, 1}, std::array{6, 300}, std::array{131, 9}}) {
    const Doubles x = noise(2 * n, n, 3), right = noise(n, m, 4);
    Doubles a = transposed_product(x, x, {});
    a.diagonal().array() += 0.01;
    const Doubles found = solve_positive_definite(a, right, {});
    EXPECT_TRUE(same_bits(found, solution_in_order(a, right))) << n << ' ' << m;
    EXPECT_LT((product_in_order(a, found) - right).cwiseAbs().maxCoeff(), 1e-9) << n << ' ' << m;
  }
}

TEST(OrderedAlgebra, Stops) {
  std::stop_source source;
  source.request_stop();
  const Doubles one = Doubles::Identity(3, 3);
  EXPECT_THROW(transposed_product(one, one, source.get_token()), Stopped);
  EXPECT_THROW(solve_positive_definite(one, one, source.get_token()), Stopped);
}

}  // namespace
}  // namespace headscope::model
