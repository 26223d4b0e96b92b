#include "viz/charts/heatmap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "viz/scene/contrast.h"

namespace headscope::viz {
namespace {

constexpr float kHatchPitch = 6;
constexpr float kSmallestGridWithGaps = 12;  // pixels per cell
constexpr int kMaxCellsWithValues = 32 * 32;

/// Lines over the whole grid. They are drawn under the image, whose cells give the exact outline.
Segments hatching(const Region& grid, const Style& style) {
  Segments hatch{{}, style.theme.hatch, 1};
  const Rect& r = grid.rect;
  const float pitch = std::min(kHatchPitch, std::max(3.F, r.w / 12)) * std::numbers::sqrt2_v<float>;
  for (float c = r.x + r.y + pitch / 2; c < r.right() + r.bottom(); c += pitch) {
    const float right = std::min(r.right(), c - r.y), left = std::max(r.x, c - r.bottom());
    hatch.points.insert(hatch.points.end(), {{left, c - left}, {right, c - right}});
  }
  return hatch;
}

/// Lines between neighbouring cells; none between masked ones.
Segments gaps(const HeatmapCells& cells, const Region& grid, const Style& style) {
  Segments lines{{}, style.theme.surface, 1};
  const Rect& r = grid.rect;
  const auto x_of = [&](int col) {
    return std::clamp(style.snapped(grid.cell_rect(0, col).x), r.x, r.right());
  };
  const auto y_of = [&](int row) {
    return std::clamp(style.snapped(grid.cell_rect(row, 0).y), r.y, r.bottom());
  };
  const int top = std::max(0, static_cast<int>(grid.first_row)),
            bottom = std::min(grid.row_count, static_cast<int>(std::ceil(grid.first_row + grid.rows))),
            left = std::max(0, static_cast<int>(grid.first_col)),
            right = std::min(grid.col_count, static_cast<int>(std::ceil(grid.first_col + grid.cols)));
  const auto add = [&](Point from, Point to) { lines.points.insert(lines.points.end(), {from, to}); };
  // Calls `add_part(begin, end)` for the parts of a line where a cell on either side is not masked.
  const auto for_parts = [](int from, int to, const auto& parts_cells, const auto& add_part) {
    for (int begin = from, end = from; begin < to; begin = end) {
      end = begin + 1;
      if (!parts_cells(begin)) continue;
      while (end < to && parts_cells(end)) ++end;
      add_part(begin, end);
    }
  };
  for (int row = top + 1; row < bottom; ++row)
    for_parts(
        left, right, [&](int col) { return !cells.is_masked(row - 1, col) || !cells.is_masked(row, col); },
        [&](int begin, int end) {
          add({x_of(begin), y_of(row)}, {x_of(end), y_of(row)});
        });
  for (int col = left + 1; col < right; ++col)
    for_parts(
        top, bottom, [&](int row) { return !cells.is_masked(row, col - 1) || !cells.is_masked(row, col); },
        [&](int begin, int end) {
          add({x_of(col), y_of(begin)}, {x_of(col), y_of(end)});
        });
  return lines;
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

/// Reduces the longer side of a cell until the ratio of both is at most `stretch`.
void limit_stretch(double& width, double& height, double stretch) {
  if (stretch <= 0) return;
  const double w = width, h = height;
  width = std::min(w, stretch * h);
  height = std::min(h, stretch * w);
}

constexpr float kNumberInCell = 0.3F;  // largest size of a number, in widths of its cell
float smallest_number(const Style& style) {
  return std::max(0.7F * style.font_size, style.smallest);
}

/// The numbers in cells of one size.
struct CellNumbers {
  const Style& style;
  float room, size;  ///< width of a cell, and size of its text

  bool fits(double value, int decimals) const {
    return style.width(fixed_number(value, decimals), size) + style.unit() <= room;
  }
  /// Decimals of all cells: three digits of the largest value from 1 on, two below, or one of these if two
  /// are too wide for a cell. Nothing if they are, too.
  std::optional<int> decimals_for(double largest) const {
    if (!(largest > 0 && std::isfinite(largest))) return 2;
    const int leading = static_cast<int>(std::floor(std::log10(largest)));  // for 0.064: -2
    if (leading < -5) return std::nullopt;
    const int wanted = leading >= 0 ? std::max(0, 2 - leading) : 1 - leading;
    if (fits(-largest, wanted)) return wanted;
    return leading < 0 && fits(-largest, -leading) ? std::optional(-leading) : std::nullopt;
  }
  /// A cell's text; fewer decimals than all others have if it is too wide, empty if that does not help.
  std::string text(double value, int decimals, int least = 0) const {
    while (decimals > least && !fits(value, decimals)) --decimals;
    return fits(value, decimals) ? fixed_number(value, decimals) : "";
  }
};

/// The largest magnitude that the colours of cells tell from others: what is beyond the scale must not leave
/// cells of very different colours with the same number.
double largest_told_apart(const HeatmapCells& cells) {
  const ValueRange range =
      value_range(cells.matrix, {cells.masked.empty() && cells.masked_above_diagonal, -1});
  const auto largest = static_cast<double>(range.magnitude());
  if (!cells.row_factors.empty()) return largest;  // each row has its own
  return std::min(largest, std::max(std::abs(cells.scale.low), std::abs(cells.scale.high)));
}

}  // namespace

Color outside_color(const Theme& theme) {
  return blended(theme.surface, theme.text_muted.with_alpha(110));
}

void paint_cells(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style) {
  const Rect& r = grid.rect;
  if (r.w <= 0 || r.h <= 0 || cells.matrix.rows == 0 || cells.matrix.cols == 0) return;
  const bool hides = cells.masked.empty() ? cells.masked_above_diagonal
                                          : std::ranges::find(cells.masked, 1) != cells.masked.end();
  if (hides && cells.hatched) scene.add(hatching(grid, style));
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

void paint_cell_values(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style) {
  const float cw = static_cast<float>(grid.rect.w / grid.cols),
              ch = static_cast<float>(grid.rect.h / grid.rows);
  // Small cells have room for numbers of few digits, which tell apart what is beyond the scale.
  const bool only_beyond = kNumberInCell * cw < smallest_number(style);
  const float size = only_beyond ? smallest_number(style) : std::min(style.small(), kNumberInCell * cw);
  if (grid.rows * grid.cols > kMaxCellsWithValues || ch < 1.5F * size) return;
  const CellNumbers numbers{style, cw, size};
  const auto decimals = only_beyond ? 2 : numbers.decimals_for(largest_told_apart(cells));
  if (!decimals) return;
  const ColorTable color(cells.scale, style.theme);
  const auto is_beyond = [&](double shown) {  // and would not be written as 0
    return std::abs(shown) >= 0.1 && ((cells.scale.values_above && shown > cells.scale.high) ||
                                      (cells.scale.values_below && shown < cells.scale.low));
  };
  const int first_row = std::max(0, static_cast<int>(std::ceil(grid.first_row))),
            first_col = std::max(0, static_cast<int>(std::ceil(grid.first_col)));
  for (int r = first_row; r < std::min<double>(grid.row_count, std::floor(grid.first_row + grid.rows + 1e-6));
       ++r) {
    for (int c = first_col;
         c < std::min<double>(grid.col_count, std::floor(grid.first_col + grid.cols + 1e-6)); ++c) {
      if (cells.is_masked(r, c)) continue;
      const float v = cells.matrix.at(r, c), shown = v * cells.factor(r);
      if (only_beyond && (c == cells.outside_column || !is_beyond(static_cast<double>(shown)))) continue;
      const Color under = c == cells.outside_column ? outside_color(style.theme) : color(shown);
      const int least = only_beyond && std::abs(v) < 1 ? 1 : 0;  // "0.6", not "1"
      const std::string text = numbers.text(static_cast<double>(v), *decimals, least);
      if (text.empty()) continue;
      scene.add(make_text_middle(style.fonts, text, grid.cell_rect(r, c).center(), size,
                                 text_on(style.theme, under), FontStyle::regular, Align::center));
    }
  }
}

Region fit_grid(Rect area, int rows, int cols, ShownCells shown, float stretch, const Style& style) {
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
  limit_stretch(cw, ch, static_cast<double>(stretch));
  // Whole device pixels, or pixels of whole numbers of cells: even cells are worth some room, the more the
  // smaller they are.
  const auto even = [&](double cell) {
    const double size = cell * style.device_scale,
                 pixels = size < 1 ? 1 / std::ceil(1 / size) : std::floor(size);
    const bool is_coarse = size < 3 && style.device_scale <= 2;      // finer pixels are hardly seen
    const double least = size < 1 ? 0.85 : is_coarse ? 0.75 : 0.99;  // of the size
    return pixels >= least * size ? pixels / style.device_scale : cell;
  };
  cw = even(cw);
  ch = even(ch);
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
  if (map.saves_width && map.stretch == 1 && width > 0) {
    const auto rows = static_cast<float>(map.cells.matrix.rows),
               cols = static_cast<float>(map.cells.matrix.cols);
    const float cell = std::min(area.h / rows, (area.w - width) / cols);
    if (std::min((area.h - style.line(style.small())) / rows, area.w / cols) > 1.1F * cell) return 0;
  }
  return width > 0.3F * area.w && !map.row_room ? 0 : width;
}

/// The largest ratio of a cell's sides in such an area: square cells become wider where that gives room for
/// their numbers.
float stretch_in(const Heatmap& map, const Rect& area, const Style& style) {
  constexpr float kWidest = 1.5F;
  const float wide = std::ceil(smallest_number(style) / kNumberInCell),
              high = area.h / static_cast<float>(map.cells.matrix.rows);
  return map.stretch == 1 && map.cell_values && high < wide && kWidest * high >= wide ? wide / high
                                                                                      : map.stretch;
}

}  // namespace

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
    double cw = width / m.cols, ch = height / m.rows;
    limit_stretch(cw, ch, static_cast<double>(map.stretch));
    height = ch * m.rows;
    width = cw * m.cols;
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
  const float flat_room = map.show_scale && scale_width <= 0 && area.h > 8 * line ? line + u : 0;

