#include "model/gradient/transposed_product.h"

#include <algorithm>
#include <cassert>

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// Positions at a time, so that their part of a panel's product stays in the L2 cache.
constexpr int kRowsOfX = 128;

constexpr int kRowsOfW = 96;  // at a time, by one thread

/// Rows of w that are multiplied at a time: a whole number of tiles for every kind of processor. They are
/// gathered in the L1 cache, where those of two panels adjoin, so that chains are as long as in the forward
/// pass; meanwhile the next ones are prefetched.
constexpr int kGroup = 12;

/// Columns of w that are multiplied at a time.
constexpr int kDepth = 2 * kPanelCols;

constexpr std::size_t kGathered = std::size_t{kGroup} * kDepth, kSums = std::size_t{kRowsOfW} * kRowsOfX;

/// Positions, filled up with zeros to whole vectors: with 33 to 64 of them the widest tiles are faster.
int padded(int rows) {
  constexpr int kVector = 16, kTile = 64;
  const int rest = rows % kTile;
  return rows + (rest == 0 ? 0 : rest > kTile / 2 ? kTile - rest : (kVector - rest % kVector) % kVector);
}

/// A part of a product: all rows of x that one thread multiplies, transposed, [columns, rows].
struct ProductPart {
  ConstFloatRows transposed;
  const PanelMatrix& w;
  MatrixCorner at;  ///< of w, for row 0 of `transposed`
};

/// Prefetches the panels that have a part of w.
void prefetch(const PanelMatrix& w, MatrixCorner at, int rows, int cols) {
  for (int panel = at.col / kPanelCols; panel * kPanelCols < at.col + cols; ++panel) {
    const auto* from = static_cast<const char*>(w.at(at.row, panel * kPanelCols));
    const std::size_t bytes = static_cast<std::size_t>(rows) * kPanelCols * element_bytes(w.precision);
    for (std::size_t i = 0; i < bytes; i += kCacheLineBytes) __builtin_prefetch(from + i, 0, 3);
  }
}

/// sums [rows, part.transposed.cols] = rows of w from part.at.row on, times part.transposed.
void multiply_part(const PanelKernels& kernels, const ProductPart& part, float* gathered, FloatRows sums) {
  for (int done = 0; done < part.transposed.rows; done += kDepth) {
    const int depth = std::min(kDepth, part.transposed.rows - done), next = done + depth;
    for (int row = 0; row < sums.rows; row += kGroup) {
      const FloatRows w{gathered, std::min(kGroup, sums.rows - row), depth, depth};
      part.w.read(kernels, part.at.row + row, part.at.col + done, w);
      if (const int following = row + w.rows; following < sums.rows) {
        prefetch(part.w, {part.at.row + following, part.at.col + done},
                 std::min(kGroup, sums.rows - following), depth);
      } else if (next < part.transposed.rows) {
        prefetch(part.w, {part.at.row, part.at.col + next}, std::min(kGroup, sums.rows),
                 std::min(kDepth, part.transposed.rows - next));
      }
      multiply(kernels, w, part.transposed.middle_rows(done, depth), done > 0, sums.middle_rows(row, w.rows));
    }
  }
}

/// y (+)= the transpose of sums, whose first y.rows columns count.
void put(const PanelKernels& kernels, ConstFloatRows sums, bool accumulate, float* scratch, FloatRows y) {
  if (!accumulate) {
    kernels.transpose(sums.data, sums.stride, sums.rows, y.rows, y.data, y.stride);
    return;
  }
  const FloatRows transposed{scratch, y.rows, y.cols, y.cols};
  kernels.transpose(sums.data, sums.stride, sums.rows, y.rows, transposed.data, transposed.stride);
  for (int i = 0; i < y.rows; ++i) add(transposed.row(i), y.row(i));
}

/// out [x.cols, padded(x.rows)] = the transpose of x.
void transpose(ConstFloatRows x, Workers& workers, FloatRows out) {
  workers.parallel_for_rows(x.cols, kPanelCols, [&](int first, int count) {
    workers.kernels().transpose(x.data + first, x.stride, x.rows, count, out.row_data(first), out.stride);
    for (int row = first; row < first + count; ++row) std::ranges::fill(out.row(row).subspan(x.rows), 0.0F);
  });
}

}  // namespace

std::size_t transposed_product_scratch() {
  return kGathered + 2 * kSums;
}

void product_with_transposed(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers,
                             Buffer& transposed, FloatRows y) {
  assert(x.rows == y.rows && at.row + y.cols <= w.depth && at.col + x.cols <= w.cols);
  if (y.rows == 0 || y.cols == 0) return;
  workers.reserve_scratch(transposed_product_scratch());
  const int blocks = (y.cols + kRowsOfW - 1) / kRowsOfW;
  for (int row = 0; row < x.rows; row += kRowsOfX)
    for (int col = 0; col < x.cols; col += kColumnsTransposed) {
      const ConstFloatRows part = x.middle_rows(row, std::min(kRowsOfX, x.rows - row))
                                      .middle_cols(col, std::min(kColumnsTransposed, x.cols - col));
      const FloatRows columns = transposed.rows(part.cols, padded(part.rows));
      transpose(part, workers, columns);
      workers.parallel_for(blocks, [&](int block, float* scratch) {
        const int first = block * kRowsOfW, count = std::min(kRowsOfW, y.cols - first);
        const FloatRows sums{scratch + kGathered, count, columns.cols, columns.cols};
        multiply_part(workers.kernels(), {columns, w, {at.row + first, at.col + col}}, scratch, sums);
        put(workers.kernels(), sums, col > 0, scratch + kGathered + kSums,
            y.middle_rows(row, part.rows).middle_cols(first, count));
      });
    }
}

}  // namespace headscope::model
