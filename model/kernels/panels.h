#pragma once
#include <cstddef>

#include "model/kernels/precision.h"

/// The inner loops of all products and of the longer row operations, one source that is compiled for each
/// kind of processor. Every cell of a product is summed in one fixed order, whatever the number of rows or
/// columns and whichever thread computes it.
///
/// The loops are compiled for processors that this program may not be running on. They include only this
/// header and the intrinsics', so that no inline function of a library is compiled for the wrong
/// processor and then used everywhere.
namespace headscope::model {

/// Weights are stored in panels: 64 columns of the matrix, [depth, 64], row after row without gaps, so that a
/// product reads memory in one stream. A row of float32 is four cache lines.
constexpr int kPanelCols = 64;

/// Rows of a panel that are multiplied at a time: few enough to stay in the L1 cache (32 KiB as float32).
constexpr int kPanelDepth = 128;

/// y [rows, 64] = bias [64] + x [rows, depth] * w, a panel [depth, 64].
struct PanelProduct {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;
  const void* w = nullptr;
  Precision precision = Precision::f32;
  const float* bias = nullptr;  ///< null: zeros
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  int rows = 0, depth = 0;
  bool x_is_new = false;         ///< another thread may have written it, so it is prefetched
  bool another_follows = false;  ///< what follows the panel is needed next, so it is prefetched
  float* scratch = nullptr;      ///< [kPanelDepth * kPanelCols]
};

/// y [rows, cols] (+)= x [rows, depth] * w [depth, cols], all of them activations.
struct Multiplication {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;
  const float* w = nullptr;
  std::ptrdiff_t w_stride = 0;
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  int rows = 0, depth = 0, cols = 0;
  bool accumulate = false;      ///< to what y holds
  const float* next = nullptr;  ///< the next w, [depth, w_stride] without gaps, to prefetch; null: none
};

/// Operations on rows of n floats that benefit from wide vectors.
struct RowKernels {
  /// The maximum; NaN if any value is NaN; -inf if n is 0.
  float (*largest)(const float* x, int n) = nullptr;

  /// The sum of e^(x - shift). Terms are float32; 64 at a time are added in float32, these sums in double.
  double (*sum_of_exp)(const float* x, int n, float shift) = nullptr;

  /// In place: the softmax of scale * row, scale > 0. Cells of -inf become exactly 0, as do all cells of a
  /// row of only -inf. If a cell is NaN or inf, all cells except those of -inf become NaN. Each result is
  /// bit-identical however many cells of -inf follow the row.
  void (*softmax)(float scale, float* row, int n) = nullptr;

  /// In place: e^x. Relative error below 2e-7 where the result is normal; results below 2^-126 are gradually
  /// subnormal, exp(-inf) is exactly 0, exp of more than 88.73 is inf, exp(NaN) is NaN.
  void (*exp)(float* row, int n) = nullptr;

  /// In place, see model::activate and model::activation_slopes.
  void (*gelu_new)(float* row, int n) = nullptr;
  void (*silu)(float* row, int n) = nullptr;
  void (*gelu_new_slopes)(float* row, int n) = nullptr;
  void (*silu_slopes)(float* row, int n) = nullptr;
};

struct PanelKernels {
  const char* name = "";
  bool fused = false;  ///< whether a multiply-add rounds once; else the product is rounded, too
  RowKernels rows;

  /// A cell is the sum, in order of depth, of the bias and of chains of kPanelDepth multiply-adds, each
  /// starting from zero: shorter chains accumulate less rounding error than one over the whole depth. Half
  /// precision is widened in registers, or in the L1 cache if it is used often.
  void (*multiply_panel)(const PanelProduct& p) = nullptr;

  /// A cell is a chain of multiply-adds from zero in order of depth, to which the value in y is added.
  void (*multiply)(const Multiplication& m) = nullptr;

  /// out [cols, rows] = w [rows, cols], transposed.
  void (*transpose)(const float* w, std::ptrdiff_t w_stride, int rows, int cols, float* out,
                    std::ptrdiff_t out_stride) = nullptr;

  /// out [n] = w [n].
  void (*widen)(const void* w, Precision precision, int n, float* out) = nullptr;
};

}  // namespace headscope::model
