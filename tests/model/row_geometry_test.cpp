// Principal directions and linear maps against what defines them.
#include "model/maths/decompositions.h"

#include <Eigen/Core>

#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/random_numbers.h"

namespace headscope::model::row_geometry_test {
namespace {

using ::testing::Pointwise;

ConstFloatRows rows_of(const std::vector<float>& values, int cols) {
  return {values.data(), static_cast<int>(values.size()) / cols, cols, cols};
}

using Matrix = Eigen::MatrixXd;

/// Numbers row by row.
template <class Number>
Matrix matrix_of(const std::vector<Number>& values, int cols) {
  using Rows = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Rows>(values.data(), std::ssize(values) / cols, cols).template cast<double>();
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
    const std::vector<float> x = normal_numbers(static_cast<std::size_t>(n * d), 1, 3);
    const auto found = principal_directions(rows_of(x, d), 3, {});
    ASSERT_EQ(found.count, 3);
    const Matrix rows = matrix_of(x, d), apart = rows.rowwise() - rows.colwise().mean(),
                 directions = matrix_of(found.directions, d);
    // The covariance times each direction, by the rows' coordinates.
    const Matrix products = apart.transpose() * matrix_of(found.coordinates, 3) / apart.squaredNorm();
    double last = 1;
    for (int i = 0; i < 3; ++i) {
      const double share = found.shares[i];
      EXPECT_LE(share, last);
      last = share;
      EXPECT_LT((products.col(i) - share * directions.row(i).transpose()).cwiseAbs().maxCoeff(), 1e-6);
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
  const auto map = best_linear_map(rows_of(from, kCols), rows_of(to, kCols), {});
  const Matrix missed = matrix_of(to, kCols) - matrix_of(from, kCols) * matrix_of(map, kCols);
  EXPECT_LT((matrix_of(from, kCols).transpose() * missed).cwiseAbs().maxCoeff(), 1e-4);
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
