#include <immintrin.h>

#include "model/kernels/panels_loops.h"

namespace headscope::model {
namespace {

/// 16 registers of 8 floats; AVX2, FMA and F16C.
struct Avx2 {
  using Vector = __m256;
  using Ints = int __attribute__((vector_size(sizeof(Vector))));
  static constexpr int kLanes = 8;
  static constexpr bool kFused = true;
  static constexpr int kRows = 6;
  static constexpr int kVectorsTogether = 2;
  static constexpr int vectors(int rows) { return rows > 3 ? 2 : rows > 1 ? 4 : 8; }  // at most 12 sums

  static __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector broadcast(float x) { return _mm256_set1_ps(x); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }

  static Vector widen_half(__m128i bits) { return _mm256_cvtph_ps(bits); }
  static Vector widen_brain(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static __m128i load_bits(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
  static __m128i load_bits(const void* p, int n) {
    unsigned short bits[kLanes] = {};
    for (int i = 0; i < n; ++i) bits[i] = static_cast<const unsigned short*>(p)[i];
    return load_bits(bits);
  }

  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static Vector load(const Half* p) { return widen_half(load_bits(p)); }
  static Vector load(const Brain* p) { return widen_brain(load_bits(p)); }
  static Vector load_first(const float* p, int n) { return _mm256_maskload_ps(p, first(n)); }
  static Vector load_first(const Half* p, int n) { return widen_half(load_bits(p, n)); }
  static Vector load_first(const Brain* p, int n) { return widen_brain(load_bits(p, n)); }
  static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  static void store_first(float* p, Vector v, int n) { _mm256_maskstore_ps(p, first(n), v); }

  /// First within each 128-bit half, 4 x 4 of 4 rows; then the halves between rows 4 apart.
  static void transpose(Vector (&rows)[kLanes]) {
    Vector quads[kLanes];
    for (int i = 0; i < kLanes; i += 4) {
      const __m256d low01 = _mm256_castps_pd(_mm256_unpacklo_ps(rows[i], rows[i + 1]));
      const __m256d high01 = _mm256_castps_pd(_mm256_unpackhi_ps(rows[i], rows[i + 1]));
      const __m256d low23 = _mm256_castps_pd(_mm256_unpacklo_ps(rows[i + 2], rows[i + 3]));
      const __m256d high23 = _mm256_castps_pd(_mm256_unpackhi_ps(rows[i + 2], rows[i + 3]));
      quads[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(low01, low23));
      quads[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low01, low23));
      quads[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high01, high23));
      quads[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high01, high23));
    }
    for (int i = 0; i < 4; ++i) {
      rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
      rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
    }
  }
};

}  // namespace

PanelKernels avx2_kernels() {
  return kernels_of<Avx2>("AVX2");
}

}  // namespace headscope::model
