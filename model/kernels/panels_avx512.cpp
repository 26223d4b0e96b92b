#include <immintrin.h>

#include "model/kernels/panels_loops.h"

namespace headscope::model {
namespace {

/// 32 registers of 16 floats; AVX-512 F, BW, DQ and VL.
struct Avx512 {
  using Vector = __m512;
  using Ints = int __attribute__((vector_size(sizeof(Vector))));
  static constexpr int kLanes = 16;
  static constexpr bool kFused = true;
  static constexpr int kRows = 6;
  static constexpr int kVectorsTogether = 4;
  static constexpr int vectors(int) { return 4; }  // a panel; at most 24 sums

  static __mmask16 first(int n) { return static_cast<__mmask16>((1U << n) - 1U); }
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

  static Vector widen_half(__m256i bits) { return _mm512_cvtph_ps(bits); }
  static Vector widen_brain(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static __m256i load_bits(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static __m256i load_bits(const void* p, int n) { return _mm256_maskz_loadu_epi16(first(n), p); }

  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static Vector load(const Half* p) { return widen_half(load_bits(p)); }
  static Vector load(const Brain* p) { return widen_brain(load_bits(p)); }
  static Vector load_first(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static Vector load_first(const Half* p, int n) { return widen_half(load_bits(p, n)); }
  static Vector load_first(const Brain* p, int n) { return widen_brain(load_bits(p, n)); }
  static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  static void store_first(float* p, Vector v, int n) { _mm512_mask_storeu_ps(p, first(n), v); }

  /// First within each 128-bit quarter, 4 x 4 of 4 rows; then the quarters among rows 4 apart.
  static void transpose(Vector (&rows)[kLanes]) {
    Vector quads[kLanes];
    for (int i = 0; i < kLanes; i += 4) {
      const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i], rows[i + 1]));
      const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i], rows[i + 1]));
      const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i + 2], rows[i + 3]));
      const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i + 2], rows[i + 3]));
      quads[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23));
      quads[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23));
      quads[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23));
      quads[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23));
    }
    for (int i = 0; i < 4; ++i) {
      const Vector even04 = _mm512_shuffle_f32x4(quads[i], quads[i + 4], 0x88);
      const Vector odd04 = _mm512_shuffle_f32x4(quads[i], quads[i + 4], 0xdd);
      const Vector even8c = _mm512_shuffle_f32x4(quads[i + 8], quads[i + 12], 0x88);
      const Vector odd8c = _mm512_shuffle_f32x4(quads[i + 8], quads[i + 12], 0xdd);
      rows[i] = _mm512_shuffle_f32x4(even04, even8c, 0x88);
      rows[i + 4] = _mm512_shuffle_f32x4(odd04, odd8c, 0x88);
      rows[i + 8] = _mm512_shuffle_f32x4(even04, even8c, 0xdd);
      rows[i + 12] = _mm512_shuffle_f32x4(odd04, odd8c, 0xdd);
    }
  }
};

}  // namespace

PanelKernels avx512_kernels() {
  return kernels_of<Avx512>("AVX-512");
}

}  // namespace headscope::model
