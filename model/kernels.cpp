#include "model/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace headscope::model {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Floats that loops take at a time. Element i always adds to partial sum i % kLanes, whatever the length, so
/// that the compiler may use vectors of any width without changing a result.
constexpr std::size_t kLanes = 16;

/// Free of branches and of calls, so that loops over it become vector code.
/// x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r; the polynomial for e^r is that of Cephes' expf
/// (Moshier).
inline float exp_lane(float x) {
  constexpr float kLowest = -104.0F;  // below: less than half the smallest subnormal
  constexpr float kHighest = 89.0F;   // above: more than the largest float
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

  const float clamped = x > kLowest ? (x < kHighest ? x : kHighest) : kLowest;
  const float rounded = clamped * std::numbers::log2e_v<float> + kRounder;
  const float n = rounded - kRounder;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // 2^n as a product of two powers: n itself may lie outside the exponents of normal floats.
  const auto whole = std::bit_cast<std::int32_t>(rounded) - std::bit_cast<std::int32_t>(kRounder);
  const std::int32_t half = whole >> 1;
  const auto first = std::bit_cast<float>((half + 127) << 23);
  const auto second = std::bit_cast<float>((whole - half + 127) << 23);
  const float result = x < kLowest ? 0.0F : p * first * second;
  return x == x ? result : x;
}

/// Calls body on whole groups of kLanes floats of `row`; the rest of the row is copied into a group filled up
/// with `filler`.
template <class T, class Body>
void for_groups(std::span<T> row, float filler, const Body& body) {
  const std::size_t whole = row.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) body(row.data() + i);
  if (whole == row.size()) return;
  std::array<float, kLanes> group;
  group.fill(filler);
  std::copy(row.begin() + static_cast<std::ptrdiff_t>(whole), row.end(), group.begin());
  body(group.data());
  if constexpr (!std::is_const_v<T>) {
    std::copy_n(group.begin(), row.size() - whole, row.begin() + static_cast<std::ptrdiff_t>(whole));
  }
}

/// Sums term(i) over [0, n) in double.
template <class Term>
double sum(std::size_t n, const Term& term) {
  constexpr std::size_t kDoubles = 8;
  std::array<double, kDoubles> partial{};
  const std::size_t whole = n / kDoubles * kDoubles;
  for (std::size_t i = 0; i < whole; i += kDoubles) {
    for (std::size_t lane = 0; lane < kDoubles; ++lane) partial[lane] += term(i + lane);
  }
  for (std::size_t i = whole; i < n; ++i) partial[i - whole] += term(i);
  double total = 0;
  for (const double value : partial) total += value;
  return total;
}

float gelu_new(float x) {
  // 0.5 (1 + tanh u) = 1 / (1 + e^-2u)
  constexpr float kMinusTwoRootTwoOverPi = -1.5957691216057308F;
  return x / (1.0F + exp_lane(kMinusTwoRootTwoOverPi * (x + 0.044715F * x * x * x)));
}

float silu(float x) {
  return x / (1.0F + exp_lane(-x));
}

float gelu(float x) {
  return 0.5F * x * std::erfc(-x / std::numbers::sqrt2_v<float>);
}

}  // namespace

float exp(float x) {
  return exp_lane(x);
}

float largest(std::span<const float> x) {
  std::array<float, kLanes> lanes;
  lanes.fill(-kInfinity);
  for_groups(x, -kInfinity, [&](const float* group) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = group[lane] > lanes[lane] ? group[lane] : lanes[lane];
  });
  return *std::max_element(lanes.begin(), lanes.end());
}

double sum_of_exp(std::span<const float> x, float shift) {
  constexpr std::size_t kTermsPerSum = 4 * kLanes;
  double total = 0;
  for (std::size_t first = 0; first < x.size(); first += kTermsPerSum) {
    std::array<float, kLanes> lanes{};
    for_groups(x.subspan(first, std::min(kTermsPerSum, x.size() - first)), -kInfinity, [&](const float* group) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += exp_lane(group[lane] - shift);
    });
    for (const float lane : lanes) total += lane;
  }
  return total;
}

float center(std::span<const float> x, float epsilon, std::span<float> centered) {
  const auto n = static_cast<double>(x.size());
  const auto mean = sum(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]); }) / n;
  for (std::size_t i = 0; i < x.size(); ++i) centered[i] = static_cast<float>(x[i] - mean);
  const double squares = sum(x.size(), [&](std::size_t i) {
    const double value = x[i] - mean;
    return value * value;
  });
  return static_cast<float>(std::sqrt(squares / n + epsilon));
}

void divide(std::span<float> row, float scale) {
  for (float& value : row) value /= scale;
}

void apply_gain_and_bias(std::span<const float> gain, std::span<const float> bias, std::span<float> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] * gain[i] + bias[i];
}

void add(std::span<const float> other, std::span<float> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += other[i];
}

void activate(Activation activation, std::span<float> row) {
  switch (activation) {
    case Activation::gelu_new:
      for (float& x : row) x = gelu_new(x);
      break;
    case Activation::gelu:
      for (float& x : row) x = gelu(x);
      break;
    case Activation::relu:
      for (float& x : row) x = x < 0 ? 0 : x;
      break;
    case Activation::silu:
      for (float& x : row) x = silu(x);
      break;
    case Activation::tanh:
      for (float& x : row) x = std::tanh(x);
      break;
  }
}

float softmax_numerators(float scale, std::span<float> row) {
  const float most = scale * largest(row);
  if (most == -kInfinity) {
    std::fill(row.begin(), row.end(), 0.0F);
    return 1;
  }

  std::array<float, kLanes> lanes;
  lanes.fill(0);
  for_groups(row, -kInfinity, [&](float* x) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      x[lane] = exp_lane(scale * x[lane] - most);
      lanes[lane] += x[lane];
    }
  });
  float total = 0;
  for (const float lane : lanes) total += lane;
  return total;
}

void softmax(std::span<float> row) {
  divide(row, softmax_numerators(1, row));
}

}  // namespace headscope::model
