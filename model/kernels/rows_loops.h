#pragma once
#include "model/kernels/panels.h"
#include "model/kernels/vectors.h"

/// The loops of RowKernels, in groups of 16 floats: sums are the same for any vector width, given whether
/// multiply-adds are fused. Library headers must not be included, see panels.h.
namespace headscope::model {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr float kNotANumber = __builtin_nanf("");

constexpr int kGroup = 16;
constexpr int kParts = kGroup / kLanes;  ///< vectors of a group

/// e^x. x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r; the polynomial for e^r is that of Cephes' expf
/// (Moshier).
INLINE inline Vector exp_of(Vector x) {
  const Vector lowest = broadcast(-104.0F);  // below: less than half the smallest subnormal
  const Vector highest = broadcast(89.0F);   // above: more than the largest float
  const Vector log2_e = broadcast(1.44269504F), minus_ln2_high = broadcast(-0.693359375F),
               minus_ln2_low = broadcast(2.12194440e-4F);
  const Vector rounder =
      broadcast(12582912.0F);  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

  const Vector not_high = x < highest ? x : highest;
  const Vector clamped = x > lowest ? not_high : lowest;
  const Vector rounded = fma(clamped, log2_e, rounder);
  const Vector n = rounded - rounder;
  const Vector r = fma(n, minus_ln2_low, fma(n, minus_ln2_high, clamped));
  Vector p = broadcast(1.9875691500e-4F);
  p = fma(p, r, broadcast(1.3981999507e-3F));
  p = fma(p, r, broadcast(8.3334519073e-3F));
  p = fma(p, r, broadcast(4.1665795894e-2F));
  p = fma(p, r, broadcast(1.6666665459e-1F));
  p = fma(p, r, broadcast(5.0000001201e-1F));
  p = fma(p, r * r, r) + broadcast(1.0F);
  // 2^n as a product of two powers: n itself may lie outside the exponents of normal floats.
  const Ints whole = __builtin_bit_cast(Ints, rounded) - __builtin_bit_cast(Ints, rounder);
  const Ints half = whole >> 1;
  const Ints first = (half + 127) << 23, second = (whole - half + 127) << 23;
  const Vector power = p * __builtin_bit_cast(Vector, first) * __builtin_bit_cast(Vector, second);
  const Vector result = x < lowest ? Vector{} : power;
  return x == x ? result : x;
}

/// Calls body(vector, index in its group) for row [n]; the last group is padded with `filler`. kWrites: the
/// result of body replaces the vector.
template <bool kWrites, class Float, class Body>
INLINE inline void for_vectors(Float* row, int n, float filler, const Body& body) {
  const auto group = [&](auto* at) INLINE {
    unrolled<kParts, 1>([&](int part, int) INLINE {
      auto* place = at + part * kLanes;
      if constexpr (kWrites) {
        store(place, body(load(place), part));
      } else {
        body(load(place), part);
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
struct Group {
  Vector parts[kParts];

  explicit INLINE Group(float start) {
    unrolled<kParts, 1>([&](int part, int) INLINE { parts[part] = broadcast(start); });
  }
  INLINE void to(float (&lanes)[kGroup]) const {
    unrolled<kParts, 1>([&](int part, int) INLINE { store(lanes + part * kLanes, parts[part]); });
  }
};

/// The maximum of the added values; NaN if one of them is NaN.
class Largest {
 public:
  INLINE void take(Vector x, int part) {
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
  Group most_{-kInfinity}, nan_{0};
};

/// Adds up the group, always in the same order.
float sum_of(const Group& group) {
  float lanes[kGroup], total = 0;
  group.to(lanes);
  for (const float lane : lanes) total += lane;
  return total;
}

float largest_in_row(const float* x, int n) {
  Largest largest;
  for_vectors<false>(x, n, -kInfinity, [&](Vector v, int part) INLINE { largest.take(v, part); });
  return largest.value();
}

double sum_of_exp_in_row(const float* x, int n, float shift) {
  constexpr int kTermsPerSum = 4 * kGroup;
  double total = 0;
  for (int first = 0; first < n; first += kTermsPerSum) {
    Group sums(0);
    const int count = n - first < kTermsPerSum ? n - first : kTermsPerSum;
    for_vectors<false>(x + first, count, -kInfinity, [&](Vector v, int part) INLINE {
      sums.parts[part] = sums.parts[part] + exp_of(v - broadcast(shift));
    });
    total += static_cast<double>(sum_of(sums));
  }
  return total;
}

void softmax_in_row(float scale, float* row, int n) {
  Largest largest;
  for_vectors<false>(row, n, -kInfinity,
                     [&](Vector v, int part) INLINE { largest.take(v * broadcast(scale), part); });
  const float most = largest.value();
  const bool finite = most - most == 0;
  if (!finite) {  // -inf: every cell is -inf; NaN or inf: the result is NaN except at cells of -inf
    for (int i = 0; i < n; ++i) row[i] = scale * row[i] == -kInfinity ? 0 : kNotANumber;
    return;
  }
  Group sums(0);
  for_vectors<true>(row, n, -kInfinity, [&](Vector v, int part) INLINE {
    const Vector power = exp_of(v * broadcast(scale) - broadcast(most));
    sums.parts[part] = sums.parts[part] + power;
    return power;
  });
  const float share = 1.0F / sum_of(sums);
  for (int i = 0; i < n; ++i) row[i] *= share;
}

void exp_in_row(float* row, int n) {
  for_vectors<true>(row, n, 0, [&](Vector x, int) INLINE { return exp_of(x); });
}

/// x / (1 + e^exponent)
INLINE inline Vector over_one_plus_exp(Vector x, Vector exponent) {
  return x / (broadcast(1.0F) + exp_of(exponent));
}

// gelu_new(x) = x s(2u), with u = sqrt(2/pi) (x + 0.044715 x^3) and the logistic s, since 0.5 (1 + tanh u) =
// s(2u).
constexpr float kTwoRootTwoOverPi = 1.5957691216057308F, kCubic = 0.044715F;
INLINE inline Vector minus_two_u(Vector x) {
  return broadcast(-kTwoRootTwoOverPi) * fma(broadcast(kCubic) * x * x, x, x);
}

void gelu_new_in_row(float* row, int n) {
  for_vectors<true>(row, n, 0, [&](Vector x, int) INLINE { return over_one_plus_exp(x, minus_two_u(x)); });
}

void silu_in_row(float* row, int n) {
  for_vectors<true>(row, n, 0, [&](Vector x, int) INLINE { return over_one_plus_exp(x, -x); });
}

/// x within [-100, 100]: beyond, slopes are those of straight lines, and their terms would overflow.
INLINE inline Vector limited(Vector x) {
  const Vector most = broadcast(100.0F), not_high = x > most ? most : x;
  return not_high < -most ? -most : not_high;
}

void gelu_new_slopes_in_row(float* row, int n) {
  for_vectors<true>(row, n, 0, [&](Vector unlimited, int) INLINE {
    const Vector x = limited(unlimited), s = over_one_plus_exp(broadcast(1.0F), minus_two_u(x));
    return s + x * s * (1.0F - s) * kTwoRootTwoOverPi * (1.0F + 3 * kCubic * x * x);
  });
}

void silu_slopes_in_row(float* row, int n) {
  for_vectors<true>(row, n, 0, [&](Vector unlimited, int) INLINE {
    const Vector x = limited(unlimited), s = over_one_plus_exp(broadcast(1.0F), -x);
    return s * (1.0F + x * (1.0F - s));
  });
}

constexpr RowKernels kRowKernels = {
    largest_in_row,  sum_of_exp_in_row, softmax_in_row,         exp_in_row,
    gelu_new_in_row, silu_in_row,       gelu_new_slopes_in_row, silu_slopes_in_row};

}  // namespace
}  // namespace headscope::model
