#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace headscope::app {

/// The product of two vectors of float32, the sum in double.
inline double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}
inline std::vector<float> vector_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}
inline std::vector<double> in_double(std::span<const float> values) {
  return {values.begin(), values.end()};
}
/// Euclidean.
inline double norm_of(std::span<const float> vector) {
  return std::sqrt(dot(vector, vector));
}
/// Cosine of the angle between two vectors; NaN if one of them is 0.
inline double cosine_of(std::span<const float> a, std::span<const float> b) {
  return dot(a, b) / (norm_of(a) * norm_of(b));
}

/// The difference of two numbers; 0 if they are equal, also if both are infinite.
template <class T>
T difference(T after, T before) {
  return after == before ? T{0} : after - before;
}
/// The component-wise difference, as far as both vectors go.
inline std::vector<float> difference_of(std::span<const float> a, std::span<const float> b) {
  std::vector<float> result(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

}  // namespace headscope::app
