#pragma once
#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workers.h"

namespace headscope::model {

/// y [T, n] = x [T, m] * the transpose of rows [at.row, at.row + n), columns [at.col, at.col + m) of w, for
/// n = y.cols and m = x.cols: how derivatives pass through a product with w.
///
/// The weights stay in the panels of the forward pass: a second copy in the other order would double a
/// model's memory, and transposing them on the way was measured to take a fifth of the time at 64 positions.
/// Instead x and y are transposed, which are smaller: the transpose of y is w times the transpose of x, so
/// that the rows of a panel, which are adjacent, are what is broadcast, and are read once and in one stream
/// for up to 128 positions. A cell is the sum of parts of kColumnsTransposed columns, of chains of at most
/// 128 multiply-adds, each starting from zero: it is bit-identical for any number of threads and rows.
/// transposed: memory for x.
void product_with_transposed(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers,
                             Buffer& transposed, FloatRows y);

/// Columns of x that are transposed at a time.
constexpr int kColumnsTransposed = 4096;

/// Scratch memory for it, in floats per thread.
std::size_t transposed_product_scratch();

}  // namespace headscope::model
