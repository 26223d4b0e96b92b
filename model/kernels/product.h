#pragma once
#include <cstddef>
#include <span>

#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workers.h"

/// Products of activations, divided among threads in blocks of the result. Every cell is bit-identical for
/// any number of threads.
namespace headscope::model {

/// y [T, n] = x [T, in] * weight [in, out] + bias [out], for the columns from `first` on, a multiple of
/// kPanelCols; n = y.cols.
void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y, int first = 0);

/// y [T, n] = x [T, m] * the part [m, n] of w that begins at `at` + bias [n] (null: zeros), with m = x.cols,
/// n = y.cols. at.col is a multiple of kPanelCols.
void product(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers, FloatRows y,
             const float* bias = nullptr);

/// The same for one row of x and one column of w, which is put into `column` [x.size()]: bit-identical, on
/// the calling thread.
float product_with_column(const PanelKernels& kernels, std::span<const float> x, const PanelMatrix& w,
                          int col, std::span<float> column);

/// Scratch memory for products with weights, in floats per thread.
std::size_t product_scratch();

}  // namespace headscope::model
