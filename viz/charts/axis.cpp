#include "viz/charts/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace headscope::viz {
namespace {

constexpr float kQuarterTurn = std::numbers::pi_v<float> / 2;
constexpr float kEighthTurn = std::numbers::pi_v<float> / 4;
constexpr float kDiagonal = std::numbers::sqrt2_v<float> / 2;
constexpr int kMeasured = 256;  // number of labels measured to find the room they need

/// Between rows with labels: letters of one do not touch those of the next.
float row_pitch(const Style& style) {
  return 1.08F * style.small();
}

/// The text of a label: with its number if others are left out.
std::string written(const AxisLabels& axis, int i, int step) {
  const std::string& label = axis.labels[i];
  const std::string number = std::to_string(i);
  return step > 1 && !axis.numbered && label != number ? number + " " + label : label;
}

/// The widest of the labels that are written where a cell is about so large: it is an estimate.
float widest_written_label(const AxisLabels& axis, float cell, float most, const Style& style) {
  const int count = static_cast<int>(axis.labels.size()), step = label_step(cell, row_pitch(style));
  float widest = 0;
  for (const float size : {0.92F * cell, cell, 1.08F * cell})
    for (const int i : labelled_cells(0, count, count, size, row_pitch(style), axis.emphasised))
      widest = std::max(widest, style.width(written(axis, i, step), style.small()));
  return std::ceil(std::min(widest, most));
}

float widest_label(const AxisLabels& axis, float cell, float most, const Style& style) {
  if (axis.is_still) return widest_written_label(axis, cell, most, style);
  const int step = label_step(cell, row_pitch(style));
  float widest = 0;
  const int count = static_cast<int>(axis.labels.size()), stride = std::max(1, count / kMeasured);
  for (int i = 0; i < count && widest < most; i += stride)
    widest = std::max(widest, style.width(written(axis, i, step), style.small()));
  // Unmeasured labels may be wider: reserve at least the full number.
  if (step > 1 && stride > 1) {
    widest = std::max(widest, style.width(std::to_string(count - 1), style.small()) + 3 * style.small());
  }
  return std::ceil(std::min(widest, most));
}

/// Whether upright labels would be cut to a few letters, so that numbers say more.
bool has_numbers_only(const AxisLabels& axis, float cell, float widest, float most, const Style& style) {
  constexpr float kReadable = 4;  // ems
  return !axis.numbered && label_step(cell, row_pitch(style)) > 1 && most < kReadable * style.small() &&
         widest > most;
}

float title_room(const AxisLabels& axis, const Style& style) {
  return axis.title.empty() ? 0 : style.line(style.small()) + style.unit();
}

/// A side of a grid with labels: its cells along that side, and the direction away from the edge.
struct Side {
  const Region& grid;
  bool rows;    ///< else columns
  bool before;  ///< left of rows, above columns

  float outwards() const { return before ? -1.F : 1.F; }
  float length() const { return rows ? grid.rect.h : grid.rect.w; }
  float cell() const { return length() / static_cast<float>(rows ? grid.rows : grid.cols); }
  float turn() const { return rows ? -kQuarterTurn : 0; }  ///< rotation of text along the side
  std::vector<int> labelled(float needed, int emphasised) const {
    return rows ? labelled_cells(grid.first_row, grid.rows, grid.row_count, cell(), needed, emphasised)
                : labelled_cells(grid.first_col, grid.cols, grid.col_count, cell(), needed, emphasised);
  }
  /// A point `out` pixels from the edge, at a cell's middle (-1: at the side's).
  Point at(int i, float out) const {
    const Rect& r = grid.rect;
    const Point middle = i < 0 ? r.center() : grid.cell_rect(rows ? i : 0, rows ? 0 : i).center();
    if (rows) return {(before ? r.x : r.right()) + outwards() * out, middle.y};
    return {middle.x, (before ? r.y : r.bottom()) + outwards() * out};
  }
};

/// The same grid with a row (column) for each label.
Region grid_of_labels(const AxisLabels& axis, Region grid, bool rows) {
  if (rows) {
    grid.row_count /= axis.cells_each;
    grid.rows /= axis.cells_each;
    grid.first_row /= axis.cells_each;
  } else {
    grid.col_count /= axis.cells_each;
    grid.cols /= axis.cells_each;
    grid.first_col /= axis.cells_each;
  }
  return grid;
}

/// The numbers of columns whose labels have no room.
void paint_level_numbers(Scene& scene, const AxisLabels& axis, const Side& side, float limit,
                         const Style& style) {
  const float widest = style.width(std::to_string(axis.labels.size()), style.small());
  for (const int i : side.labelled(widest + 2 * style.unit(), axis.emphasised)) {
    const bool marked = i == axis.emphasised;
    const std::string number = std::to_string(i);
    const float half = style.width(number, style.small()) / 2;
    Point at = side.at(i, style.unit() + style.line(style.small()) / 2);
    at.x = std::min(at.x, std::max(limit, side.grid.rect.right()) - half);
    add_label(scene, style, number, at, style.small(), marked ? axis.color : style.theme.text,
              marked ? FontStyle::medium : FontStyle::regular, Align::center);
  }
}

}  // namespace

