#pragma once
#include "model/kernels/panels.h"

#define INLINE __attribute__((always_inline))

/// The loops of RowKernels over an instruction set `S` (see panels_loops.h), in groups of 16 floats: sums are
/// the same for any vector width, given whether `S` fuses. Library headers must not be included, see
/// panels.h.
namespace headscope::model {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr float kNotANumber = __builtin_nanf("");

constexpr int kGroup = 16;
template <class S>
constexpr int kParts = kGroup / S::kLanes;  ///< vectors of a group

/// Calls body(i, j) for all i < kRows and j < kCols, unrolled: in a loop, the compiler would keep an array
/// that body indexes in memory instead of registers.
template <int kRows, int kCols, int kAt = 0, class Body>
INLINE inline void unrolled(const Body& body) {
  if constexpr (kAt < kRows * kCols) {
    body(kAt / kCols, kAt % kCols);
    unrolled<kRows, kCols, kAt + 1>(body);
  }
}

/// e^x. x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r; the polynomial for e^r is that of Cephes' expf
/// (Moshier).
template <class S>
INLINE inline typename S::Vector exp_of(typename S::Vector x) {
  using V = typename S::Vector;
  using Ints = typename S::Ints;
  const auto all = [](float value) INLINE { return S::broadcast(value); };
  const V lowest = all(-104.0F);  // below: less than half the smallest subnormal
  const V highest = all(89.0F);   // above: more than the largest float
  const V log2_e = all(1.44269504F), minus_ln2_high = all(-0.693359375F), minus_ln2_low = all(2.12194440e-4F);
  const V rounder = all(12582912.0F);  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

  const V not_high = x < highest ? x : highest;
  const V clamped = x > lowest ? not_high : lowest;
  const V rounded = S::fma(clamped, log2_e, rounder);
  const V n = rounded - rounder;
  const V r = S::fma(n, minus_ln2_low, S::fma(n, minus_ln2_high, clamped));
  V p = all(1.9875691500e-4F);
  p = S::fma(p, r, all(1.3981999507e-3F));
  p = S::fma(p, r, all(8.3334519073e-3F));
  p = S::fma(p, r, all(4.1665795894e-2F));
  p = S::fma(p, r, all(1.6666665459e-1F));
  p = S::fma(p, r, all(5.0000001201e-1F));
  p = S::fma(p, r * r, r) + all(1.0F);
  // 2^n as a product of two powers: n itself may lie outside the exponents of normal floats.
  const Ints whole = __builtin_bit_cast(Ints, rounded) - __builtin_bit_cast(Ints, rounder);
  const Ints half = whole >> 1;
  const Ints first = (half + 127) << 23, second = (whole - half + 127) << 23;
  const V power = p * __builtin_bit_cast(V, first) * __builtin_bit_cast(V, second);
  const V result = x < lowest ? S::zero() : power;
  return x == x ? result : x;
}

/// Calls body(vector, index in its group) for row [n]; the last group is padded with `filler`. kWrites: the
/// result of body replaces the vector.
template <class S, bool kWrites, class Float, class Body>
INLINE inline void for_vectors(Float* row, int n, float filler, const Body& body) {
  const auto group = [&](auto* at) INLINE {
    unrolled<kParts<S>, 1>([&](int part, int) INLINE {
      auto* place = at + part * S::kLanes;
      if constexpr (kWrites) {
        S::store(place, body(S::load(place), part));
      } else {
        body(S::load(place), part);
      }
    });
  };
  int i = 0;
  for (; i + kGroup <= n; i += kGroup) group(row + i);
  if (i == n) return;
  float rest[kGroup];
  for (int lane = 0; lane < kGroup; ++lane) rest[lane] = i + lane < n ? row[i + lane] : filler;
  group(rest);
  if constexpr (kWrites) {
    for (int lane = 0; i + lane < n; ++lane) row[i + lane] = rest[lane];
  }
}

/// A group of accumulators.
template <class S>
struct Group {
  typename S::Vector parts[kParts<S>];

