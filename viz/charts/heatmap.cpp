#include "viz/charts/heatmap.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>

namespace headscope::viz {
namespace {

constexpr float kHatchPitch = 6;
constexpr float kSmallestGridWithGaps = 12;  // pixels per cell
constexpr int kMaxCellsWithValues = 32 * 32;

/// One axis of an image: bin i covers cells [edges[i], edges[i + 1]). All bins together are `size` pixels
/// long, from `start` on. Before rounding to cells, bin i begins at low + i * step.
struct Bins {
  std::vector<int> edges;
  float start = 0;
  float size = 0;
  double low = 0;
  double step = 1;
  bool pairs = false;  ///< a bin is a single cell: those of bins 2i and 2i + 1 are a pair (2k, 2k + 1)
  int count() const { return static_cast<int>(edges.size()) - 1; }
  /// The cells that a bin touches: [first, end).
  int first_of(int bin) const {
    if (pairs) return std::min(edges.back() - 1, pair_of(bin) + bin % 2);
    return std::max(edges.front(), static_cast<int>(std::floor(low + bin * step + kSlack)));
  }
  int end_of(int bin) const {
    if (pairs) return first_of(bin) + 1;
    return std::min(edges.back(), static_cast<int>(std::ceil(low + (bin + 1) * step - kSlack)));
  }
  /// The fraction of a cell inside a bin.
  float overlap(int bin, int cell) const {
    if (pairs) return 1;
    const double begin = std::max<double>(cell, low + bin * step);
    return static_cast<float>(std::max(0.0, std::min<double>(cell + 1, low + (bin + 1) * step) - begin));
  }
  double size_of_bin() const { return pairs ? 1 : step; }

