#pragma once
#include <cstddef>
#include <span>

#include "model/files/weights.h"
#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

/// Products of activations, divided among threads in blocks of the result. Every cell is bit-identical for
/// any number of threads.
namespace headscope::model {

/// y [T, n] = x [T, in] * weight [in, out] + bias [out], for the columns from `first` on, a multiple of
/// kPanelCols; n = y.cols.
void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y, int first = 0);

/// y [T, n] = x [T, d] * (columns first .. first + n of w [d, cols]), with n = y.cols; first is a multiple of
/// kPanelCols.
void product_with_columns(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y);

/// y [T, out] = x [T, n] * (rows first .. first + n of w [in, out]), with n = x.cols. Without bias.
void product_with_slice(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y);

/// Scratch memory for products with weights, in floats per thread.
std::size_t product_scratch();

}  // namespace headscope::model
