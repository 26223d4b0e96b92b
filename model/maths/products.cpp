#include "model/maths/products.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "model/files/error.h"
#include "model/kernels/workers.h"
#include "model/maths/best.h"
#include "model/maths/eigen_maps.h"

namespace headscope::model {

namespace {

auto order_of_entry(const ProductEntry& entry) {
  return std::tuple(-entry.value, entry.row, entry.col);
}

constexpr int kRows = 64;       // rows of a product that a thread computes at a time
constexpr int kTileRows = 128;  // rows in a tile of entries
constexpr int kTileCols = 1024;

using LargestEntries = Best<ProductEntry, order_of_entry>;

/// Smaller entries are not among the largest.
float floor_of(const LargestEntries& largest) {
  return largest.worst() == nullptr ? -INFINITY : largest.worst()->value;
}

/// Rows by descending norm.
struct SortedRows {
  std::vector<int> order;
  std::vector<float> norms;  ///< in that order; rounded up, so that they are bounds
  RowMajor<float> values;    ///< in that order
};

SortedRows sorted_rows(ConstFloatRows x) {
  constexpr float kRounding = 1.0001F;
  SortedRows sorted;
  const Eigen::VectorXf norms = map(x).cast<double>().rowwise().norm().cast<float>();
  sorted.order.resize(x.rows);
  std::iota(sorted.order.begin(), sorted.order.end(), 0);
  // NaN sorts first, since it has no bound.
  const auto size = [&](int i) {
    const float norm = norms[i];
    return std::isnan(norm) ? INFINITY : norm;
  };
  std::ranges::stable_sort(sorted.order, std::ranges::greater(), size);
  sorted.values.resize(x.rows, x.cols);
  for (int i = 0; i < x.rows; ++i) {
    const int from = sorted.order[i];
    sorted.norms.push_back(kRounding * size(from));
    sorted.values.row(i) = map(x).row(from);
  }
  return sorted;
}

/// Adds the entries for some rows of the left matrix and all rows of the right one.
void add_entries(const SortedRows& left, int row, int rows, const SortedRows& right,
                 LargestEntries& largest) {
  const auto all = static_cast<int>(right.order.size());
  RowMajor<float> tile;
  for (int col = 0; col < all; col += kTileCols) {
    const float bound = left.norms[row] * right.norms[col];
    if (bound < floor_of(largest)) return;
    const int cols = std::min(kTileCols, all - col);
    tile.noalias() = left.values.middleRows(row, rows) * right.values.middleRows(col, cols).transpose();
    for (int i = 0; i < rows; ++i) {
      const float* entries = tile.data() + std::ptrdiff_t{i} * cols;
      float best = -INFINITY;  // most rows have no entry above the bound
      for (int j = 0; j < cols; ++j) best = entries[j] > best ? entries[j] : best;
      if (best < floor_of(largest)) continue;
      for (int j = 0; j < cols; ++j) {
        if (entries[j] >= floor_of(largest))
          largest.add({left.order[row + i], right.order[col + j], entries[j]});
      }
    }
  }
}

}  // namespace

void multiply(ConstFloatRows a, ConstFloatRows b, Workspace& workspace, FloatRows out) {
  workspace.impl().workers.parallel_for(divide_up(a.rows, kRows), [&](int block, float*) {
    const int first = block * kRows, count = std::min(kRows, a.rows - first);
    map(out.middle_rows(first, count)).noalias() = map(a.middle_rows(first, count)) * map(b);
  });
}

void multiply_by_transposed(ConstDoubleRows a, ConstFloatRows b, DoubleRows out) {
  const Doubles wide = map(b).cast<double>();
  map(out).noalias() = map(a) * wide.transpose();
}

void add_transposed_product(ConstFloatRows a, ConstDoubleRows b, DoubleRows out) {
  const Doubles wide = map(a).cast<double>();
  map(out).noalias() += wide.transpose() * map(b);
}

std::vector<double> gram(ConstFloatRows a) {
  const Eigen::MatrixXd rows = map(a).cast<double>();
  const RowMajor<double> product = rows * rows.transpose();
  return {product.data(), product.data() + product.size()};
}

std::vector<ProductEntry> largest_entries(ConstFloatRows a, ConstFloatRows b, int most, Workspace& workspace,
                                          const std::stop_token& stop) {
  if (most <= 0) return {};
  const SortedRows left = sorted_rows(a), right = sorted_rows(b);
  Workers& workers = workspace.impl().workers;
  std::vector<LargestEntries> per_thread(static_cast<std::size_t>(workers.threads()),
                                         LargestEntries(static_cast<std::size_t>(most)));
  workers.pool().parallel_for(divide_up(a.rows, kTileRows), [&](int block, int thread) {
    if (stop.stop_requested()) throw Stopped();
    add_entries(left, block * kTileRows, std::min(kTileRows, a.rows - block * kTileRows), right,
                per_thread[thread]);
  });
  LargestEntries all(static_cast<std::size_t>(most));
  for (const LargestEntries& entries_of_thread : per_thread) all.add(entries_of_thread);
  return all.sorted();
}

}  // namespace headscope::model