int label_step(float cell, float needed) {
  for (int decade = 1; decade < 100'000'000; decade *= 10) {
    for (const int step : {decade, 2 * decade, 5 * decade}) {
      if (static_cast<float>(step) * cell >= needed) return step;
    }
  }
  return 1'000'000'000;
}

std::vector<int> labelled_cells(double first, double count, int total, float cell, float needed,
                                int emphasised) {
  const int step = label_step(cell, needed);
  // Only cells whose middle is visible.
  const int begin = std::max(0, static_cast<int>(std::ceil(first - 0.5)));
  const int end = std::min(total - 1, static_cast<int>(std::floor(first + count - 0.5)));
  const int clear = static_cast<int>(std::ceil(needed / std::max(cell, 1e-3F)));
  const bool is_extra = step > 1 && emphasised >= begin && emphasised <= end && emphasised % step != 0;
  std::vector<int> labelled;
  for (int i = (begin + step - 1) / step * step; i <= end; i += step)
    if (!is_extra || std::abs(i - emphasised) >= clear) labelled.push_back(i);
  if (is_extra) labelled.insert(std::ranges::lower_bound(labelled, emphasised), emphasised);
  return labelled;
}

/// A room that grows in steps where labels may change, so that the grid does not move with every typed
/// letter.
static float in_steps(float size, float step, const AxisLabels& axis) {
  return std::ceil(axis.is_still ? size : std::ceil(size / step) * step);
}

LabelRoom row_label_room(const AxisLabels& axis, float cell, float most, const Style& style) {
  cell *= static_cast<float>(axis.cells_each);
  if (axis.labels.empty() || most < 2 * style.small()) return {title_room(axis, style), 0, LabelAngle::level};
  LabelRoom room;
  room.widest = widest_label(axis, cell, most, style);
  room.size = in_steps(room.widest + 2 * style.unit(), 4 * style.unit(), axis) + title_room(axis, style);
  return room;
}

LabelRoom column_label_room(const AxisLabels& axis, float cell, float most, const Style& style) {
  cell *= static_cast<float>(axis.cells_each);
  if (axis.labels.empty() || most < 2 * style.small()) return {title_room(axis, style), 0, LabelAngle::level};
  const float widest = widest_label(axis, cell, 1e9F, style);
  const bool numbers = has_numbers_only(axis, cell, widest, most, style);
  LabelRoom room;
  float height = 0;
  if (numbers || widest + 2 * style.unit() <= cell) {
    room.angle = LabelAngle::level;
    room.widest = widest;
    height = style.line(style.small());
  } else if (cell >= 1.6F * style.small()) {
    room.angle = LabelAngle::slanted;
    room.widest = std::min(widest, (most - style.small()) / kDiagonal);
    height = std::ceil(room.widest * kDiagonal + 0.6F * style.small());
  } else {
    room.angle = LabelAngle::upright;
    room.widest = std::min(widest, most);
    height = room.widest;
  }
  room.size = in_steps(height + 2 * style.unit(), 2 * style.unit(), axis) + title_room(axis, style);
  return room;
}

float lean_of(const AxisLabels& axis, const LabelRoom& room, const Style& style) {
  if (room.angle != LabelAngle::slanted || axis.labels.empty()) return 0;
  return kDiagonal * std::min(room.widest, style.width(axis.labels.back(), style.small()));
}

