#include "model/panels.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

namespace headscope::model {
namespace {

constexpr float kUntouched = 99.0F;

/// A matrix [rows, cols] amid other numbers, in some precision, and the numbers that it holds.
struct Matrix {
  Matrix(int rows, int cols, Precision precision, std::mt19937& generator)
      : stride(cols + 5), floats(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride)) {
    std::normal_distribution<float> normal;
    for (float& value : floats) {
      value = normal(generator);
      if (precision == Precision::f16) {
        const Eigen::half half(value);
        value = static_cast<float>(half);
        bits.push_back(Eigen::numext::bit_cast<std::uint16_t>(half));
      } else if (precision == Precision::bf16) {
        const Eigen::bfloat16 brain(value);
        value = static_cast<float>(brain);
        bits.push_back(Eigen::numext::bit_cast<std::uint16_t>(brain));
      }
    }
    const void* data = floats.data();
    if (precision != Precision::f32) data = bits.data();
    elements = {data, stride, precision};
  }
  float operator()(int row, int col) const { return floats[static_cast<std::size_t>(row * stride + col)]; }

  int stride;
  std::vector<float> floats;
  std::vector<std::uint16_t> bits;
  Elements elements;
};

class Panels : public ::testing::TestWithParam<std::tuple<PanelKernels, Precision>> {
 protected:
  const PanelKernels& kernels() const { return std::get<0>(GetParam()); }
  Precision precision() const { return std::get<1>(GetParam()); }
  std::mt19937 generator{11};
};

std::vector<float> untouched(int rows, int stride) {
  return std::vector<float>(static_cast<std::size_t>(rows * stride), kUntouched);
}

/// Compares y [rows, cols], to the bound on the error of a sum in any order, with start(i, j) + sum over k of
/// x(i, k) * w(k, j), and what lies around it with kUntouched.
template <class Weight, class Start>
void expect_product(const std::vector<float>& y, int stride, const Matrix& x, const Weight& w, int rows,
                    int depth, int cols, const Start& start) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < stride; ++j) {
      const float found = y[static_cast<std::size_t>(i * stride + j)];
      if (j >= cols) {
        ASSERT_EQ(found, kUntouched);
        continue;
      }
      double sum = start(i, j), magnitude = std::abs(sum);
      for (int k = 0; k < depth; ++k) {
        const double term = static_cast<double>(x(i, k)) * w(k, j);
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(found, sum, 6e-8 * magnitude * (depth + 1))
          << rows << "x" << depth << "x" << cols << " at " << i << ", " << j;
    }
  }
}

TEST_P(Panels, MultiplyIsThatOfDoublesForAnyShape) {
  for (int rows = 1; rows <= 18; ++rows) {
    for (const auto& [depth, cols] : {std::pair{1, 1}, {7, 15}, {64, 64}, {200, 50}, {33, 401}}) {
      const Matrix x(rows, depth, Precision::f32, generator), w(depth, cols, precision(), generator);
      const Matrix bias(1, cols, Precision::f32, generator);
      const int stride = cols + 3;
      std::vector<float> y = untouched(rows, stride);
      Multiplication m{x.floats.data(), x.stride, w.elements, y.data(), stride, rows, depth, cols};
      kernels().multiply(m);
      expect_product(y, stride, x, w, rows, depth, cols, [](int, int) { return 0.0; });

      m.bias = bias.floats.data();
      kernels().multiply(m);
      expect_product(y, stride, x, w, rows, depth, cols, [&](int, int j) { return bias(0, j); });

      const std::vector<float> before = y;
      m.streams = true;
      kernels().multiply(m);
      EXPECT_EQ(std::memcmp(y.data(), before.data(), y.size() * sizeof(float)), 0);

      m.accumulate = true;
      kernels().multiply(m);
      expect_product(y, stride, x, w, rows, depth, cols,
                     [&](int i, int j) { return before[static_cast<std::size_t>(i * stride + j)]; });
    }
  }
}