  explicit INLINE Group(float start) {
    unrolled<kParts<S>, 1>([&](int part, int) INLINE { parts[part] = S::broadcast(start); });
  }
  INLINE void to(float (&lanes)[kGroup]) const {
    unrolled<kParts<S>, 1>([&](int part, int) INLINE { S::store(lanes + part * S::kLanes, parts[part]); });
  }
};

/// The maximum of the added values; NaN if one of them is NaN.
template <class S>
class Largest {
 public:
  INLINE void take(typename S::Vector x, int part) {
    most_.parts[part] = x > most_.parts[part] ? x : most_.parts[part];
    nan_.parts[part] =
        x == x ? nan_.parts[part] : x;  // separate from the maximum, so that steps do not wait for each other
  }
  float value() const {
    float most[kGroup], nan[kGroup], largest = -kInfinity;
    most_.to(most);
    nan_.to(nan);
    for (int lane = 0; lane < kGroup; ++lane) {
      if (nan[lane] != nan[lane]) return kNotANumber;
      largest = most[lane] > largest ? most[lane] : largest;
    }
    return largest;
  }

 private:
  Group<S> most_{-kInfinity}, nan_{0};
};

/// Adds up the group, always in the same order.
template <class S>
float sum_of(const Group<S>& group) {
  float lanes[kGroup], total = 0;
  group.to(lanes);
  for (const float lane : lanes) total += lane;
  return total;
}

template <class S>
float largest_in_row(const float* x, int n) {
  Largest<S> largest;
  for_vectors<S, false>(x, n, -kInfinity,
                        [&](typename S::Vector v, int part) INLINE { largest.take(v, part); });
  return largest.value();
}

template <class S>
double sum_of_exp_in_row(const float* x, int n, float shift) {
  constexpr int kTermsPerSum = 4 * kGroup;
  double total = 0;
  for (int first = 0; first < n; first += kTermsPerSum) {
    Group<S> sums(0);
    const int count = n - first < kTermsPerSum ? n - first : kTermsPerSum;
    for_vectors<S, false>(x + first, count, -kInfinity, [&](typename S::Vector v, int part) INLINE {
      sums.parts[part] = sums.parts[part] + exp_of<S>(v - S::broadcast(shift));
    });
    total += static_cast<double>(sum_of(sums));
  }
  return total;
}

template <class S>
void softmax_in_row(float scale, float* row, int n) {
  using V = typename S::Vector;
  Largest<S> largest;
  for_vectors<S, false>(row, n, -kInfinity,
                        [&](V v, int part) INLINE { largest.take(v * S::broadcast(scale), part); });
  const float most = largest.value();
  const bool finite = most - most == 0;
  if (!finite) {  // -inf: every cell is -inf; NaN or inf: the result is NaN except at cells of -inf
    for (int i = 0; i < n; ++i) row[i] = scale * row[i] == -kInfinity ? 0 : kNotANumber;
    return;
  }
  Group<S> sums(0);
  for_vectors<S, true>(row, n, -kInfinity, [&](V v, int part) INLINE {
    const V power = exp_of<S>(v * S::broadcast(scale) - S::broadcast(most));
    sums.parts[part] = sums.parts[part] + power;
    return power;
  });
  const float share = 1.0F / sum_of(sums);
  for (int i = 0; i < n; ++i) row[i] *= share;
}

template <class S>
void exp_in_row(float* row, int n) {
  for_vectors<S, true>(row, n, 0, [&](typename S::Vector x, int) INLINE { return exp_of<S>(x); });
}

/// x / (1 + e^power)
template <class S>
INLINE inline typename S::Vector over_one_plus_exp(typename S::Vector x, typename S::Vector power) {
  return x / (S::broadcast(1.0F) + exp_of<S>(power));
}

template <class S>
void gelu_new_in_row(float* row, int n) {
  // 0.5 (1 + tanh u) = 1 / (1 + e^-2u)
  constexpr float kMinusTwoRootTwoOverPi = -1.5957691216057308F;
  for_vectors<S, true>(row, n, 0, [&](typename S::Vector x, int) INLINE {
    const auto u = S::fma(S::broadcast(0.044715F) * x * x, x, x);
    return over_one_plus_exp<S>(x, S::broadcast(kMinusTwoRootTwoOverPi) * u);
  });
}

template <class S>
void silu_in_row(float* row, int n) {
  for_vectors<S, true>(row, n, 0,
                       [&](typename S::Vector x, int) INLINE { return over_one_plus_exp<S>(x, -x); });
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

template <class S>
constexpr RowKernels row_kernels() {
  return {largest_in_row<S>,  sum_of_exp_in_row<S>, softmax_in_row<S>,  exp_in_row<S>,
          gelu_new_in_row<S>, silu_in_row<S>,       count_above_in_row, count_from_in_row};
}

}  // namespace
}  // namespace headscope::model
