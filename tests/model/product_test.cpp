#include "model/product.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstring>
#include <random>
#include <vector>

namespace headscope::model {
namespace {

/// A matrix kept in some precision, and the exact numbers that it holds.
struct Matrix {
  std::vector<float> floats;
  std::vector<Eigen::half> halves;
  std::vector<Eigen::bfloat16> brains;
  WeightMatrix view;
};

Matrix random_matrix(int rows, int cols, Precision precision, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  Matrix m;
  m.floats.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  for (float& value : m.floats) value = normal(generator);
  const void* data = m.floats.data();
  if (precision == Precision::f16) {
    for (float& value : m.floats) value = static_cast<float>(m.halves.emplace_back(value));
    data = m.halves.data();
  } else if (precision == Precision::bf16) {
    for (float& value : m.floats) value = static_cast<float>(m.brains.emplace_back(value));
    data = m.brains.data();
  }
  m.view = {data, rows, cols, precision};
  return m;
}

class Product : public ::testing::TestWithParam<Precision> {
 protected:
  std::mt19937 generator{7};
};

double expected_cell(const std::vector<float>& x, const std::vector<float>& w, int in, int out, int row,
                     int col) {
  double sum = 0;
  for (int k = 0; k < in; ++k) {
    sum += static_cast<double>(x[static_cast<std::size_t>(row * in + k)]) *
           w[static_cast<std::size_t>(k * out + col)];
  }
  return sum;
}

TEST_P(Product, LinearIsThatOfDoublesForAnyShape) {
  Workers workers(2);
  for (const int rows : {1, 2, 3, 8, 41, 65}) {
    for (const auto& [in, out] : {std::pair{1, 1}, {5, 3}, {30, 193}, {600, 400}, {513, 17}}) {
      const Matrix w = random_matrix(in, out, GetParam(), generator);
      const Matrix x = random_matrix(rows, in, Precision::f32, generator);
      const Matrix bias = random_matrix(1, out, Precision::f32, generator);
      // y stands amid other numbers, which must stay.
      const int stride = out + 3;
      std::vector<float> y(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride), 99.0F);
      linear({x.floats.data(), rows, in, in}, {w.view, bias.floats}, workers, {y.data(), rows, out, stride});
      for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < stride; ++col) {
          const float found = y[static_cast<std::size_t>(row * stride + col)];
          if (col >= out) {
            ASSERT_EQ(found, 99.0F);
          } else {
            ASSERT_NEAR(found,
                        expected_cell(x.floats, w.floats, in, out, row, col) +
                            bias.floats[static_cast<std::size_t>(col)],
                        2e-6 * in + 1e-5);
          }
        }
      }
    }
  }
}

TEST_P(Product, WithRowsAndSlicesAndWidenedRows) {
  Workers workers(2);
  constexpr int kVocab = 301, kWidth = 33, kFirst = 20, kCount = 270, kRows = 4;
  const Matrix w = random_matrix(kVocab, kWidth, GetParam(), generator);
  const auto cell = [&](int row, int col) { return w.floats[static_cast<std::size_t>(row * kWidth + col)]; };

  const Matrix x = random_matrix(kRows, kWidth, Precision::f32, generator);
  std::vector<float> y(kRows * kCount);
  product_with_rows({x.floats.data(), kRows, kWidth, kWidth}, w.view, kFirst, workers,
                    {y.data(), kRows, kCount, kCount});
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCount; ++col) {
      double sum = 0;
      for (int k = 0; k < kWidth; ++k) {
        sum +=
            static_cast<double>(x.floats[static_cast<std::size_t>(row * kWidth + k)]) * cell(kFirst + col, k);
      }
      ASSERT_NEAR(y[static_cast<std::size_t>(row * kCount + col)], sum, 1e-4);
    }
  }

  std::vector<float> z(kRows * kWidth);
  const Matrix p = random_matrix(kRows, kCount, Precision::f32, generator);
  product_with_slice({p.floats.data(), kRows, kCount, kCount}, w.view, kFirst, workers,
                     {z.data(), kRows, kWidth, kWidth});
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kWidth; ++col) {
      double sum = 0;
      for (int k = 0; k < kCount; ++k) {
        sum +=
            static_cast<double>(p.floats[static_cast<std::size_t>(row * kCount + k)]) * cell(kFirst + k, col);
      }
      ASSERT_NEAR(z[static_cast<std::size_t>(row * kWidth + col)], sum, 1e-3);
    }
  }

  std::vector<float> row(kWidth);
  widen_row(fastest_kernels(), w.view, 300, row);
  for (int col = 0; col < kWidth; ++col) EXPECT_EQ(row[static_cast<std::size_t>(col)], cell(300, col));
}

TEST_P(Product, IsTheSameToTheBitForAnyNumberOfThreads) {
  constexpr int kIn = 96, kOut = 1000;
  const Matrix w = random_matrix(kIn, kOut, GetParam(), generator);
  const Matrix bias = random_matrix(1, kOut, Precision::f32, generator);
  for (const int rows : {1, 2, 33}) {
    const Matrix x = random_matrix(rows, kIn, Precision::f32, generator);
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3, 7}) {
      Workers workers(threads);
      std::vector<float> y(static_cast<std::size_t>(rows) * kOut);
      linear({x.floats.data(), rows, kIn, kIn}, {w.view, bias.floats}, workers, {y.data(), rows, kOut, kOut});
      results.push_back(y);
      EXPECT_EQ(std::memcmp(results[0].data(), y.data(), y.size() * sizeof(float)), 0)
          << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Product,
                         ::testing::Values(Precision::f32, Precision::f16, Precision::bf16));

}  // namespace
}  // namespace headscope::model
