#pragma once
#include "model/panels.h"

#define INLINE __attribute__((always_inline))

/// The loops of RowKernels, in groups of 16 floats: the compiler makes of a group what vectors its processor
/// has, and nothing but their width depends on it. They include nothing of a library, as panels.h says.
namespace headscope::model {
namespace {

constexpr float kInfinity = __builtin_inff();

constexpr int kGroup = 16;
using Group = float __attribute__((vector_size(kGroup * sizeof(float))));
using IntGroup = int __attribute__((vector_size(kGroup * sizeof(int))));

INLINE inline Group load_group(const float* p) {
  Group group;
  __builtin_memcpy(&group, p, sizeof group);
  return group;
}

INLINE inline void store_group(float* p, const Group& group) {
  __builtin_memcpy(p, &group, sizeof group);
}

/// e^x. x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r; the polynomial for e^r is that of Cephes' expf
/// (Moshier).
INLINE inline Group exp_group(const Group& x) {
  constexpr float kLowest = -104.0F;  // below: less than half the smallest subnormal
  constexpr float kHighest = 89.0F;   // above: more than the largest float
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  const Group rounder =
      Group{} + 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

  const Group not_high = x < kHighest ? x : Group{} + kHighest;
  const Group clamped = x > kLowest ? not_high : Group{} + kLowest;
  const Group rounded = clamped * kLog2E + rounder;
  const Group n = rounded - rounder;
  const Group r = (clamped - n * kLn2High) - n * kLn2Low;
  Group p = Group{} + 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // 2^n as a product of two powers: n itself may lie outside the exponents of normal floats.
  const IntGroup whole = __builtin_bit_cast(IntGroup, rounded) - __builtin_bit_cast(IntGroup, rounder);
  const IntGroup half = whole >> 1;
  const IntGroup first = (half + 127) << 23, second = (whole - half + 127) << 23;
  const Group power = p * __builtin_bit_cast(Group, first) * __builtin_bit_cast(Group, second);
  const Group result = x < kLowest ? Group{} : power;
  return x == x ? result : x;
}

/// Calls body(group) for whole groups of row [n]; the rest of the row is filled up with `filler`. kWrites:
/// what body returns takes the group's place.
template <bool kWrites, class Float, class Body>
INLINE inline void for_groups(Float* row, int n, float filler, const Body& body) {
  int i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    if constexpr (kWrites) {
      store_group(row + i, body(load_group(row + i)));
    } else {
      body(load_group(row + i));
    }
  }
  if (i == n) return;
  float rest[kGroup];
  for (int lane = 0; lane < kGroup; ++lane) rest[lane] = i + lane < n ? row[i + lane] : filler;
  if constexpr (kWrites) {
    store_group(rest, body(load_group(rest)));
    for (int lane = 0; i + lane < n; ++lane) row[i + lane] = rest[lane];
  } else {
    body(load_group(rest));
  }
}

INLINE inline float largest_of(const Group& group) {
  float most = -kInfinity;
  for (int lane = 0; lane < kGroup; ++lane) most = group[lane] > most ? group[lane] : most;
  return most;
}

/// Always in the same order.
INLINE inline float sum_of(const Group& group) {
  float total = 0;
  for (int lane = 0; lane < kGroup; ++lane) total += group[lane];
  return total;
}

float largest_in_row(const float* x, int n) {
  Group most = Group{} - kInfinity;
  for_groups<false>(x, n, -kInfinity, [&](const Group& group) INLINE { most = group > most ? group : most; });
  return largest_of(most);
}

double sum_of_exp_in_row(const float* x, int n, float shift) {
  constexpr int kTermsPerSum = 4 * kGroup;
  double total = 0;
  for (int first = 0; first < n; first += kTermsPerSum) {
    Group sums{};
    const int count = n - first < kTermsPerSum ? n - first : kTermsPerSum;
    for_groups<false>(x + first, count, -kInfinity,
                      [&](const Group& group) INLINE { sums += exp_group(group - shift); });
    total += static_cast<double>(sum_of(sums));
  }
  return total;
}

void softmax_in_row(float scale, float* row, int n) {
  Group largest = Group{} - kInfinity;
  for_groups<true>(row, n, -kInfinity, [&](const Group& group) INLINE {
    const Group scaled = group * scale;
    largest = scaled > largest ? scaled : largest;
    return scaled;
  });
  const float most = largest_of(largest);
  if (most == -kInfinity) {
    for (int i = 0; i < n; ++i) row[i] = 0;
    return;
  }
  Group sums{};
  for_groups<true>(row, n, -kInfinity, [&](const Group& group) INLINE {
    const Group power = exp_group(group - most);
    sums += power;
    return power;
  });
  const float part = 1.0F / sum_of(sums);
  for (int i = 0; i < n; ++i) row[i] *= part;
}

void exp_in_row(float* row, int n) {
  for_groups<true>(row, n, 0, [&](const Group& group) INLINE { return exp_group(group); });
}

void gelu_new_in_row(float* row, int n) {
  // 0.5 (1 + tanh u) = 1 / (1 + e^-2u)
  constexpr float kMinusTwoRootTwoOverPi = -1.5957691216057308F;
  for_groups<true>(row, n, 0, [&](const Group& x) INLINE {
    return x / (1.0F + exp_group(kMinusTwoRootTwoOverPi * (x + 0.044715F * x * x * x)));
  });
}

void silu_in_row(float* row, int n) {
  for_groups<true>(row, n, 0, [&](const Group& x) INLINE { return x / (1.0F + exp_group(-x)); });
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
