#include "model/product.h"

#include <algorithm>
#include <cassert>

namespace headscope::model {
namespace {

/// Columns of y that one thread takes at a time: narrow enough to share evenly, four panels of 48.
constexpr int kColumnsPerBlock = 192;

/// For a few rows the weights only stream by, and longer pieces of their rows stream faster.
constexpr int kFewRows = 4;
constexpr int kColumnsPerBlockOfFewRows = 768;

/// Columns of equal blocks, as many for every thread, none wider than `widest`.
int even_width(int cols, int widest, int threads) {
  const int blocks = threads * ((cols + threads * widest - 1) / (threads * widest));
  constexpr int kPanel = 64;
  return ((cols + blocks - 1) / blocks + kPanel - 1) / kPanel * kPanel;
}

/// Up to so many rows of x, weights are multiplied where they lie. Above, a block of them that stays in the
/// second cache is first copied (and widened): it is then read so often that this pays off.
constexpr int kDirectRows = 40;

/// Floats of such a block: 256 rows of kColumnsPerBlock, or 1,024 of kColumnsPerTransposedBlock.
constexpr std::size_t kCopiedElements = 49152;

/// Of a matrix that is transposed, columns of y are rows: few of them, so that they are read whole.
constexpr int kColumnsPerTransposedBlock = 48;

/// Up to so many rows of x, dot products with rows of w as they lie; above, w is transposed block by block.
constexpr int kDotRows = 12;

/// The part of w that begins with its row `row`, column `col`.
Elements at(const Elements& w, std::ptrdiff_t row, std::ptrdiff_t col) {
  const std::ptrdiff_t bytes = w.precision == Precision::f32 ? 4 : 2;
  return {static_cast<const char*>(w.data) + (row * w.stride + col) * bytes, w.stride, w.precision};
}

Elements elements(const WeightMatrix& w, int row, int col) {
  return at({w.data, w.cols, w.precision}, row, col);
}

Multiplication multiplication(ConstFloatRows x, const Elements& w, FloatRows y) {
  return {x.data, x.stride, w, y.data, y.stride, x.rows, x.cols, y.cols};
}

std::span<float> block_of(Buffer& scratch) {
  return {scratch.reserve(kCopiedElements), kCopiedElements};
}

/// y = bias + x * w, where fetch(k, n, scratch [n, y.cols]) writes rows k .. k + n of w.
template <class Fetch>
void multiply_copied(const PanelKernels& kernels, ConstFloatRows x, const float* bias,
                     std::span<float> scratch, FloatRows y, const Fetch& fetch) {
  const int depth = static_cast<int>(scratch.size()) / y.cols;
  for (int k = 0; k < x.cols; k += depth) {
    const int n = std::min(depth, x.cols - k);
    fetch(k, n, scratch.data());
    Multiplication m = multiplication(x.middle_cols(k, n), {scratch.data(), y.cols, Precision::f32}, y);
    m.bias = bias;
    m.accumulate = k > 0;
    kernels.multiply(m);
  }
}

/// y = bias + x * w[first : first + x.cols, col : col + y.cols].
void product_of_columns(const PanelKernels& kernels, ConstFloatRows x, const WeightMatrix& w, int first,
                        int col, const float* bias, Buffer& scratch, FloatRows y) {
  if (x.rows <= kDirectRows) {
    Multiplication m = multiplication(x, elements(w, first, col), y);
    m.bias = bias;
    m.streams = true;
    kernels.multiply(m);
    return;
  }
  multiply_copied(kernels, x, bias, block_of(scratch), y, [&](int k, int n, float* out) {
    kernels.copy(elements(w, first + k, col), n, y.cols, out, y.cols);
  });
}

/// Calls body(first, count, scratch) for blocks of at most `width` of [0, n).
template <class Body>
void parallel_for_blocks(int n, int width, Workers& workers, const Body& body) {
  workers.parallel_for((n + width - 1) / width, [&](int block, Buffer& scratch) {
    const int first = block * width;
    body(first, std::min(width, n - first), scratch);
  });
}

}  // namespace

void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y) {
  assert(x.cols == w.weight.rows && y.cols == w.weight.cols && x.rows == y.rows);
  const int width = x.rows <= kFewRows ? even_width(y.cols, kColumnsPerBlockOfFewRows, workers.threads())
                                       : kColumnsPerBlock;
  parallel_for_blocks(y.cols, width, workers, [&](int col, int cols, Buffer& scratch) {
    product_of_columns(workers.kernels(), x, w.weight, 0, col, w.bias.data() + col, scratch,
                       y.middle_cols(col, cols));
  });
}

void product_with_transposed(const PanelKernels& kernels, ConstFloatRows x, const Elements& w,
                             std::span<float> scratch, FloatRows y) {
  if (x.rows <= kDotRows) {
    kernels.dots(multiplication(x, w, y));
    return;
  }
  multiply_copied(kernels, x, nullptr, scratch, y,
                  [&](int k, int n, float* out) { kernels.transpose(at(w, 0, k), y.cols, n, out, y.cols); });
}

void product_with_rows(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y) {
  assert(x.cols == w.cols && x.rows == y.rows && first + y.cols <= w.rows);
  const int width = x.rows <= kDotRows ? kColumnsPerBlock : kColumnsPerTransposedBlock;
  parallel_for_blocks(y.cols, width, workers, [&](int col, int cols, Buffer& scratch) {
    product_with_transposed(workers.kernels(), x, elements(w, first + col, 0), block_of(scratch),
                            y.middle_cols(col, cols));
  });
}

void product_with_slice(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y) {
  assert(first + x.cols <= w.rows && y.cols == w.cols && x.rows == y.rows);
  parallel_for_blocks(y.cols, kColumnsPerBlock, workers, [&](int col, int cols, Buffer& scratch) {
    product_of_columns(workers.kernels(), x, w, first, col, nullptr, scratch, y.middle_cols(col, cols));
  });
}

std::size_t product_scratch() {
  return kCopiedElements;
}

void widen_row(const PanelKernels& kernels, const WeightMatrix& w, int row, std::span<float> out) {
  kernels.copy(elements(w, row, 0), 1, static_cast<int>(out.size()), out.data(), w.cols);
}

}  // namespace headscope::model
