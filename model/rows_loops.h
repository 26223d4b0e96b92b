#pragma once
#include "model/panels.h"

/// The loops of RowKernels, for a compiler to make vectors of: written so that nothing but their width
/// depends on the processor. They include nothing of a library, as panels.h says.
namespace headscope::model {
namespace {

constexpr float kInfinity = __builtin_inff();

/// Floats that loops take at a time. Element i always adds to partial sum i % kGroup, whatever the length, so
/// that the compiler may use vectors of any width without changing a result.
constexpr int kGroup = 16;

/// Free of branches and of calls, so that loops over it become vector code.
/// x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r; the polynomial for e^r is that of Cephes' expf
/// (Moshier).
inline float exp_lane(float x) {
  constexpr float kLowest = -104.0F;  // below: less than half the smallest subnormal
  constexpr float kHighest = 89.0F;   // above: more than the largest float
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

  const float clamped = x > kLowest ? (x < kHighest ? x : kHighest) : kLowest;
  const float rounded = clamped * kLog2E + kRounder;
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
  const int whole = __builtin_bit_cast(int, rounded) - __builtin_bit_cast(int, kRounder);
  const int half = whole >> 1;
  const float first = __builtin_bit_cast(float, (half + 127) << 23);
  const float second = __builtin_bit_cast(float, (whole - half + 127) << 23);
  const float result = x < kLowest ? 0.0F : p * first * second;
  return x == x ? result : x;
}

/// Calls body on whole groups of kGroup floats of row [n]; the rest of the row is copied into a group filled
/// up with `filler`, and back when kWrites.
template <bool kWrites, class Float, class Body>
void for_groups(Float* row, int n, float filler, const Body& body) {
  int i = 0;
  for (; i + kGroup <= n; i += kGroup) body(row + i);
  if (i == n) return;
  float group[kGroup];
  for (int lane = 0; lane < kGroup; ++lane) group[lane] = i + lane < n ? row[i + lane] : filler;
  body(group);
  if constexpr (kWrites) {
    for (int lane = 0; i + lane < n; ++lane) row[i + lane] = group[lane];
  }
}

float largest_of(const float (&lanes)[kGroup]) {
  float most = -kInfinity;
  for (const float lane : lanes) most = lane > most ? lane : most;
  return most;
}

float sum_of(const float (&lanes)[kGroup]) {
  float total = 0;
  for (const float lane : lanes) total += lane;
  return total;
}

float largest_in_row(const float* x, int n) {
  float lanes[kGroup];
  for (float& lane : lanes) lane = -kInfinity;
  for_groups<false>(x, n, -kInfinity, [&](const float* group) {
    for (int lane = 0; lane < kGroup; ++lane)
      lanes[lane] = group[lane] > lanes[lane] ? group[lane] : lanes[lane];
  });
  return largest_of(lanes);
}

double sum_of_exp_in_row(const float* x, int n, float shift) {
  constexpr int kTermsPerSum = 4 * kGroup;
  double total = 0;
  for (int first = 0; first < n; first += kTermsPerSum) {
    float lanes[kGroup] = {};
    const int count = n - first < kTermsPerSum ? n - first : kTermsPerSum;
    for_groups<false>(x + first, count, -kInfinity, [&](const float* group) {
      for (int lane = 0; lane < kGroup; ++lane) lanes[lane] += exp_lane(group[lane] - shift);
    });
    total += static_cast<double>(sum_of(lanes));
  }
  return total;
}

void softmax_in_row(float scale, float* row, int n) {
  float lanes[kGroup];
  for (float& lane : lanes) lane = -kInfinity;
  for_groups<true>(row, n, -kInfinity, [&](float* x) {
    for (int lane = 0; lane < kGroup; ++lane) {
      x[lane] *= scale;
      lanes[lane] = x[lane] > lanes[lane] ? x[lane] : lanes[lane];
    }
  });
  const float most = largest_of(lanes);
  if (most == -kInfinity) {
    for (int i = 0; i < n; ++i) row[i] = 0;
    return;
  }
  for (float& lane : lanes) lane = 0;
  for_groups<true>(row, n, -kInfinity, [&](float* x) {
    for (int lane = 0; lane < kGroup; ++lane) {
      x[lane] = exp_lane(x[lane] - most);
      lanes[lane] += x[lane];
    }
  });
  const float part = 1.0F / sum_of(lanes);
  for (int i = 0; i < n; ++i) row[i] *= part;
}

void exp_in_row(float* row, int n) {
  for (int i = 0; i < n; ++i) row[i] = exp_lane(row[i]);
}

void gelu_new_in_row(float* row, int n) {
  // 0.5 (1 + tanh u) = 1 / (1 + e^-2u)
  constexpr float kMinusTwoRootTwoOverPi = -1.5957691216057308F;
  for (int i = 0; i < n; ++i) {
    const float x = row[i];
    row[i] = x / (1.0F + exp_lane(kMinusTwoRootTwoOverPi * (x + 0.044715F * x * x * x)));
  }
}

void silu_in_row(float* row, int n) {
  for (int i = 0; i < n; ++i) row[i] = row[i] / (1.0F + exp_lane(-row[i]));
}

int count_above_in_row(const float* x, int n, float bound) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += x[i] > bound ? 1 : 0;
  return count;
}

int count_from_in_row(const float* x, int n, float bound) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += x[i] >= bound ? 1 : 0;
  return count;
}

constexpr RowKernels row_kernels() {
  return {largest_in_row,  sum_of_exp_in_row, softmax_in_row,     exp_in_row,
          gelu_new_in_row, silu_in_row,       count_above_in_row, count_from_in_row};
}

}  // namespace
}  // namespace headscope::model