  // The last slanted label reaches beyond the grid, over the scale if that stands there.
  const bool leans_out = scale_width <= 0 && top.angle == LabelAngle::slanted;
  const float lean = map.saves_width ? 0.7F * top.widest : lean_of(map.cols, top, style);
  const float overhang = !leans_out ? 0 : map.col_room ? lean : std::min(lean, 0.12F * area.w);
  Rect inner{area.x + left.size, area.y + top.size, area.w - left.size - scale_room - overhang,
             area.h - top.size - 1 - words_room - flat_room};
  Region grid = fit_grid(inner, m.rows, m.cols, map.shown, stretch_in(map, inner, style), style);
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
  bool whole = paint_axis_labels(scene, map.rows, left, grid, LabelSide::left, style);
  whole &= paint_axis_labels(
      scene, map.cols, top, grid, LabelSide::above, style,
      std::min(area.right(), grid.rect.right() + scale_room + overhang + (inner.w - grid.rect.w) / 2));
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

Region paint_vector_strip(Picture& picture, const VectorStrip& strip, Rect rect, const Style& style) {
  Region grid = Region::grid(strip.role, strip.id, rect, 1, static_cast<int>(strip.values.size()));
  HeatmapCells cells;
  cells.matrix = Matrix::row(strip.values);
  cells.scale = strip.scale;
  cells.masked = strip.masked;
  if (std::ranges::find(strip.masked, 1) != strip.masked.end()) {
    paint_cells(picture.scene, cells, grid, style);
  } else {
    picture.scene.add(heatmap_image(cells, grid, style));
    picture.scene.add(StrokeRect{rect, style.theme.line, 1});
  }
  grid.first_row = strip.row;
  grid.row_count = strip.row + 1;
  return picture.regions.emplace_back(grid);
}

}  // namespace headscope::viz
