// How a matrix becomes an image: bins of cells under each pixel, and what stands for them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "viz/charts/heatmap.h"

namespace headscope::viz {
namespace {

/// One axis of an image: bin i covers cells [edges[i], edges[i + 1]). All bins together are `size` pixels
/// long, from `start` on. Before rounding to cells, bin i begins at low + i * step.
struct Bins {
  std::vector<int> edges;
  float start = 0;
  float size = 0;
  double low = 0;
  double step = 1;
  int count() const { return static_cast<int>(edges.size()) - 1; }
  /// The cells that a bin touches: [first, end).
  int first_of(int bin) const {
    return std::max(edges.front(), static_cast<int>(std::floor(low + bin * step + kSlack)));
  }
  int end_of(int bin) const {
    return std::min(edges.back(), static_cast<int>(std::ceil(low + (bin + 1) * step - kSlack)));
  }
  /// The fraction of a cell inside a bin.
  float overlap(int bin, int cell) const {
    const double begin = std::max<double>(cell, low + bin * step);
    return static_cast<float>(std::max(0.0, std::min<double>(cell + 1, low + (bin + 1) * step) - begin));
  }

 private:
  static constexpr double kSlack = 1e-9;
};

Bins make_bins(double first, double shown, int total, float start, float size, float device_scale) {
  const double per_cell = size / shown;
  Bins bins;
  if (per_cell * device_scale >= 1) {
    const int begin = std::clamp(static_cast<int>(std::floor(first)), 0, total - 1);
    const int end = std::clamp(static_cast<int>(std::ceil(first + shown)), begin + 1, total);
    for (int i = begin; i <= end; ++i) bins.edges.push_back(i);
    bins.low = begin;
    bins.start = static_cast<float>(start + (begin - first) * per_cell);
    bins.size = static_cast<float>((end - begin) * per_cell);
    return bins;
  }
  const int count = std::max(1, static_cast<int>(std::lround(size * device_scale)));
  for (int i = 0; i < count; ++i) {
    bins.edges.push_back(std::clamp(static_cast<int>(std::floor(first + i * shown / count)), 0, total - 1));
  }
  bins.edges.push_back(
      std::clamp(static_cast<int>(std::ceil(first + shown - 1e-9)), bins.edges.back() + 1, total));
  bins.start = start;
  bins.size = size;
  bins.low = first;
  bins.step = shown / count;
  return bins;
}

/// The value of larger magnitude; NaN wins, so that it is visible.
float stronger(float a, float b) {
  return std::abs(b) <= std::abs(a) || a != a ? a : b;
}

/// The cells under a pixel.
struct PixelCells {
  enum Kind : std::uint8_t { kMasked, kOutside, kValue } kind = kMasked;
  float value = 0;
};

/// Calls visit(row bin, column bin, PixelCells) for all bins: down the rows of a bin first, a whole row of
/// the matrix at a time, then across.
template <class Visit>
void pool(const HeatmapCells& cells, const Bins& rows, const Bins& cols, const Visit& visit) {
  const Matrix& m = cells.matrix;
  const int first = cols.edges.front(), last = cols.edges.back();
  const bool any_masked = !cells.masked.empty();
  std::vector<float> strongest(last - first);
  std::vector<std::uint8_t> has(any_masked ? strongest.size() : 0);
  for (int i = 0; i < rows.count(); ++i) {
    int filled = first;  // columns with a value in some row of the bin
    std::ranges::fill(has, std::uint8_t{0});
    for (int r = rows.edges[i]; r < rows.edges[i + 1]; ++r) {
      const float factor = cells.factor(r);
      const float* in = m.data + r * m.row_stride + first * m.col_stride;
      if (any_masked) {
        for (int c = first; c < last; ++c) {
          if (cells.is_masked(r, c)) continue;
          const int at = c - first;
          const float v = in[at * m.col_stride] * factor;
          strongest[at] = has[at] != 0 ? stronger(strongest[at], v) : v;
          has[at] = 1;
        }
        filled = last;
        continue;
      }
      const int end = cells.masked_above_diagonal ? std::min(last, r + 1) : last;
      const int overlap = std::min(filled, end) - first, length = end - first;
      if (m.col_stride == 1) {
        for (int c = 0; c < overlap; ++c) strongest[c] = stronger(strongest[c], in[c] * factor);
        for (int c = overlap; c < length; ++c) strongest[c] = in[c] * factor;
      } else {
        for (int c = 0; c < length; ++c) {
          const float v = in[c * m.col_stride] * factor;
          strongest[c] = c < overlap ? stronger(strongest[c], v) : v;
        }
      }
      filled = std::max(filled, end);
    }
    for (int j = 0; j < cols.count(); ++j) {
      PixelCells pooled;
      const int end = std::min(cols.edges[j + 1], filled);
      for (int c = cols.edges[j]; c < end; ++c) {
        if (any_masked && has[c - first] == 0) continue;
        if (c == cells.outside_column) {
          if (pooled.kind == PixelCells::kMasked) pooled.kind = PixelCells::kOutside;
          continue;
        }
        const float v = strongest[c - first];
        pooled = {PixelCells::kValue, pooled.kind == PixelCells::kValue ? stronger(pooled.value, v) : v};
      }
      visit(i, j, pooled);
    }
  }
}

/// The same with the means of the bins' cells.
template <class Visit>
void pool_means(const HeatmapCells& cells, const Bins& rows, const Bins& cols, const Visit& visit) {
  const Matrix& m = cells.matrix;
  const int first = cols.edges.front(), last = cols.edges.back();
  std::vector<float> sums(last - first), parts(sums.size());
  // A pixel that shows hardly more than masked cells is masked: the stairs keep their shape.
  const float least = static_cast<float>(0.25 * rows.step * cols.step);
  for (int i = 0; i < rows.count(); ++i) {
    std::ranges::fill(sums, 0.F);
    std::ranges::fill(parts, 0.F);
    for (int r = rows.first_of(i); r < rows.end_of(i); ++r) {
      const bool stairs = cells.masked.empty() && cells.masked_above_diagonal;
      const int end = stairs ? std::min(last, r + 1) : last;
      const float part = rows.overlap(i, r), factor = part * cells.factor(r);
      const float* in = m.data + r * m.row_stride + first * m.col_stride;
      for (int c = 0; c < end - first; ++c) {
        if (!cells.masked.empty() && cells.is_masked(r, first + c)) continue;
        sums[c] += in[c * m.col_stride] * factor;
        parts[c] += part;
      }
    }
    for (int j = 0; j < cols.count(); ++j) {
      float sum = 0, part = 0;
      bool outside = false;
      for (int c = cols.first_of(j); c < cols.end_of(j); ++c) {
        const float under = cols.overlap(j, c), covered = under * parts[c - first];
        if (covered <= 0) continue;
        if (c == cells.outside_column) {
          outside = true;
          continue;
        }
        sum += under * sums[c - first];
        part += covered;
      }
      visit(i, j,
            part > least ? PixelCells{PixelCells::kValue, sum / part}
                         : PixelCells{outside ? PixelCells::kOutside : PixelCells::kMasked, 0});
    }
  }
}

/// Up to here a mean of cells is as good as the one cell.
constexpr double kHardlyMore = 1.05;

/// The number of cells under a pixel: 4 as "4"; 2.67 as "3" if cells are counted ("up to 3"), or as "2.7" if
/// areas are.
std::string pooled_count(double cells, Pooling pooling) {
  const double whole = std::round(cells);
  if (std::abs(cells - whole) < 0.005) return number(whole, 6);
  if (pooling == Pooling::strongest) return number(std::ceil(cells), 6);
  return cells < kHardlyMore ? "1" : fixed_number(cells, 1);
}

}  // namespace

Image heatmap_image(const HeatmapCells& cells, const Region& grid, const Style& style) {
  const Matrix& m = cells.matrix;
  const Bins rows =
      make_bins(grid.first_row, grid.rows, m.rows, grid.rect.y, grid.rect.h, style.device_scale);
  const Bins cols =
      make_bins(grid.first_col, grid.cols, m.cols, grid.rect.x, grid.rect.w, style.device_scale);
  const auto bitmap = std::make_shared<Bitmap>(Bitmap::filled(cols.count(), rows.count(), {0, 0, 0, 0}));
  const ColorTable color(cells.scale, style.theme);
  const Color outside = outside_color(style.theme);
  const auto paint = [&](int row, int col, PixelCells p) {
    if (p.kind != PixelCells::kMasked)
      bitmap->at(col, row) = p.kind == PixelCells::kOutside ? outside : color(p.value);
  };
  const auto pool_cells = [&](const HeatmapCells& seen, const Bins& down, const Bins& across,
                              const auto& visit) {
    if (cells.pooling == Pooling::strongest) return pool(seen, down, across, visit);
    pool_means(seen, down, across, visit);
  };
  // Memory is read in its own order: a plain matrix stored by columns is pooled as its transpose.
  if (std::abs(m.col_stride) > std::abs(m.row_stride) && m.rows > 1 && !cells.masked_above_diagonal &&
      cells.masked.empty() && cells.outside_column < 0 && cells.row_factors.empty()) {
    HeatmapCells turned = cells;
    turned.matrix = m.transposed();
    pool_cells(turned, cols, rows, [&](int col, int row, PixelCells p) { paint(row, col, p); });
  } else {
    pool_cells(cells, rows, cols, paint);
  }
  return {{cols.start, rows.start, cols.size, rows.size}, bitmap, content_hash(*bitmap)};
}

PooledCells pooled_cells(const Region& grid, const Style& style) {
  const auto pooled = [&](double shown, float size) {
    const double pixels = static_cast<double>(size) * style.device_scale;
    return pixels >= shown ? 1.0 : shown / std::max(1.0, std::round(pixels));
  };
  return {pooled(grid.rows, grid.rect.h), pooled(grid.cols, grid.rect.w)};
}

std::string pooling_words(Pooling pooling, const PooledCells& cells, float width, const Style& style) {
  const double one = pooling == Pooling::strongest ? 1 : kHardlyMore;
  if (cells.rows <= one && cells.cols <= one) return "";
  const std::string rows = pooled_count(cells.rows, pooling), cols = pooled_count(cells.cols, pooling);
  const auto fits = [&](const std::string& text) { return style.width(text, style.small()) <= width; };
  const auto whole = [](double count) { return std::abs(count - std::round(count)) < 0.005; };
  const bool all = pooling == Pooling::mean || (whole(cells.rows) && whole(cells.cols));
  const std::string kind = pooling == Pooling::mean ? "mean of " : "largest of ",
                    counts = rows + " × " + cols;
  for (const std::string& text : {"each cell: the " + kind + (all ? "" : "up to ") + counts,
                                  "cell: " + kind + (all ? "" : "≤ ") + counts}) {
    if (fits(text)) return text;
  }
  return "";
}

}  // namespace headscope::viz
