#include <arm_neon.h>

#include "model/kernels/panels_loops.h"

namespace headscope::model {
namespace {

/// 32 registers of 4 floats, which every 64-bit ARM processor has. Multiply-adds are fused and groups are
/// those of the other vectors, so that sums are added up as with AVX2 and AVX-512.
struct Neon {
  using Vector = float __attribute__((vector_size(16)));
  using Ints = int __attribute__((vector_size(16)));
  static constexpr int kLanes = 4;
  static constexpr bool kFused = true;
  static constexpr int kRows = 6;
  static constexpr int kVectorsTogether = 4;
  static constexpr int vectors(int rows) { return rows > 3 ? 4 : rows > 1 ? 8 : 16; }  // at most 24 sums

  static Vector zero() { return Vector{}; }
  static Vector broadcast(float x) { return vdupq_n_f32(x); }
  static Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }

  static Vector widen_half(uint16x4_t bits) { return vcvt_f32_f16(vreinterpret_f16_u16(bits)); }
  static Vector widen_brain(uint16x4_t bits) { return vreinterpretq_f32_u32(vshll_n_u16(bits, 16)); }

  static Vector load(const float* p) { return vld1q_f32(p); }
  static Vector load(const Half* p) { return widen_half(vld1_u16(&p->bits)); }
  static Vector load(const Brain* p) { return widen_brain(vld1_u16(&p->bits)); }
  /// There are no masked loads.
  template <class T>
  static Vector load_first(const T* p, int n) {
    T all[kLanes] = {};
    for (int i = 0; i < n; ++i) all[i] = p[i];
    return load(all);
  }
  static void store(float* p, Vector v) { vst1q_f32(p, v); }
  static void store_first(float* p, Vector v, int n) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }

  /// Pairs of rows first, then pairs of these.
  static void transpose(Vector (&rows)[kLanes]) {
    const float32x4x2_t low = vzipq_f32(rows[0], rows[2]), high = vzipq_f32(rows[1], rows[3]);
    const float32x4x2_t first = vzipq_f32(low.val[0], high.val[0]), last = vzipq_f32(low.val[1], high.val[1]);
    rows[0] = first.val[0], rows[1] = first.val[1], rows[2] = last.val[0], rows[3] = last.val[1];
  }
};

}  // namespace

PanelKernels neon_kernels() {
  return kernels_of<Neon>("NEON");
}

}  // namespace headscope::model
