#pragma once
#include <cstddef>
#include <vector>

#include "model/precision.h"

/// The inner loops of all products, once for each kind of processor. Every cell of a product is summed in one
/// fixed order that does not depend on how many rows or columns are asked for, nor on who computes it.
///
/// The files that hold the loops are compiled for processors that this program may not be running on: they
/// include nothing but this header and the instructions' own, so that no inline function of a library is
/// compiled for the wrong processor and shared with everyone.
namespace headscope::model {

/// A matrix as it lies in memory, `stride` elements from row to row.
struct Elements {
  const void* data = nullptr;
  std::ptrdiff_t stride = 0;
  Precision precision = Precision::f32;
};

/// y [rows, cols] (+)= x [rows, depth] * w; what w is, [depth, cols] or [cols, depth], says the function.
struct Multiplication {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;
  Elements w;
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  int rows = 0, depth = 0, cols = 0;
  const float* bias = nullptr;  ///< [cols], what sums begin with; null: zeros
  bool accumulate = false;      ///< sums begin with what y holds, and bias is not looked at
  bool streams = false;         ///< w comes from memory, not from a cache; the result is the same
};

struct PanelKernels {
  const char* name = "";

  /// w [depth, cols]. A cell is a chain of multiply-adds in the order of depth. Half precision is widened in
  /// registers.
  void (*multiply)(const Multiplication& m) = nullptr;

  /// w [cols, depth], bias and accumulate not looked at. For few rows: w streams through once for every four.
  void (*dots)(const Multiplication& m) = nullptr;

  /// out [rows, cols] = w [rows, cols].
  void (*copy)(const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) = nullptr;

  /// out [cols, rows] = w [rows, cols], transposed.
  void (*transpose)(const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) = nullptr;
};

/// All that this processor can run, the fastest first, plain code last.
std::vector<PanelKernels> runnable_kernels();

/// The first of those. Allocates nothing.
PanelKernels fastest_kernels();

}  // namespace headscope::model
