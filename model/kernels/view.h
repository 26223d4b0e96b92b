#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace headscope::model {

/// a / b, rounded up.
constexpr int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/// `rows` x `cols` elements in memory owned by someone else, with `stride` elements between rows.
template <class T>
struct Rows {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t stride = 0;

  T* row_data(int i) const { return data + i * stride; }
  std::span<T> row(int i) const { return {row_data(i), static_cast<std::size_t>(cols)}; }
  Rows middle_rows(int first, int count) const { return {row_data(first), count, cols, stride}; }
  Rows middle_cols(int first, int count) const { return {data + first, rows, count, stride}; }
  operator Rows<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, stride}; }
};

using FloatRows = Rows<float>;
using ConstFloatRows = Rows<const float>;

/// A vector as rows of `cols` values.
inline FloatRows rows_of(std::vector<float>& values, int cols) {
  return {values.data(), static_cast<int>(std::ssize(values) / cols), cols, cols};
}
inline ConstFloatRows rows_of(const std::vector<float>& values, int cols) {
  return {values.data(), static_cast<int>(std::ssize(values) / cols), cols, cols};
}

/// to = from, of the same shape.
inline void copy(ConstFloatRows from, FloatRows to) {
  for (int i = 0; i < from.rows; ++i) std::ranges::copy(from.row(i), to.row_data(i));
}

}  // namespace headscope::model
