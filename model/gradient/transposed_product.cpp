#include "model/gradient/transposed_product.h"

#include <algorithm>
#include <cassert>

namespace headscope::model {
namespace {

constexpr int kRowsOfX = 128;  // at a time, so that they stay in the L2 cache

/// Rows of w at a time: a transposed block of as many columns fits the L1 cache. Fewer if there would not be
/// a block for each thread.
int rows_per_block(int rows, int blocks_of_x, int threads) {
  constexpr int kMax = 128, kMin = 16;
  int result = kMax;
  while (result > kMin && blocks_of_x * ((rows + result - 1) / result) < 2 * threads) result /= 2;
  return result;
}

constexpr std::size_t kBlock = std::size_t{128} * kPanelCols;

/// out [kPanelCols, rows] = the transpose of rows [first, first + rows) of a panel.
void transpose_block(const PanelKernels& kernels, const PanelMatrix& w, int panel, int first, int rows,
                     float* widened, float* out) {
  const void* block = w.at(panel, first);
  const auto* from = static_cast<const float*>(block);
  if (w.precision != Precision::f32) {
    kernels.widen(block, w.precision, rows * kPanelCols, widened);
    from = widened;
  }
  kernels.transpose(from, kPanelCols, rows, kPanelCols, out, rows);
}

/// y = x * the transpose of rows from at.row on.
void multiply_block(const PanelKernels& kernels, ConstFloatRows x, const PanelMatrix& w, MatrixCorner at,
                    float* scratch, FloatRows y) {
  float* transposed = scratch + kBlock;
  for (int done = 0; done < x.cols;) {
    const int panel = (at.col + done) / kPanelCols, first = (at.col + done) % kPanelCols;
    const int depth = std::min(kPanelCols - first, x.cols - done);
    transpose_block(kernels, w, panel, at.row, y.cols, scratch, transposed);
    kernels.multiply({.x = x.data + done,
                      .x_stride = x.stride,
                      .w = transposed + std::ptrdiff_t{first} * y.cols,
                      .w_stride = y.cols,
                      .y = y.data,
                      .y_stride = y.stride,
                      .rows = x.rows,
                      .depth = depth,
                      .cols = y.cols,
                      .accumulate = done > 0});
    done += depth;
  }
}

}  // namespace

std::size_t transposed_product_scratch() {
  return 2 * kBlock;
}

void product_with_transposed(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers,
                             FloatRows y) {
  assert(x.rows == y.rows && at.row + y.cols <= w.depth && at.col + x.cols <= w.cols);
  if (y.rows == 0 || y.cols == 0) return;
  const int blocks_of_x = (x.rows + kRowsOfX - 1) / kRowsOfX;
  const int rows = rows_per_block(y.cols, blocks_of_x, workers.threads());
  const int blocks = (y.cols + rows - 1) / rows;
  workers.reserve_scratch(transposed_product_scratch());
  workers.parallel_for(blocks_of_x * blocks, [&](int task, float* scratch) {
    const int row = task / blocks * kRowsOfX, count = std::min(kRowsOfX, x.rows - row);
    const int col = task % blocks * rows, cols = std::min(rows, y.cols - col);
    multiply_block(workers.kernels(), x.middle_rows(row, count), w, {at.row + col, at.col}, scratch,
                   y.middle_rows(row, count).middle_cols(col, cols));
  });
}

}  // namespace headscope::model
