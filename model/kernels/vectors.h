#pragma once
#if defined(HEADSCOPE_AVX512) || defined(HEADSCOPE_AVX2)
#include <immintrin.h>
#elif defined(HEADSCOPE_NEON)
#include <arm_neon.h>
#endif

#define INLINE __attribute__((always_inline))

/// A register of floats, in the instruction set that a file is compiled for: the compiler's vectors, which it
/// maps to any registers, and intrinsics for the little that it would not find by itself.
namespace headscope::model {
namespace {

#if defined(HEADSCOPE_AVX512)
constexpr const char* kInstructions = "AVX-512";  // F, BW, DQ and VL
constexpr int kLanes = 16, kRegisters = 32;
constexpr bool kFused = true;
#elif defined(HEADSCOPE_AVX2)
constexpr const char* kInstructions = "AVX2";  // with FMA and F16C
constexpr int kLanes = 8, kRegisters = 16;
constexpr bool kFused = true;
#elif defined(HEADSCOPE_NEON)
constexpr const char* kInstructions = "NEON";  // which every 64-bit ARM processor has
constexpr int kLanes = 4, kRegisters = 32;
constexpr bool kFused = true;
#else
constexpr const char* kInstructions = "plain";
constexpr int kLanes = 4, kRegisters = 16;
constexpr bool kFused = false;  // in software it takes a hundred times as long
#endif

using Vector = float __attribute__((vector_size(4 * kLanes)));
using Ints = int __attribute__((vector_size(4 * kLanes)));
using Bits = unsigned __attribute__((vector_size(4 * kLanes)));
using Shorts = unsigned short __attribute__((vector_size(2 * kLanes)));

/// A float16 and a bfloat16.
struct Half {
  unsigned short bits;
};
struct BFloat16 {
  unsigned short bits;
};

/// Calls body(i, j) for all i < kRows and j < kCols, unrolled: in a loop, the compiler would keep an array
/// that body indexes in memory instead of registers.
template <int kRows, int kCols, int kAt = 0, class Body>
INLINE inline void unrolled(const Body& body) {
  if constexpr (kAt < kRows * kCols) {
    body(kAt / kCols, kAt % kCols);
    unrolled<kRows, kCols, kAt + 1>(body);
  }
}

inline Vector broadcast(float x) {
  return x - Vector{};
}

/// a * b + c, rounded once if kFused, else after each step.
INLINE inline Vector fma(Vector a, Vector b, Vector c) {
#if defined(HEADSCOPE_AVX512)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(HEADSCOPE_AVX2)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(HEADSCOPE_NEON)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

INLINE inline void store(float* p, Vector v) {
  __builtin_memcpy(p, &v, sizeof v);
}
INLINE inline Vector load(const float* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

INLINE inline Shorts load_shorts(const void* p) {
  Shorts v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
INLINE inline Bits widened(Shorts v) {
#if defined(HEADSCOPE_AVX512)
  return __builtin_bit_cast(Bits, _mm512_cvtepu16_epi32(__builtin_bit_cast(__m256i, v)));
#elif defined(HEADSCOPE_AVX2)
  return __builtin_bit_cast(Bits, _mm256_cvtepu16_epi32(__builtin_bit_cast(__m128i, v)));
#else
  return __builtin_convertvector(v, Bits);
#endif
}
INLINE inline Vector load(const BFloat16* p) {
  return __builtin_bit_cast(Vector, widened(load_shorts(p)) << 16);
}
INLINE inline Vector load(const Half* p) {
  const Shorts halves = load_shorts(p);
#if defined(HEADSCOPE_AVX512)
  return _mm512_cvtph_ps(__builtin_bit_cast(__m256i, halves));
#elif defined(HEADSCOPE_AVX2)
  return _mm256_cvtph_ps(__builtin_bit_cast(__m128i, halves));
#elif defined(HEADSCOPE_NEON)
  return vcvt_f32_f16(__builtin_bit_cast(float16x4_t, halves));
#else
  const Bits bits = widened(halves);
  const Bits rest = (bits & 0x7fffU) << 13;  // exponent and fraction, at float32's bit positions
  constexpr float kTwoTo112 = 5192296858534827628530496329220096.0F;  // the exponents' biases differ by 112
  const Bits scaled = __builtin_bit_cast(Bits, __builtin_bit_cast(Vector, rest) * kTwoTo112);
  constexpr unsigned kLargestExponent = 31U << 23;  // of infinity and NaN
  return __builtin_bit_cast(
      Vector, (bits & 0x8000U) << 16 | (rest >= kLargestExponent ? rest | 0x7f800000U : scaled));
#endif
}

/// The same for n <= kLanes lanes; the others are loaded as 0.
template <class T>
INLINE inline Vector load_first(const T* p, int n) {
  T all[kLanes] = {};
  for (int i = 0; i < n; ++i) all[i] = p[i];
  return load(all);
}
#if defined(HEADSCOPE_AVX512)
inline __mmask16 first(int n) {
  return static_cast<__mmask16>((1U << n) - 1U);
}
INLINE inline Vector load_first(const float* p, int n) {
  return _mm512_maskz_loadu_ps(first(n), p);
}
INLINE inline void store_first(float* p, Vector v, int n) {
  _mm512_mask_storeu_ps(p, first(n), v);
}
#elif defined(HEADSCOPE_AVX2)
inline __m256i first(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE inline Vector load_first(const float* p, int n) {
  return _mm256_maskload_ps(p, first(n));
}
INLINE inline void store_first(float* p, Vector v, int n) {
  _mm256_maskstore_ps(p, first(n), v);
}
#else
INLINE inline void store_first(float* p, Vector v, int n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
#endif

/// The first lanes of a and b in turn, and the last.
INLINE inline void zip(Vector a, Vector b, Vector& first_lanes, Vector& last_lanes) {
#if defined(HEADSCOPE_AVX512)
  first_lanes = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  last_lanes = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(HEADSCOPE_AVX2)
  first_lanes = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  last_lanes = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  first_lanes = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  last_lanes = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

}  // namespace
}  // namespace headscope::model
