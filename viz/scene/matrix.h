#pragma once
#include <cassert>
#include <cstddef>
#include <span>

namespace headscope::viz {

/// A view of floats as rows and columns; owns nothing.
struct Matrix {
  const float* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t col_stride = 1;

  static Matrix row_major(std::span<const float> values, int rows, int cols) {
    assert(values.size() >= static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    return {values.data(), rows, cols, cols, 1};
  }
  static Matrix row(std::span<const float> values) {
    return row_major(values, 1, static_cast<int>(values.size()));
  }

  float at(int row, int col) const { return data[row * row_stride + col * col_stride]; }
  Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

}  // namespace headscope::viz
