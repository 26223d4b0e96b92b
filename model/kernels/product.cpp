#include "model/kernels/product.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace headscope::model {
namespace {

/// x is processed in blocks of rows that stay in the L2 cache while the panels stream by.
constexpr int kBytesOfRows = 1 << 20;
constexpr int kMaxRows = 128;

/// Groups of neighbouring panels per thread: enough that a delayed thread does not delay all, few enough that
/// most panels are followed by another of the same thread, which is then prefetched.
constexpr int kGroupsPerThread = 2;

constexpr std::size_t kWidened = std::size_t{kPanelDepth} * kPanelCols;

int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/// The number of groups of panels. Few rows: groups of as many panels as are multiplied side by side. More
/// rows: equal groups, the same number for every thread, if possible.
int groups_of_panels(int panels, int rows, int threads) {
  const int concurrent = panels_beside(rows);
  if (concurrent > 1) return divide_up(panels, std::clamp(panels / threads, 1, concurrent));
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

/// Some rows of x times neighbouring panels of w.
struct Piece {
  ConstFloatRows x;
  const PanelMatrix& w;
  int first_row;      ///< in w
  const float* bias;  ///< starts at y's first column; null: zeros
  FloatRows y;
};

/// y = bias + x * panels [panel, panel + count) of w, all of whose columns are in y; count <=
/// panels_beside(rows).
void multiply_whole(const PanelKernels& kernels, const Piece& piece, int panel, int count, bool first,
                    bool another_follows, float* scratch, FloatRows y, const float* bias) {
  kernels.multiply_panels({.x = piece.x.data,
                           .x_stride = piece.x.stride,
                           .w = piece.w.at(panel, piece.first_row),
                           .panel_stride = std::ptrdiff_t{piece.w.depth} * kPanelCols,
                           .precision = piece.w.precision,
                           .bias = bias,
                           .y = y.data,
                           .y_stride = y.stride,
                           .rows = piece.x.rows,
                           .depth = piece.x.cols,
                           .panels = count,
                           .x_is_new = first,
                           .another_follows = another_follows,
                           .scratch = scratch});
}

/// The same for the last panel if it is wider than the rest of y.
void multiply_part(const PanelKernels& kernels, const Piece& piece, int panel, float* scratch, FloatRows y,
                   const float* bias) {
  std::array<float, kPanelCols> padded{};
  if (bias != nullptr) std::copy_n(bias, y.cols, padded.begin());
  const FloatRows whole{scratch + kWidened, y.rows, kPanelCols, kPanelCols};
  multiply_whole(kernels, piece, panel, 1, false, false, scratch, whole, padded.data());
  for (int i = 0; i < y.rows; ++i) std::copy_n(whole.row_data(i), y.cols, y.row_data(i));
}

/// Computes all columns of piece.y, which start at panel `first_panel` of w.
void multiply_piece(const PanelKernels& kernels, const Piece& piece, int first_panel, float* scratch) {
  const int whole_panels = piece.y.cols / kPanelCols, concurrent = panels_beside(piece.x.rows);
  for (int panel = 0; panel < whole_panels;) {
    const int count = std::min(concurrent, whole_panels - panel), col = panel * kPanelCols;
    const bool another_follows = panel + count < whole_panels && piece.x.cols == piece.w.depth;
    multiply_whole(kernels, piece, first_panel + panel, count, panel == 0, another_follows, scratch,
                   piece.y.middle_cols(col, count * kPanelCols),
                   piece.bias != nullptr ? piece.bias + col : nullptr);
    panel += count;
  }
  const int col = whole_panels * kPanelCols;
  if (col == piece.y.cols) return;
  multiply_part(kernels, piece, first_panel + whole_panels, scratch,
                piece.y.middle_cols(col, piece.y.cols - col),
                piece.bias != nullptr ? piece.bias + col : nullptr);
}

/// y = bias + x * (rows of w from first_row on), starting at column first_col of w.
void product(ConstFloatRows x, const PanelMatrix& w, int first_row, int first_col, const float* bias,
             Workers& workers, FloatRows y) {
  assert(x.rows == y.rows && first_row + x.cols <= w.depth);
  assert(first_col % kPanelCols == 0 && first_col + y.cols <= w.cols);
  if (y.rows == 0) return;
  const int rows_at_once = rows_per_block(x.rows, x.cols);
  const int panels = divide_up(y.cols, kPanelCols);
  const int groups = groups_of_panels(panels, x.rows, workers.threads());
  workers.reserve_scratch(product_scratch());
  workers.parallel_for(divide_up(x.rows, rows_at_once) * groups, [&](int block, float* scratch) {
    const int row = block / groups * rows_at_once, rows = std::min(rows_at_once, x.rows - row);
    const int group = block % groups, begin = group * panels / groups, end = (group + 1) * panels / groups;
    const int col = begin * kPanelCols, cols = std::min(end * kPanelCols, y.cols) - col;
    multiply_piece(workers.kernels(),
                   {x.middle_rows(row, rows), w, first_row, bias != nullptr ? bias + col : nullptr,
                    y.middle_rows(row, rows).middle_cols(col, cols)},
                   first_col / kPanelCols + begin, scratch);
  });
}

}  // namespace

void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y, int first) {
  assert(x.cols == w.weight.depth);
  product(x, w.weight, 0, first, w.bias.data() + first, workers, y);
}

void product_with_columns(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y) {
  product(x, w, 0, first, nullptr, workers, y);
}

void product_with_slice(ConstFloatRows x, const PanelMatrix& w, int first, Workers& workers, FloatRows y) {
  product(x, w, first, 0, nullptr, workers, y);
}

std::size_t product_scratch() {
  return kWidened + std::size_t{kMaxRows} * kPanelCols;
}

}  // namespace headscope::model
