// Principal directions and linear maps against what defines them.
#include "model/maths/decompositions.h"

#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/random_numbers.h"

namespace headscope::model::row_geometry_test {
namespace {

using ::testing::Pointwise;

ConstFloatRows rows_of(const std::vector<float>& values, int cols) {
  return {values.data(), static_cast<int>(values.size()) / cols, cols, cols};
}

TEST(RowGeometry, ARowOfZerosHasNoCosine) {
  Workspace workspace(1);
  const auto of_zeros = cosines(rows_of({1, 2, 0, 0}, 2), workspace);
  EXPECT_FLOAT_EQ(of_zeros[0], 1);
  EXPECT_TRUE(std::isnan(of_zeros[1]) && std::isnan(of_zeros[2]) && std::isnan(of_zeros[3]));
}

TEST(RowGeometry, PrincipalDirectionsAreThoseOfTheCovarianceOfWideAndHighMatrices) {
  for (const auto& [n, d] : {std::pair{30, 8}, {8, 30}}) {
    SCOPED_TRACE(n);
    const auto at = [cols = d](const std::vector<float>& m, int row, int col) {
      return static_cast<double>(m[row * cols + col]);
    };
    const std::vector<float> x = normal_numbers(static_cast<std::size_t>(n * d), 1, 3);
    const auto found = principal_directions(rows_of(x, d), 3, {});
    ASSERT_EQ(found.count, 3);
    std::vector<double> mean(d);
    for (int row = 0; row < n; ++row)
      for (int col = 0; col < d; ++col) mean[col] += at(x, row, col) / n;
    const auto apart = [&](int row, int col) { return at(x, row, col) - mean[col]; };
    double all = 0;
    for (int row = 0; row < n; ++row)
      for (int col = 0; col < d; ++col) all += apart(row, col) * apart(row, col);
    double last = 1;
    for (int i = 0; i < 3; ++i) {
      const double share = found.shares[i];
      EXPECT_LE(share, last);
      last = share;
      for (int col = 0; col < d; ++col) {
        double product = 0;  // product of the covariance's row and the direction
        for (int row = 0; row < n; ++row) {
          const double coordinate = static_cast<double>(found.coordinates[row * 3 + i]);
          product += apart(row, col) * coordinate / all;
        }
        EXPECT_NEAR(product, share * at(found.directions, i, col), 1e-6);
      }
    }
  }
}

TEST(RowGeometry, WhatDoesNotVaryHasNoShares) {
  const auto found = principal_directions(rows_of({1, 2, 1, 2}, 2), 2, {});
  EXPECT_EQ(found.shares, (std::vector<double>{0, 0}));
  EXPECT_EQ(found.coordinates, std::vector<float>(4, 0.F));
}

TEST(RowGeometry, WhatTheBestMapMissesIsOrthogonalToWhatItMaps) {
  constexpr int kRows = 40, kCols = 6;
  const std::vector<float> from = normal_numbers(kRows * kCols, 1, 1),
                           to = normal_numbers(kRows * kCols, 1, 2);
  const auto at = [](const auto& m, int row, int col) { return static_cast<double>(m[row * kCols + col]); };
  const auto map = best_linear_map(rows_of(from, kCols), rows_of(to, kCols), {});
  for (int i = 0; i < kCols; ++i) {
    for (int j = 0; j < kCols; ++j) {
      double dot = 0;
      for (int row = 0; row < kRows; ++row) {
        double missed = at(to, row, j);
        for (int k = 0; k < kCols; ++k) missed -= at(from, row, k) * at(map, k, j);
        dot += at(from, row, i) * missed;
      }
      EXPECT_NEAR(dot, 0, 1e-4) << i << ", " << j;
    }
  }
}

TEST(RowGeometry, OfManyBestMapsItIsTheSmallest) {
  // from^T to / |from|^2: vectors orthogonal to (3, 4) are mapped to 0.
  EXPECT_THAT(best_linear_map(rows_of({3, 4}, 2), rows_of({25, 50}, 2), {}),
              Pointwise(::testing::DoubleNear(1e-8), {3., 6., 4., 8.}));
  // Two equal rows are no more information than one.
  EXPECT_THAT(best_linear_map(rows_of({1, 0, 0, 1, 0, 0}, 3), rows_of({2, 0, 1, 2, 0, 1}, 3), {}),
              Pointwise(::testing::DoubleNear(1e-8), {2., 0., 1., 0., 0., 0., 0., 0., 0.}));
}

TEST(RowGeometry, AStopEndsTheWork) {
  std::stop_source source;
  source.request_stop();
  const std::vector<float> x = normal_numbers(40, 1, 1);
  EXPECT_THROW(principal_directions(rows_of(x, 4), 2, source.get_token()), Stopped);
  EXPECT_THROW(best_linear_map(rows_of(x, 4), rows_of(x, 4), source.get_token()), Stopped);
}

}  // namespace
}  // namespace headscope::model::row_geometry_test