/// What incremental runs rest on: a position's numbers do not depend on the company it is computed in.
TEST_P(Panels, ACellDoesNotDependOnTheRowsAndColumnsAround) {
  constexpr int kRows = 19, kDepth = 300, kCols = 130;
  const Matrix x(kRows, kDepth, Precision::f32, generator), w(kDepth, kCols, precision(), generator);
  std::vector<float> all(kRows * kCols), row(kCols);
  kernels().multiply(
      {x.floats.data(), x.stride, w.elements, all.data(), kCols, kRows, kDepth, kCols, nullptr, false, true});
  for (int i = 0; i < kRows; ++i) {
    kernels().multiply(
        {x.floats.data() + i * x.stride, x.stride, w.elements, row.data(), kCols, 1, kDepth, kCols});
    EXPECT_EQ(std::memcmp(row.data(), all.data() + i * kCols, sizeof(float) * kCols), 0) << "row " << i;
  }
}

TEST_P(Panels, DotsAreThoseOfDoublesForAnyShape) {
  for (int rows = 1; rows <= 9; ++rows) {
    for (const auto& [depth, cols] : {std::pair{1, 1}, {7, 5}, {64, 64}, {200, 9}, {33, 103}}) {
      const Matrix x(rows, depth, Precision::f32, generator), w(cols, depth, precision(), generator);
      const int stride = cols + 3;
      std::vector<float> y = untouched(rows, stride);
      kernels().dots({x.floats.data(), x.stride, w.elements, y.data(), stride, rows, depth, cols});
      expect_product(
          y, stride, x, [&](int k, int j) { return w(j, k); }, rows, depth, cols,
          [](int, int) { return 0.0; });
    }
  }
}

TEST_P(Panels, CopiesAndTransposes) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 17}, {16, 16}, {40, 33}, {64, 100}}) {
    const Matrix w(rows, cols, precision(), generator);
    const int copy_stride = cols + 2, transpose_stride = rows + 2;
    std::vector<float> copy = untouched(rows, copy_stride), transposed = untouched(cols, transpose_stride);
    kernels().copy(w.elements, rows, cols, copy.data(), copy_stride);
    kernels().transpose(w.elements, rows, cols, transposed.data(), transpose_stride);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) {
        ASSERT_EQ(copy[static_cast<std::size_t>(i * copy_stride + j)], w(i, j));
        ASSERT_EQ(transposed[static_cast<std::size_t>(j * transpose_stride + i)], w(i, j));
      }
      ASSERT_EQ(copy[static_cast<std::size_t>(i * copy_stride + cols)], kUntouched);
    }
    for (int j = 0; j < cols; ++j) {
      ASSERT_EQ(transposed[static_cast<std::size_t>(j * transpose_stride + rows)], kUntouched);
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<PanelKernels, Precision>>& info) {
  constexpr const char* kPrecisions[] = {"_f32", "_f16", "_bf16"};
  std::string name = std::get<0>(info.param).name;
  std::erase(name, '-');
  return name + kPrecisions[static_cast<std::size_t>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Kernels, Panels,
                         ::testing::Combine(::testing::ValuesIn(runnable_kernels()),
                                            ::testing::Values(Precision::f32, Precision::f16,
                                                              Precision::bf16)),
                         name_of);

/// Every number of 16 bits, against the meaning of its bits.
TEST(PanelsOf16Bits, AreWidenedExactly) {
  constexpr int kNumbers = 65536;
  std::vector<std::uint16_t> bits(kNumbers);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  for (const PanelKernels& kernels : runnable_kernels()) {
    std::vector<float> halves(kNumbers), brains(kNumbers);
    kernels.copy({bits.data(), kNumbers, Precision::f16}, 1, kNumbers, halves.data(), kNumbers);
    kernels.copy({bits.data(), kNumbers, Precision::bf16}, 1, kNumbers, brains.data(), kNumbers);
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
      const float brain = std::bit_cast<float>(i << 16);
      const int exponent = static_cast<int>(i >> 10 & 31), fraction = static_cast<int>(i & 1023);
      double half = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      if (exponent == 31) half = fraction == 0 ? INFINITY : NAN;
      if ((i & 0x8000) != 0) half = -half;
      if (std::isnan(half)) {
        EXPECT_TRUE(std::isnan(halves[i])) << kernels.name;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(halves[i]),
                  std::bit_cast<std::uint32_t>(static_cast<float>(half)))
            << kernels.name << " " << i;
      }
      if (std::isnan(brain)) {
        EXPECT_TRUE(std::isnan(brains[i])) << kernels.name;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(brains[i]), i << 16) << kernels.name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::model