bool paint_axis_labels(Scene& scene, const AxisLabels& axis, const LabelRoom& room, const Region& grid,
                       LabelSide at_side, const Style& style, float limit) {
  const bool rows = at_side == LabelSide::left || at_side == LabelSide::right;
  const Region labelled = grid_of_labels(axis, grid, rows);
  const Side side{labelled, rows, at_side == LabelSide::left || at_side == LabelSide::above};
  bool whole = room.widest > 0 || axis.labels.empty();
  const float u = style.unit(), size = style.small(), line = style.line(size);
  if (!axis.title.empty())
    whole &=
        add_whole_label(scene, style, axis.title, side.at(-1, room.size - line / 2), side.length(),
                        axis.title_color.value_or(axis.color), FontStyle::medium, Align::center, side.turn());
  if (room.widest <= 0) return whole;
  const int step = label_step(side.cell(), row_pitch(style));
  if (!side.rows && room.angle == LabelAngle::level && step > 1) {
    paint_level_numbers(scene, axis, side, limit, style);
    return whole;
  }
  // Rotated labels begin or end at the grid, like those of rows.
  const Align inner = side.before == side.rows ? Align::right : Align::left;
  for (const int i : side.labelled(row_pitch(style), axis.emphasised)) {
    const bool marked = i == axis.emphasised;
    const auto add = [&](Point at, Align align, float most, float angle) {
      add_label(scene, style, written(axis, i, step), at, size, marked ? axis.color : style.theme.text,
                marked ? FontStyle::medium : FontStyle::regular, align, most, angle);
    };
    const Point beside = side.at(i, 1.5F * u);
    const float most = room.widest + 0.4F * u;
    if (side.rows) {
      add(beside, inner, most, 0);
    } else if (room.angle == LabelAngle::level) {
      add(side.at(i, u + line / 2), Align::center, side.cell(), 0);
    } else if (room.angle == LabelAngle::slanted) {
      const float reach = std::abs(limit - beside.x) / kDiagonal - size;
      add({beside.x + side.outwards() * 0.3F * size, beside.y}, inner, std::min(most, reach), -kEighthTurn);
    } else {
      add(beside, inner, most, -kQuarterTurn);
    }
  }
  return whole;
}

float column_numbers_height(const Style& style) {
  return 2 * style.line(style.small()) + 2 * style.unit();
}

float row_numbers_width(int row_count, const Style& style) {
  return std::ceil(style.width(std::to_string(std::max(0, row_count - 1)), style.small()) +
                   style.line(style.small()) + 3 * style.unit());
}

void paint_column_numbers(Scene& scene, const Region& grid, const std::string& title, const Style& style) {
  const Side side{grid, false, false};
  const float line = style.line(style.small()), u = style.unit();
  for (const int i : side.labelled(style.width(std::to_string(grid.col_count), style.small()) + 4 * u, -1)) {
    const Point at = side.at(i, 0);
    const std::string text = std::to_string(i);
    scene.add_line(at, {at.x, at.y + u}, style.theme.text_muted);
    if (at.x + style.width(text, style.small()) / 2 <= grid.rect.right() + 2 * u)
      add_muted(scene, style, text, {at.x, at.y + 1.5F * u + line / 2}, Align::center);
  }
  add_whole_label(scene, style, title, {grid.rect.center().x, grid.rect.bottom() + 1.5F * u + 1.5F * line},
                  side.length(), style.theme.text_muted, FontStyle::regular, Align::center);
}

void paint_row_numbers(Scene& scene, const Region& grid, const std::string& title, const Style& style) {
  const Side side{grid, true, true};
  const float line = style.line(style.small()), u = style.unit();
  for (const int i : side.labelled(1.6F * line, -1)) {
    const Point at = side.at(i, 0);
    scene.add_line({at.x - u, at.y}, at, style.theme.text_muted);
    add_muted(scene, style, std::to_string(i), {at.x - 1.5F * u, at.y}, Align::right);
  }
  add_whole_label(scene, style, title,
                  {grid.rect.x - row_numbers_width(grid.row_count, style) + line / 2, grid.rect.center().y},
                  side.length(), style.theme.text_muted, FontStyle::regular, Align::center, side.turn());
}

}  // namespace headscope::viz
