#pragma once
#include <cstddef>
#include <vector>

#include "model/kernels/precision.h"

/// The inner loops of all products, and of the longer steps along rows, once for each kind of processor.
/// Every cell of a product is summed in one fixed order that does not depend on how many rows or columns are
/// asked for, nor on who computes it.
///
/// The files that hold the loops are compiled for processors that this program may not be running on: they
/// include nothing but this header and the instructions' own, so that no inline function of a library is
/// compiled for the wrong processor and shared with everyone.
namespace headscope::model {

/// Weights are kept in panels: 64 columns of the matrix, [depth, 64], row after row without a gap, so that a
/// product reads memory in one stream. Four cache lines of float32.
constexpr int kPanelCols = 64;

/// Rows of a panel that are multiplied at a time: few enough to stay in the first cache (32 KiB as float32).
constexpr int kPanelDepth = 128;

/// Most panels that a few rows are multiplied by side by side: memory answers several streams faster than
/// one.
constexpr int kPanelsBeside = 6;
constexpr int panels_beside(int rows) {
  return rows > kPanelsBeside / 2 ? 1 : kPanelsBeside / rows;
}

/// y [rows, 64 panels] = bias [64 panels] + x [rows, depth] * w, w `panels` panels [depth, 64].
struct PanelProduct {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;
  const void* w = nullptr;
  std::ptrdiff_t panel_stride = 0;  ///< in elements, from panel to panel
  Precision precision = Precision::f32;
  const float* bias = nullptr;  ///< null: zeros
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  int rows = 0, depth = 0;
  int panels = 1;                ///< at most panels_beside(rows)
  bool x_is_new = false;         ///< another thread may have written it, it is asked for in time
  bool another_follows = false;  ///< what lies behind the panel will be wanted next: asked for in time
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
  const float* next = nullptr;  ///< the next w, [depth, w_stride] without gaps: asked for in time; null: none
};

/// Steps along rows of n floats, those that are worth wide vectors.
struct RowKernels {
  /// The largest; NaN when there is one; -inf of nothing.
  float (*largest)(const float* x, int n) = nullptr;

  /// The sum of e^(x - shift). Terms are float32, the sum is double but for every four terms.
  double (*sum_of_exp)(const float* x, int n, float shift) = nullptr;

  /// In place: the softmax of scale * row, scale > 0. Cells of -inf become exactly 0, in a row of nothing but
  /// -inf all of them; beside NaN or inf all others become NaN. The result of a cell does not depend on how
  /// many cells of -inf follow the row, to the bit.
  void (*softmax)(float scale, float* row, int n) = nullptr;

  /// In place: e^x. Relative error below 2e-7 where the result is normal; results below 2^-126 are gradually
  /// subnormal, exp(-inf) is exactly 0, exp of more than 88.73 is inf, exp(NaN) is NaN.
  void (*exp)(float* row, int n) = nullptr;

  /// In place, see model::activate.
  void (*gelu_new)(float* row, int n) = nullptr;
  void (*silu)(float* row, int n) = nullptr;

  /// How many are above the bound; how many are the bound or above it.
  int (*count_above)(const float* x, int n, float bound) = nullptr;
  int (*count_from)(const float* x, int n, float bound) = nullptr;
};

struct PanelKernels {
  const char* name = "";
  bool fused = false;  ///< whether a multiply-add rounds once; else its product is rounded too
  RowKernels rows;

  /// A cell is a sum, in the order of depth, of bias and chains of kPanelDepth multiply-adds, each from zero:
  /// shorter chains round less than one over all of the depth. Half precision is widened in registers, or in
  /// the first cache where it is used often.
  void (*multiply_panels)(const PanelProduct& p) = nullptr;

  /// A cell is a chain of multiply-adds in the order of depth from zero, to which what y holds is added.
  void (*multiply)(const Multiplication& m) = nullptr;

  /// The same for `count` <= kPanelsBeside products of one row each, alike but for where their numbers lie
  /// and whether they accumulate, which stream from memory side by side.
  void (*multiply_beside)(const Multiplication* products, int count) = nullptr;

  /// out [cols, rows] = w [rows, cols], transposed.
  void (*transpose)(const float* w, std::ptrdiff_t w_stride, int rows, int cols, float* out,
                    std::ptrdiff_t out_stride) = nullptr;

  /// out [n] = w [n].
  void (*widen)(const void* w, Precision precision, int n, float* out) = nullptr;
};

/// All that this processor can run, the fastest first, plain code last.
std::vector<PanelKernels> runnable_kernels();

/// The first of those. Allocates nothing.
PanelKernels fastest_kernels();

}  // namespace headscope::model
