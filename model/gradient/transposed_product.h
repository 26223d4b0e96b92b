#pragma once
#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

namespace headscope::model {

/// Where a part of a matrix begins.
struct MatrixCorner {
  int row = 0;
  int col = 0;
};

/// y [T, n] = x [T, m] * the transpose of rows [at.row, at.row + n), columns [at.col, at.col + m) of w, for
/// n = y.cols and m = x.cols: how derivatives pass through a product with w.
///
/// The weights stay in the panels of the forward pass; a second copy in the other order would double a
/// model's memory. A panel's rows are contiguous, so a block of 64 columns and 128 rows is read in one
/// stream, widened and transposed in the L1 cache, and used for all rows of x: at 64 positions this is about
/// a tenth of the work. Every cell is a sum, in order of the panels, of chains of at most 64 multiply-adds,
/// each starting from zero: it is bit-identical for any number of threads and rows.
void product_with_transposed(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers,
                             FloatRows y);

/// Scratch memory for it, in floats per thread.
std::size_t transposed_product_scratch();

}  // namespace headscope::model
