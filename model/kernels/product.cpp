#include "model/kernels/product.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// x is processed in blocks of rows that stay in the L2 cache while the panels stream by.
constexpr int kBytesOfRows = 1 << 20;
constexpr int kMaxRows = 128;

/// Groups of neighbouring panels per thread: enough that a delayed thread does not delay all, few enough that
/// most panels are followed by another of the same thread, which is then prefetched.
constexpr int kGroupsPerThread = 2;

constexpr std::size_t kWidened = std::size_t{kPanelDepth} * kPanelCols;

/// The number of groups of panels: equal ones, the same number for every thread, if possible.
int groups_of_panels(int panels, int threads) {
  for (int groups = kGroupsPerThread * threads; groups >= threads; groups -= threads) {
    if (panels % groups == 0) return groups;
  }
  return std::min(kGroupsPerThread * threads, panels);
}

/// Rows of x per block, so that blocks are as equal as possible.
int rows_per_block(int rows, int depth) {
  const int most = std::clamp(kBytesOfRows / (depth * static_cast<int>(sizeof(float))), 16, kMaxRows);
  return divide_up(rows, divide_up(rows, most));
}

/// y = p's product with a panel, or with its first columns, if y has fewer.
void multiply_panel(const PanelKernels& kernels, PanelProduct p, FloatRows y) {
  p.y = y.data;
  p.y_stride = y.stride;
  if (y.cols == kPanelCols) return kernels.multiply_panel(p);
  std::array<float, kPanelCols> padded{};
  if (p.bias != nullptr) std::copy_n(p.bias, y.cols, padded.begin());
  const FloatRows whole{p.scratch + kWidened, y.rows, kPanelCols, kPanelCols};
  p.bias = padded.data();
  p.y = whole.data;
  p.y_stride = whole.stride;
  kernels.multiply_panel(p);
  for (int i = 0; i < y.rows; ++i) std::copy_n(whole.row_data(i), y.cols, y.row_data(i));
}

}  // namespace

void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y, int first) {
  assert(x.cols == w.weight.depth);
  product(x, w.weight, {0, first}, workers, y, w.bias.data() + first);
}

void product(ConstFloatRows x, const PanelMatrix& w, MatrixCorner at, Workers& workers, FloatRows y,
             const float* bias) {
  assert(x.rows == y.rows && at.row + x.cols <= w.depth);
  assert(at.col % kPanelCols == 0 && at.col + y.cols <= w.cols);
  if (y.rows == 0) return;
  const int rows_at_once = rows_per_block(x.rows, x.cols);
  const int panels = divide_up(y.cols, kPanelCols);
  const int groups = groups_of_panels(panels, workers.threads());
  workers.reserve_scratch(product_scratch());
  workers.parallel_for(divide_up(x.rows, rows_at_once) * groups, [&](int block, float* scratch) {
    const int row = block / groups * rows_at_once, rows = std::min(rows_at_once, x.rows - row);
    const int group = block % groups, begin = group * panels / groups, end = (group + 1) * panels / groups;
    PanelProduct p{.x = x.row_data(row),
                   .x_stride = x.stride,
                   .precision = w.precision,
                   .rows = rows,
                   .depth = x.cols,
                   .scratch = scratch};
    for (int panel = begin; panel < end; ++panel) {
      const int col = panel * kPanelCols;
      p.w = w.at(at.row, at.col + col);
      p.bias = bias != nullptr ? bias + col : nullptr;
      p.x_is_new = panel == begin;
      p.another_follows = panel + 1 < end && x.cols == w.depth;
      multiply_panel(workers.kernels(), p,
                     y.middle_rows(row, rows).middle_cols(col, std::min(kPanelCols, y.cols - col)));
    }
  });
}

float product_with_column(const PanelKernels& kernels, std::span<const float> x, const PanelMatrix& w,
                          int col, std::span<float> column) {
  w.column(kernels, col, column);
  float sum = 0;
  for (int done = 0; done < w.depth; done += kPanelDepth) {
    const int depth = std::min(kPanelDepth, w.depth - done);
    multiply(kernels, {x.data() + done, 1, depth, depth}, {column.data() + done, depth, 1, 1}, done > 0,
             {&sum, 1, 1, 1});
  }
  return sum;
}

std::size_t product_scratch() {
  return kWidened + std::size_t{kMaxRows} * kPanelCols;
}

}  // namespace headscope::model
