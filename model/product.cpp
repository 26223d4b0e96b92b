#include "model/product.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace headscope::model {
namespace {

/// x is taken in blocks of rows that stay in the second cache while panel after panel streams by.
constexpr int kBytesOfRows = 1 << 20;
constexpr int kMostRows = 128;

/// Groups of neighbouring panels for each thread: enough that one who is held up does not hold up all, few
/// enough that most panels are followed by another of the same thread, which is then asked for in time.
constexpr int kGroupsPerThread = 4;

constexpr std::size_t kWidened = std::size_t{kPanelDepth} * kPanelCols;

int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/// Into how many groups panels are shared out; of one size and as many for every thread, where that can be.
int groups_of_panels(int panels, int threads) {
  for (int groups = kGroupsPerThread * threads; groups >= threads; groups -= threads) {
    if (panels % groups == 0) return groups;
  }
  return std::min(kGroupsPerThread * threads, panels);
}

/// Rows of x of each block: blocks as even as can be.
int rows_per_block(int rows, int depth) {
  const int most = std::clamp(kBytesOfRows / (depth * static_cast<int>(sizeof(float))), 16, kMostRows);
  return divide_up(rows, divide_up(rows, most));
}

/// Columns [kPanelCols * panel, + y.cols) of bias + x * (rows `first` .. of w), y.cols <= kPanelCols.
void product_of_panel(const PanelKernels& kernels, ConstFloatRows x, const PanelMatrix& w, int first,
                      int panel, const float* bias, bool another_follows, float* scratch, FloatRows y) {
  PanelProduct p{x.data, x.stride, w.at(panel, first), w.precision, bias, y.data, y.stride,
                 x.rows, x.cols,   another_follows,    scratch};
  if (y.cols == kPanelCols) {
    kernels.multiply_panel(p);
    return;
  }
  // The last panel is wider than what is left of y.
  std::array<float, kPanelCols> padded{};
  if (bias != nullptr) {
    std::copy_n(bias, y.cols, padded.begin());
    p.bias = padded.data();
  }
  p.y = scratch + kWidened;
  p.y_stride = kPanelCols;
  kernels.multiply_panel(p);
  for (int i = 0; i < y.rows; ++i) std::copy_n(p.y + i * p.y_stride, y.cols, y.row_data(i));
}

/// y = bias + x * (rows first_row .. of w), from column first_col of w on.
void product(ConstFloatRows x, const PanelMatrix& w, int first_row, int first_col, const float* bias,
             Workers& workers, FloatRows y) {
  assert(x.rows == y.rows && first_row + x.cols <= w.depth);
  assert(first_col % kPanelCols == 0 && first_col + y.cols <= w.cols);
  const int rows_at_once = rows_per_block(x.rows, x.cols);
  const int panels = divide_up(y.cols, kPanelCols), first_panel = first_col / kPanelCols;
  const int groups = groups_of_panels(panels, workers.threads());
  workers.parallel_for(divide_up(x.rows, rows_at_once) * groups, [&](int block, Buffer& scratch) {
    const int row = block / groups * rows_at_once, rows = std::min(rows_at_once, x.rows - row);
    const int group = block % groups, begin = group * panels / groups, end = (group + 1) * panels / groups;
    for (int panel = begin; panel < end; ++panel) {
      const int col = panel * kPanelCols, cols = std::min(kPanelCols, y.cols - col);
      product_of_panel(workers.kernels(), x.middle_rows(row, rows), w, first_row, first_panel + panel,
                       bias != nullptr ? bias + col : nullptr, panel + 1 < end && x.cols == w.depth,
                       scratch.reserve(product_scratch()), y.middle_rows(row, rows).middle_cols(col, cols));
    }
  });
}

}  // namespace

void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y) {
  assert(x.cols == w.weight.depth && y.cols == w.weight.cols);
  product(x, w.weight, 0, 0, w.bias.data(), workers, y);
}

void product_with_columns(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y) {
  product(x, w, 0, first, nullptr, workers, y);
}

void product_with_panel(const PanelKernels& kernels, ConstFloatRows x, const PanelMatrix& w, int panel,
                        float* scratch, FloatRows y) {
  assert(x.rows <= kMostRows);
  product_of_panel(kernels, x, w, 0, panel, nullptr, panel + 1 < w.panels(), scratch, y);
}

void product_with_slice(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y) {
  product(x, w, first, 0, nullptr, workers, y);
}

std::size_t product_scratch() {
  return kWidened + std::size_t{kMostRows} * kPanelCols;
}

}  // namespace headscope::model
