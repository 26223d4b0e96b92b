#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "app/run/prompt_run.h"

namespace headscope::app {

/// The product of two vectors of numbers, as far as the first goes; the sum in double.
double dot(const auto& a, const auto& b) {
  assert(a.size() <= b.size());
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
/// Subtracts from positions' numbers those of their counterparts in the baseline, where one without has 0.
/// Returns minus the sum of those in the baseline without a counterpart.
template <class Number>
Number subtract_counterparts(std::vector<Number>& numbers, std::vector<Number> before, const PromptRun& run) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int there = counterpart_of(run, static_cast<int>(i));
    if (there < 0 || there >= std::ssize(before)) continue;
    numbers[i] -= before[there];
    before[there] = 0;
  }
  return -std::accumulate(before.begin(), before.end(), Number{0});
}

}  // namespace headscope::app