 private:
  static constexpr double kSlack = 1e-9;
  /// The first cell of the pair in the middle of those under bins 2i and 2i + 1.
  int pair_of(int bin) const {
    const double under = low + (2.0 * (bin / 2) + 1) * step - 1;  // NOLINT(bugprone-integer-division)
    return 2 * static_cast<int>(std::floor(std::max(0.0, under) / 2 + kSlack));
  }
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

/// The x where the line x + y = c crosses the diagonal between masked and unmasked cells.
float diagonal_x(const Region& grid, float c) {
  const double cw = grid.rect.w / grid.cols, ch = grid.rect.h / grid.rows;
  const double d = (c - grid.rect.x - grid.rect.y + grid.first_col * cw + grid.first_row * ch) / (cw + ch);
  return static_cast<float>(grid.rect.x + (d - grid.first_col) * cw);
}

bool is_masked(const HeatmapCells& cells, int row, int col) {
  if (cells.masked.empty()) return cells.masked_above_diagonal && col > row;
  return cells.masked[std::ptrdiff_t{row} * cells.matrix.cols + col] != 0;
}

/// Lines over the part right of the diagonal, or over the whole grid if any cell may be masked. They are
/// drawn under the image, whose cells give the exact outline.
Segments hatching(const HeatmapCells& cells, const Region& grid, const Style& style) {
  Segments hatch{{}, style.theme.hatch, 1};
  const Rect& r = grid.rect;
  const float pitch = std::min(kHatchPitch, std::max(3.F, r.w / 12)) * std::numbers::sqrt2_v<float>;
  for (float c = r.x + r.y + pitch / 2; c < r.right() + r.bottom(); c += pitch) {
    const float right = std::min(r.right(), c - r.y), from = std::max(r.x, c - r.bottom()),
                left = cells.masked.empty() ? std::max(from, diagonal_x(grid, c)) : from;
    if (left >= right) continue;
    hatch.points.push_back({left, c - left});
    hatch.points.push_back({right, c - right});
  }
  return hatch;
}

/// Lines between neighbouring cells unless both are masked, cell by cell.
void add_gaps_of_cells(Segments& lines, const HeatmapCells& cells, const Region& grid) {
  const Rect& r = grid.rect;
  const auto add = [&](Point from, Point to) {
    from = {std::clamp(from.x, r.x, r.right()), std::clamp(from.y, r.y, r.bottom())};
    to = {std::clamp(to.x, r.x, r.right()), std::clamp(to.y, r.y, r.bottom())};
    if (from.x < to.x || from.y < to.y) lines.points.insert(lines.points.end(), {from, to});
  };
  for (int row = 0; row < grid.row_count; ++row) {
    for (int col = 0; col < grid.col_count; ++col) {
      const bool masked = is_masked(cells, row, col);
      const Rect cell = grid.cell_rect(row, col);
      if (row > 0 && cell.y > r.y && cell.y < r.bottom() && !(masked && is_masked(cells, row - 1, col)))
        add({cell.x, cell.y}, {cell.right(), cell.y});
      if (col > 0 && cell.x > r.x && cell.x < r.right() && !(masked && is_masked(cells, row, col - 1)))
        add({cell.x, cell.y}, {cell.x, cell.bottom()});
    }
  }
}

/// Lines between neighbouring cells; none between masked ones.
Segments gaps(const HeatmapCells& cells, const Region& grid, const Style& style) {
  Segments lines{{}, style.theme.surface, 1};
  if (!cells.masked.empty()) {
    add_gaps_of_cells(lines, cells, grid);
    return lines;
  }
  const Rect& r = grid.rect;
  const int last_row = std::min(grid.row_count, static_cast<int>(std::ceil(grid.first_row + grid.rows))) - 1;
  const int last_col = std::min(grid.col_count, static_cast<int>(std::ceil(grid.first_col + grid.cols))) - 1;
  for (int row = std::max(1, static_cast<int>(std::ceil(grid.first_row))); row <= last_row; ++row) {
    const float y = grid.cell_rect(row, 0).y;
    const float end = cells.masked_above_diagonal ? grid.cell_rect(0, row + 1).x : r.right();
    if (y > r.y && end > r.x)
      lines.points.insert(lines.points.end(), {{r.x, y}, {std::min(end, r.right()), y}});
  }
  for (int col = std::max(1, static_cast<int>(std::ceil(grid.first_col))); col <= last_col; ++col) {
    const float x = grid.cell_rect(0, col).x;
    const float start = cells.masked_above_diagonal ? grid.cell_rect(col - 1, 0).y : r.y;
    if (x > r.x && start < r.bottom())
      lines.points.insert(lines.points.end(), {{x, std::max(start, r.y)}, {x, r.bottom()}});
  }
  return lines;
}

float factor_of(const HeatmapCells& cells, int row) {
  return cells.row_factors.empty() ? 1 : cells.row_factors[row];
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
      const float factor = factor_of(cells, r);
      const float* in = m.data + r * m.row_stride + first * m.col_stride;
      if (any_masked) {
        for (int c = first; c < last; ++c) {
          if (is_masked(cells, r, c)) continue;
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

/// The same with the means of the bins' cells, in single rows of pairs.
template <class Visit>
void pool_means(const HeatmapCells& cells, const Bins& rows, const Bins& cols, const Visit& visit) {
  const Matrix& m = cells.matrix;
  const int first = cols.edges.front(), last = cols.edges.back();
  std::vector<float> sums(last - first), parts(sums.size());
  // A pixel that shows hardly more than masked cells is masked: the stairs keep their shape.
  const float least = static_cast<float>(0.25 * rows.size_of_bin() * cols.size_of_bin());
  for (int i = 0; i < rows.count(); ++i) {
    std::ranges::fill(sums, 0.F);
    std::ranges::fill(parts, 0.F);
    for (int r = rows.first_of(i); r < rows.end_of(i); ++r) {
      const bool stairs = cells.masked.empty() && cells.masked_above_diagonal;
      const int end = stairs ? std::min(last, r + 1) : last;
      const float part = rows.overlap(i, r), factor = part * factor_of(cells, r);
      const float* in = m.data + r * m.row_stride + first * m.col_stride;
      for (int c = 0; c < end - first; ++c) {
        if (!cells.masked.empty() && is_masked(cells, r, first + c)) continue;
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

/// A frame around a cell that is visible at any size, on any colour.
void frame_cell(Scene& scene, const Region& grid, int row, int col, Color color, const Style& style) {
  const Rect cell = grid.cell_rect(row, col);
  const Point middle = cell.center();
  if (!grid.rect.contains(middle)) return;
  const float u = style.unit(), w = std::max(cell.w, 2 * u), h = std::max(cell.h, 2 * u);
  const Rect frame{middle.x - w / 2, middle.y - h / 2, w, h};
  scene.add(PushClip{grid.rect.inset(-u)});
  scene.add(StrokeRect{frame, style.theme.surface, 3.5F});
  scene.add(StrokeRect{frame, color, 2});
  scene.add(PopClip{});
}

}  // namespace

Color outside_color(const Theme& theme) {
  return blended(theme.surface, theme.text_muted.with_alpha(110));
}

Image heatmap_image(const HeatmapCells& cells, const Region& grid, const Style& style) {
  const Matrix& m = cells.matrix;
  Bins rows = make_bins(grid.first_row, grid.rows, m.rows, grid.rect.y, grid.rect.h, style.device_scale);
  rows.pairs = cells.pooling == Pooling::row_pairs && rows.step > 1;
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
  if (pooling == Pooling::row_pairs) {
    const std::string pairs = cells.rows > one ? number(100 / cells.rows, 2) + " % of the pairs of rows" : "",
                      means = cells.cols > one ? "mean of " + cols + " columns" : "",
                      between = pairs.empty() || means.empty() ? "" : "; ";
    for (const std::string& text :
         {pairs + between + (means.empty() ? "" : "each cell: the " + means), pairs + between + means, pairs})
      if (fits(text)) return text;
    return "";
  }
  const auto whole = [](double count) { return std::abs(count - std::round(count)) < 0.005; };
  const bool all = pooling == Pooling::mean || (whole(cells.rows) && whole(cells.cols));
  const std::string words = std::string(pooling == Pooling::mean ? "mean" : "largest") +
                            (all ? " of " : " of up to ") + rows + " × " + cols;
  for (const std::string& text : {"each cell: the " + words, words}) {
    if (fits(text)) return text;
  }
  return "";
}

void paint_cells(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style) {
  const Rect& r = grid.rect;
  if (r.w <= 0 || r.h <= 0 || cells.matrix.rows == 0 || cells.matrix.cols == 0) return;
  const bool hides = cells.masked.empty() ? cells.masked_above_diagonal
                                          : std::ranges::find(cells.masked, 1) != cells.masked.end();
  if (hides && cells.hatched) {
    const Segments hatch = hatching(cells, grid, style);
    if (!hatch.points.empty()) scene.add(hatch);
  }
  Image image = heatmap_image(cells, grid, style);
  constexpr float kSlack = 0.01F;
  const bool overhangs = image.dest.x < r.x - kSlack || image.dest.y < r.y - kSlack ||
                         image.dest.right() > r.right() + kSlack || image.dest.bottom() > r.bottom() + kSlack;
  if (overhangs) scene.add(PushClip{r});
  scene.add(std::move(image));
  if (overhangs) scene.add(PopClip{});
  const double smallest_cell = std::min(r.w / grid.cols, r.h / grid.rows);
  if (smallest_cell >= kSmallestGridWithGaps) {
    const Segments lines = gaps(cells, grid, style);
    if (!lines.points.empty()) scene.add(lines);
  }
  scene.add(StrokeRect{r, style.theme.line, 1});
}

namespace {

/// Decimals of cells: three digits of the largest value from 1 on, two below. Nothing if it is too small to
/// be written in a cell.
std::optional<int> decimals_for(float largest) {
  if (!(largest > 0 && std::isfinite(largest))) return 2;
  const int leading = static_cast<int>(std::floor(std::log10(largest)));  // for 0.064: -2
  if (leading < -5) return std::nullopt;
  return leading >= 0 ? std::max(0, 2 - leading) : 1 - leading;
}

}  // namespace

bool paint_cell_values(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style) {
  const float cw = static_cast<float>(grid.rect.w / grid.cols),
              ch = static_cast<float>(grid.rect.h / grid.rows);
  const float size = std::min(style.small(), 0.30F * cw);
  if (grid.rows * grid.cols > kMaxCellsWithValues ||
      size < std::max(0.7F * style.font_size, style.smallest) || ch < 1.5F * size)
    return false;
  const ValueRange range =
      value_range(cells.matrix, {cells.masked.empty() && cells.masked_above_diagonal, -1});
  const auto digits = decimals_for(range.magnitude());
  if (!digits) return false;
  const float widest = style.width(fixed_number(static_cast<double>(-range.magnitude()), *digits), size);
  if (widest + style.unit() > cw) return false;
  const ColorTable color(cells.scale, style.theme);
  const Color opposite = style.theme.dark ? Color{16, 18, 24, 255} : Color{255, 255, 255, 255};
  const int first_row = std::max(0, static_cast<int>(std::ceil(grid.first_row))),
            first_col = std::max(0, static_cast<int>(std::ceil(grid.first_col)));
  for (int r = first_row; r < std::min<double>(grid.row_count, std::floor(grid.first_row + grid.rows + 1e-6));
       ++r) {
    for (int c = first_col;
         c < std::min<double>(grid.col_count, std::floor(grid.first_col + grid.cols + 1e-6)); ++c) {
      if (is_masked(cells, r, c)) continue;
      const float v = cells.matrix.at(r, c);
      const Color under =
          c == cells.outside_column ? outside_color(style.theme) : color(v * factor_of(cells, r));
      scene.add(make_text_middle(
          style.fonts, fixed_number(static_cast<double>(v), *digits), grid.cell_rect(r, c).center(), size,
          readable_on(under, style.theme.text, opposite), FontStyle::regular, Align::center));
    }
  }
  return true;
}

double whole_pixels(double size, double least, const Style& style) {
  const double pixels = std::floor(size * style.device_scale);
  return pixels >= 1 && pixels >= least * size * style.device_scale ? pixels / style.device_scale : size;
}

Region fit_grid(Rect area, int rows, int cols, ShownCells shown, bool square, const Style& style) {
  Region grid;
  grid.row_count = rows;
  grid.col_count = cols;
  const bool whole = shown.rows <= 0 || shown.cols <= 0;
  grid.rows = whole ? rows : std::clamp(shown.rows, 1.0, static_cast<double>(rows));
  grid.cols = whole ? cols : std::clamp(shown.cols, 1.0, static_cast<double>(cols));
  grid.first_row = whole ? 0 : std::clamp(shown.row, 0.0, rows - grid.rows);
  grid.first_col = whole ? 0 : std::clamp(shown.col, 0.0, cols - grid.cols);
  // Sizes come from the whole matrix, so that zooming does not move the frame.
  double cw = std::max(0.F, area.w) / static_cast<double>(cols),
         ch = std::max(0.F, area.h) / static_cast<double>(rows);
  if (square) cw = ch = std::min(cw, ch);
  cw = whole_pixels(cw, 0.85, style);
  ch = whole_pixels(ch, 0.85, style);
  grid.rect = {style.snapped(area.x), style.snapped(area.y), static_cast<float>(cw * cols),
               static_cast<float>(ch * rows)};
  return grid;
}

namespace {

constexpr float kMinMap = 2;  // ems; smaller maps cannot be read

std::optional<Outside> outside_of(const Heatmap& map, const Style& style) {
  if (map.cells.outside_column < 0) return std::nullopt;
  return Outside{outside_color(style.theme), map.outside_text};
}

/// Width of the scale at the grid's right; 0: there is none.
float upright_scale_width(const Heatmap& map, const Rect& area, const Style& style) {
  const float own =
      map.show_scale ? color_scale_width(map.cells.scale, map.scale_title, outside_of(map, style), style) : 0;
  const float width = std::max(own, map.least_scale_width);
  if (map.saves_width && map.square && width > 0) {
    const auto rows = static_cast<float>(map.cells.matrix.rows),
               cols = static_cast<float>(map.cells.matrix.cols);
    const float cell = std::min(area.h / rows, (area.w - width) / cols);
    if (std::min((area.h - style.line(style.small())) / rows, area.w / cols) > 1.1F * cell) return 0;
  }
  return width > 0.3F * area.w && !map.row_room ? 0 : width;
}

}  // namespace

float flat_scale_height(const Heatmap& map, Rect area, const Style& style) {
  const float line = style.line(style.small());
  const bool flat = map.show_scale && upright_scale_width(map, area, style) <= 0;
  return flat && area.h > 8 * line ? line + style.unit() : 0;
}

Region paint_heatmap(Picture& picture, const Heatmap& map, Rect area, const Style& style) {
  const Matrix& m = map.cells.matrix;
  const float u = style.unit();
  const std::optional<Outside> outside = outside_of(map, style);
  const float scale_width = upright_scale_width(map, area, style);
  const float scale_room = scale_width > 0 ? scale_width + 4 * u : 0;

  // Labels depend on the size of a cell, which depends on the room for labels: estimate the cell from a fair
  // share of the room.
  const double shown_rows = map.shown.rows > 0 ? std::min<double>(map.shown.rows, m.rows) : m.rows;
  const double shown_cols = map.shown.cols > 0 ? std::min<double>(map.shown.cols, m.cols) : m.cols;
  const float most_left = std::min(0.24F * (area.w - scale_room), 9 * style.font_size);
  const float most_top = std::min(0.24F * area.h, 7.5F * style.font_size);
  double height = 0.75 * area.h, width = 0.75 * (area.w - scale_room);
  LabelRoom left, top;
  for (int pass = 0; pass < 2; ++pass) {
    if (map.square) {
      const double side = std::min(height / m.rows, width / m.cols);
      height = side * m.rows;
      width = side * m.cols;
    }
    left = map.row_room.value_or(
        row_label_room(map.rows, static_cast<float>(height / shown_rows), most_left, style));
    top = map.col_room.value_or(
        column_label_room(map.cols, static_cast<float>(width / shown_cols), most_top, style));
    height = 0.98 * std::max(1.F, area.h - top.size);
    width = 0.98 * std::max(1.F, area.w - left.size - scale_room);
  }

  // The room for the note on pooling depends on the whole matrix, so that zooming does not move the frame.
  const float line = style.line(style.small());
  const bool pools = std::min(height / m.rows, width / m.cols) * static_cast<double>(style.device_scale) < 1;
  const float own_height = area.h - (map.col_room ? top.size : 0);
  const float words_room = pools && (map.says_pooling || own_height > 8 * line) ? line + u : 0;
  const float flat_room = flat_scale_height(map, area, style);

  Rect inner{area.x + left.size, area.y + top.size, area.w - left.size - scale_room,
             area.h - top.size - 1 - words_room - flat_room};
  Region grid = fit_grid(inner, m.rows, m.cols, map.shown, map.square, style);
  grid.role = map.role;
  grid.id = map.id;
  if (map.centered) grid.rect.x += std::floor((inner.w - grid.rect.w) / 2);
  if (std::min(grid.rect.w, grid.rect.h) < kMinMap * style.font_size)
    picture.whole = picture.readable = false;
  if (grid.rect.w <= 0 || grid.rect.h <= 0) {
    picture.whole = false;
    return grid;
  }

  Scene& scene = picture.scene;
  paint_cells(scene, map.cells, grid, style);
  if (map.cell_values) paint_cell_values(scene, map.cells, grid, style);
  bool whole = paint_row_labels(scene, map.rows, left, grid, style);
  whole &= paint_column_labels(
      scene, map.cols, top, grid,
      std::min(area.right(), grid.rect.right() + scale_room + (inner.w - grid.rect.w) / 2), style);
  if (map.framed_row >= 0) {
    Rect row = grid.cell_rect(map.framed_row, 0);
    row.x = grid.rect.x;
    row.w = grid.rect.w;
    if (row.h < 3) row = {row.x, row.center().y - 1.5F, row.w, 3};
    if (row.bottom() > grid.rect.y && row.y < grid.rect.bottom()) {
      scene.add(PushClip{grid.rect.inset(-1.5F)});
      scene.add(StrokeRect{row, map.frame, row.h > 8 ? 2.F : 1.F});
      scene.add(PopClip{});
    }
    if (map.framed_col >= 0) frame_cell(scene, grid, map.framed_row, map.framed_col, map.cell_frame, style);
  }
  if (words_room > 0) {
    const float width_of_words = area.right() - grid.rect.x;
    add_muted(scene, style,
              pooling_words(map.cells.pooling, pooled_cells(grid, style), width_of_words, style),
              {grid.rect.x, grid.rect.bottom() + u + line / 2});
  }
  if (flat_room > 0) {
    const float y = grid.rect.bottom() + u + words_room + line / 2;
    whole &=
        paint_color_scale_in(scene, map.cells.scale, map.scale_title, outside, {area.x, y}, area.w, style);
  } else if (scale_width <= 0) {
    whole &= !map.show_scale;
  } else {
    whole &= paint_color_scale(
        scene, map.cells.scale, map.scale_title, outside,
        {grid.rect.right() + 4 * u, grid.rect.y, scale_width + 1, std::max(grid.rect.h, 0.F)}, style);
  }
  if (!whole) picture.whole = false;
  picture.regions.push_back(grid);
  return grid;
}

void paint_crosshair(Scene& scene, const Region& grid, int row, int col, Color row_color, Color col_color,
                     const Style& style) {
  const Rect cell = grid.cell_rect(row, col), &r = grid.rect;
  const float w = std::max(cell.w, 2.F), h = std::max(cell.h, 2.F);
  const Rect seen{cell.center().x - w / 2, cell.center().y - h / 2, w, h};
  const Color across = row_color.with_alpha(40), along = col_color.with_alpha(40);
  const auto band = [&](const Rect& rect, Color color) {
    if (rect.w > 0 && rect.h > 0) scene.add(FillRect{rect, color});
  };
  // Nothing covers the cell itself: its colour is being read.
  scene.add(PushClip{r});
  band({r.x, seen.y, seen.x - r.x, h}, across);
  band({seen.right(), seen.y, r.right() - seen.right(), h}, across);
  band({seen.x, r.y, w, seen.y - r.y}, along);
  band({seen.x, seen.bottom(), w, r.bottom() - seen.bottom()}, along);
  scene.add(PopClip{});
  constexpr float kFrame = 3;
  scene.add(PushClip{r.inset(-kFrame)});
  scene.add(StrokeRect{seen.inset(-kFrame / 2), style.theme.surface, kFrame});
  scene.add(StrokeRect{seen.inset(-kFrame / 2), style.theme.text, kFrame / 2});
  scene.add(PopClip{});
}

}  // namespace headscope::viz
