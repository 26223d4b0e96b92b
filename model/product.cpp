#include "model/product.h"

#include <algorithm>
#include <cassert>

#include "model/eigen_maps.h"

namespace headscope::model {
namespace {

// Widths measured on two cores with AVX-512: narrow enough to share evenly, wide enough to stream.
constexpr int kColumnsPerBlock = 192;
constexpr int kColumnsPerBlockOfOneRow = 384;
constexpr int kRowsPerBlock = 256;

/// Rows of a block that are widened at a time: kWideRows * kColumnsPerBlock floats stay in the second cache.
constexpr int kWideRows = 512;

template <class T>
void widen_tile(const WeightMatrix& w, int row, int col, FloatRows out) {
  using Source = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  const T* first = static_cast<const T*>(w.data) + static_cast<std::ptrdiff_t>(row) * w.cols + col;
  const Source source(first, out.rows, out.cols, Eigen::OuterStride<>(w.cols));
  map(out) = source.template cast<float>();
}

/// w[row : row + rows, col : col + cols] as float32: where it lies, or widened into `scratch`.
ConstFloatRows tile(const WeightMatrix& w, int row, int rows, int col, int cols, Buffer& scratch) {
  if (w.precision == Precision::f32) {
    const float* first = static_cast<const float*>(w.data) + static_cast<std::ptrdiff_t>(row) * w.cols + col;
    return {first, rows, cols, w.cols};
  }
  const FloatRows wide = scratch.rows(rows, cols);
  if (w.precision == Precision::f16) {
    widen_tile<Eigen::half>(w, row, col, wide);
  } else {
    widen_tile<Eigen::bfloat16>(w, row, col, wide);
  }
  return wide;
}

/// y = x * w[first : first + x.cols, col : col + y.cols].
void product_of_columns(ConstFloatRows x, const WeightMatrix& w, int first, int col, Buffer& scratch,
                        FloatRows y) {
  const int rows_at_a_time = w.precision == Precision::f32 ? x.cols : kWideRows;
  for (int k = 0; k < x.cols; k += rows_at_a_time) {
    const int n = std::min(rows_at_a_time, x.cols - k);
    const ConstFloatRows part = tile(w, first + k, n, col, y.cols, scratch);
    if (k == 0) {
      map(y).noalias() = map(x.middle_cols(k, n)) * map(part);
    } else {
      map(y).noalias() += map(x.middle_cols(k, n)) * map(part);
    }
  }
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
  const int width = x.rows == 1 ? kColumnsPerBlockOfOneRow : kColumnsPerBlock;
  parallel_for_blocks(y.cols, width, workers, [&](int col, int cols, Buffer& scratch) {
    const FloatRows part = y.middle_cols(col, cols);
    product_of_columns(x, w.weight, 0, col, scratch, part);
    const Eigen::Map<const Eigen::RowVectorXf> bias(w.bias.data() + col, cols);
    map(part).rowwise() += bias;
  });
}

void product_with_rows(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y) {
  assert(x.cols == w.cols && x.rows == y.rows && first + y.cols <= w.rows);
  parallel_for_blocks(y.cols, kRowsPerBlock, workers, [&](int col, int cols, Buffer& scratch) {
    const ConstFloatRows rows = tile(w, first + col, cols, 0, w.cols, scratch);
    map(y.middle_cols(col, cols)).noalias() = map(x) * map(rows).transpose();
  });
}

void product_with_slice(ConstFloatRows x, const WeightMatrix& w, int first, Buffer& scratch, FloatRows y) {
  assert(first + x.cols <= w.rows && y.cols == w.cols && x.rows == y.rows);
  product_of_columns(x, w, first, 0, scratch, y);
}

std::size_t product_scratch(Precision precision, int row_length) {
  if (precision == Precision::f32) return 0;
  return std::max(std::size_t{kWideRows} * std::max(kColumnsPerBlock, kColumnsPerBlockOfOneRow),
                  kRowsPerBlock * static_cast<std::size_t>(row_length));
}

void widen_row(const WeightMatrix& w, int row, std::span<float> out) {
  Buffer unused;
  const FloatRows wide{out.data(), 1, static_cast<int>(out.size()), w.cols};
  switch (w.precision) {
    case Precision::f32:
      map(wide) = map(tile(w, row, 1, 0, w.cols, unused));
      break;
    case Precision::f16:
      widen_tile<Eigen::half>(w, row, 0, wide);
      break;
    case Precision::bf16:
      widen_tile<Eigen::bfloat16>(w, row, 0, wide);
      break;
  }
}

}  // namespace headscope::model
