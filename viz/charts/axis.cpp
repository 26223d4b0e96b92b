#include "viz/charts/axis.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::viz {
namespace {

constexpr float kQuarterTurn = std::numbers::pi_v<float> / 2;
constexpr float kEighthTurn = std::numbers::pi_v<float> / 4;
constexpr float kDiagonal = std::numbers::sqrt2_v<float> / 2;
constexpr std::size_t kMeasured = 256;  // labels that are measured to find the room they need

float row_pitch(const Style& style) {
  return 1.25F * style.small();
}

/// A label as it is written: with its number where others are left out.
std::string written(const AxisLabels& axis, int i, int step) {
  const std::string& label = axis.labels[i];
  const std::string number = std::to_string(i);
  return step > 1 && label != number ? number + " " + label : label;
}

float widest_label(const AxisLabels& axis, int step, float most, const Style& style) {
  float widest = 0;
  const std::size_t stride = std::max<std::size_t>(1, axis.labels.size() / kMeasured);
  for (std::size_t i = 0; i < axis.labels.size() && widest < most; i += stride) {
    widest = std::max(widest, style.width(written(axis, static_cast<int>(i), step), style.small()));
  }
  // What was not measured may be wider: the number at least counts in full.
  if (step > 1 && stride > 1) {
    const std::string last = std::to_string(axis.labels.size() - 1);
    widest = std::max(widest, style.width(last, style.small()) + 3 * style.small());
  }
  return std::ceil(std::min(widest, most));
}

float title_room(const AxisLabels& axis, const Style& style) {
  return axis.title.empty() ? 0 : style.line(style.small()) + style.unit();
}

/// Names an axis, where there is room: a title cut short says nothing. Returns whether there was.
bool add_title(Scene& scene, const Style& style, const std::string& title, Point middle, Color color,
               FontStyle face, float room, float angle) {
  if (style.width(title, style.small(), face) > room) return false;
  add_label(scene, style, title, middle, style.small(), color, face, Align::center, room, angle);
  return true;
}

Point cell_center(const Region& grid, int row, int col) {
  return grid.cell_rect(row, col).center();
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
  // Only cells whose middle is in sight.
  const int begin = std::max(0, static_cast<int>(std::ceil(first - 0.5)));
  const int end = std::min(total - 1, static_cast<int>(std::floor(first + count - 0.5)));
  const bool keep = step > 1 && emphasised >= begin && emphasised <= end;
  const int clear = keep ? static_cast<int>(std::ceil(needed / std::max(cell, 1e-3F))) : 0;
  std::vector<int> cells;
  for (int i = (begin + step - 1) / step * step; i <= end; i += step) {
    if (keep && i != emphasised && std::abs(i - emphasised) < clear) continue;
    cells.push_back(i);
  }
  if (keep && emphasised % step != 0) {
    cells.insert(std::upper_bound(cells.begin(), cells.end(), emphasised), emphasised);
  }
  return cells;
}

LabelRoom row_label_room(const AxisLabels& axis, float cell, float most, const Style& style) {
  if (axis.labels.empty() || most < 2 * style.small()) return {title_room(axis, style), 0, LabelAngle::level};
  LabelRoom room;
  room.widest = widest_label(axis, label_step(cell, row_pitch(style)), most, style);
  // In steps, so that the grid does not move with every letter that is typed.
  room.size = std::ceil((room.widest + 2 * style.unit()) / (4 * style.unit())) * 4 * style.unit() +
              title_room(axis, style);
  return room;
}

LabelRoom column_label_room(const AxisLabels& axis, float cell, float most, const Style& style) {
  if (axis.labels.empty() || most < 2 * style.small()) return {title_room(axis, style), 0, LabelAngle::level};
  const float widest = widest_label(axis, label_step(cell, row_pitch(style)), 1e9F, style);
  LabelRoom room;
  float height = 0;
  if (widest + 2 * style.unit() <= cell) {
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
  room.size = std::ceil((height + 2 * style.unit()) / (2 * style.unit())) * 2 * style.unit() +
              title_room(axis, style);
  return room;
}

bool paint_row_labels(Scene& scene, const AxisLabels& axis, const LabelRoom& room, const Region& grid,
                      const Style& style, LabelSide side) {
  bool whole = room.widest > 0 || axis.labels.empty();
  const bool left = side == LabelSide::before;
  const float edge = left ? grid.rect.x : grid.rect.right(), outwards = left ? -1.F : 1.F;
  if (!axis.title.empty()) {
    const float x = edge + outwards * (room.size - style.line(style.small()) / 2);
    whole &= add_title(scene, style, axis.title, {x, grid.rect.center().y}, axis.color, FontStyle::medium,
                       grid.rect.h, -kQuarterTurn);
  }
  if (room.widest <= 0) return whole;
  const float cell = grid.rect.h / static_cast<float>(grid.rows);
  const int step = label_step(cell, row_pitch(style));
  for (const int i :
       labelled_cells(grid.first_row, grid.rows, grid.row_count, cell, row_pitch(style), axis.emphasised)) {
    const bool marked = i == axis.emphasised;
    add_label(scene, style, written(axis, i, step),
              {edge + outwards * 1.5F * style.unit(), cell_center(grid, i, 0).y}, style.small(),
              marked ? axis.color : style.theme.text, marked ? FontStyle::medium : FontStyle::regular,
              left ? Align::right : Align::left, room.widest + 0.4F * style.unit());
  }
  return whole;
}

bool paint_column_labels(Scene& scene, const AxisLabels& axis, const LabelRoom& room, const Region& grid,
                         float limit, const Style& style, LabelSide side) {
  bool whole = room.widest > 0 || axis.labels.empty();
  const bool above = side == LabelSide::before;
  const float edge = above ? grid.rect.y : grid.rect.bottom(), outwards = above ? -1.F : 1.F;
  if (!axis.title.empty()) {
    const float y = edge + outwards * (room.size - style.line(style.small()) / 2);
    whole &= add_title(scene, style, axis.title, {grid.rect.center().x, y}, axis.color, FontStyle::medium,
                       grid.rect.w, 0);
  }
  if (room.widest <= 0) return whole;
  const float cell = grid.rect.w / static_cast<float>(grid.cols), u = style.unit();
  const int step = label_step(cell, row_pitch(style));
  const Align turned = above ? Align::left : Align::right;  // what is turned begins or ends at the grid
  for (const int i :
       labelled_cells(grid.first_col, grid.cols, grid.col_count, cell, row_pitch(style), axis.emphasised)) {
    const bool marked = i == axis.emphasised;
    const Color color = marked ? axis.color : style.theme.text;
    const FontStyle face = marked ? FontStyle::medium : FontStyle::regular;
    const std::string text = written(axis, i, step);
    const float x = cell_center(grid, 0, i).x, most = room.widest + 0.4F * u;
    switch (room.angle) {
      case LabelAngle::level:
        add_label(scene, style, text, {x, edge + outwards * (u + style.line(style.small()) / 2)},
                  style.small(), color, face, Align::center, cell);
        break;
      case LabelAngle::slanted: {
        const float reach = std::abs(limit - x) / kDiagonal - style.small();
        add_label(scene, style, text, {x + outwards * 0.3F * style.small(), edge + outwards * 1.5F * u},
                  style.small(), color, face, turned, std::min(most, reach), -kEighthTurn);
        break;
      }
      case LabelAngle::upright:
        add_label(scene, style, text, {x, edge + outwards * 1.5F * u}, style.small(), color, face, turned,
                  most, -kQuarterTurn);
        break;
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
  const float cell = grid.rect.w / static_cast<float>(grid.cols), line = style.line(style.small()),
              u = style.unit();
  const float needed = style.width(std::to_string(grid.col_count), style.small()) + 4 * u;
  for (const int i : labelled_cells(grid.first_col, grid.cols, grid.col_count, cell, needed, -1)) {
    const float x = cell_center(grid, 0, i).x, y = grid.rect.bottom();
    const std::string text = std::to_string(i);
    scene.add(Segments{{{x, y}, {x, y + u}}, style.theme.text_muted, 1});
    const float half = style.width(text, style.small()) / 2;
    if (x + half > grid.rect.right() + 2 * u) continue;
    add_label(scene, style, text, {x, y + 1.5F * u + line / 2}, style.small(), style.theme.text_muted,
              FontStyle::regular, Align::center);
  }
  add_title(scene, style, title, {grid.rect.center().x, grid.rect.bottom() + 1.5F * u + 1.5F * line},
            style.theme.text_muted, FontStyle::regular, grid.rect.w, 0);
}

void paint_row_numbers(Scene& scene, const Region& grid, const std::string& title, const Style& style) {
  const float cell = grid.rect.h / static_cast<float>(grid.rows), line = style.line(style.small()),
              u = style.unit();
  for (const int i : labelled_cells(grid.first_row, grid.rows, grid.row_count, cell, 1.6F * line, -1)) {
    const float x = grid.rect.x, y = cell_center(grid, i, 0).y;
    scene.add(Segments{{{x - u, y}, {x, y}}, style.theme.text_muted, 1});
    add_label(scene, style, std::to_string(i), {x - 1.5F * u, y}, style.small(), style.theme.text_muted,
              FontStyle::regular, Align::right);
  }
  add_title(scene, style, title,
            {grid.rect.x - row_numbers_width(grid.row_count, style) + line / 2, grid.rect.center().y},
            style.theme.text_muted, FontStyle::regular, grid.rect.h, -kQuarterTurn);
}

}  // namespace headscope::viz
