#include "model/kernels/panels_loops.h"

namespace headscope::model {
namespace {

/// Four floats at a time, in portable vectors that any compiler target supports.
struct Plain {
  using Vector = float __attribute__((vector_size(16)));
  using Ints = int __attribute__((vector_size(16)));
  static constexpr int kLanes = 4;
  static constexpr bool kFused = false;  // fusing in software takes a hundred times as long
  static constexpr int kRows = 6;
  static constexpr int kVectorsTogether = 2;
  static constexpr int vectors(int rows) { return rows > 3 ? 2 : rows > 1 ? 4 : 8; }  // at most 12 sums

  static Vector zero() { return Vector{}; }
  static Vector broadcast(float x) { return Vector{x, x, x, x}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }

  static float widen(float x) { return x; }
  static float widen(Brain x) { return __builtin_bit_cast(float, static_cast<unsigned>(x.bits) << 16); }
  static float widen(Half x) {
    const unsigned sign = (x.bits & 0x8000U) << 16;
    const unsigned rest = (x.bits & 0x7fffU) << 13;  // exponent and fraction, at float32's bit positions
    constexpr unsigned kLargestExponent = 31U << 23;
    if (rest >= kLargestExponent) return __builtin_bit_cast(float, sign | rest | 0x7f800000U);  // inf, NaN
    constexpr float kTwoTo112 =
        5192296858534827628530496329220096.0F;  // 2^112: the exponent biases differ by 112
    const float magnitude = __builtin_bit_cast(float, rest) * kTwoTo112;
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, magnitude));
  }

  template <class T>
  static Vector load(const T* p) {
    return Vector{widen(p[0]), widen(p[1]), widen(p[2]), widen(p[3])};
  }
  template <class T>
  static Vector load_first(const T* p, int n) {
    Vector v{};
    for (int i = 0; i < n; ++i) v[i] = widen(p[i]);
    return v;
  }
  static void store(float* p, Vector v) { __builtin_memcpy(p, &v, sizeof v); }
  static void store_first(float* p, Vector v, int n) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }

  static void transpose(Vector (&rows)[kLanes]) {
    for (int i = 0; i < kLanes; ++i) {
      for (int j = 0; j < i; ++j) {
        const float above = rows[j][i];
        rows[j][i] = rows[i][j];
        rows[i][j] = above;
      }
    }
  }
};

}  // namespace

PanelKernels plain_kernels() {
  return kernels_of<Plain>("plain");
}

}  // namespace headscope::model
