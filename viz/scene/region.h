#pragma once
#include <cmath>
#include <optional>
#include <span>

#include "viz/scene/geometry.h"

namespace headscope::viz {

/// A part of a picture that reacts to the mouse: a grid of equal cells over `rect`, which shows the cells
/// from (first_row, first_col) on, including fractions when panned. A button is a grid of 1 x 1. `role` is
/// the caller's number for the meaning of the cells; `id` distinguishes regions with the same role.
struct Region {
  int role = 0;
  int id = 0;
  Rect rect;             ///< the visible part
  double first_row = 0;  ///< at the top of rect
  double first_col = 0;  ///< at the left of rect
  double rows = 1;       ///< number of rows over rect's height
  double cols = 1;       ///< number of columns over rect's width
  int row_count = 1;     ///< total number
  int col_count = 1;

  /// A region that shows all of `rows` x `cols` cells over `rect`.
  static Region grid(int role, int id, Rect rect, int rows, int cols) {
    return {role, id, rect, 0, 0, static_cast<double>(rows), static_cast<double>(cols), rows, cols};
  }
  /// The rectangle of a cell; the inverse of `cell_at`.
  Rect cell_rect(int row, int col) const {
    const double ch = rect.h / rows, cw = rect.w / cols;
    return {static_cast<float>(rect.x + (col - first_col) * cw),
            static_cast<float>(rect.y + (row - first_row) * ch), static_cast<float>(cw),
            static_cast<float>(ch)};
  }
};

/// A part of a grid, in cells.
struct ShownCells {
  double row = 0;
  double col = 0;
  double rows = 0;  ///< 0: all
  double cols = 0;
  bool operator==(const ShownCells&) const = default;
};

struct Hit {
  int region = 0;  ///< index into the regions
  int row = 0;
  int col = 0;
  bool operator==(const Hit&) const = default;
};

/// The cell at a point; of overlapping regions the last, which was drawn last.
inline std::optional<Hit> hit_test(std::span<const Region> regions, Point p) {
  for (int i = static_cast<int>(regions.size()) - 1; i >= 0; --i) {
    const Region& r = regions[i];
    if (!r.rect.contains(p) || r.rect.w <= 0 || r.rect.h <= 0) continue;
    const int row = static_cast<int>(std::floor(r.first_row + (p.y - r.rect.y) / r.rect.h * r.rows));
    const int col = static_cast<int>(std::floor(r.first_col + (p.x - r.rect.x) / r.rect.w * r.cols));
    if (row < 0 || col < 0 || row >= r.row_count || col >= r.col_count) continue;
    return Hit{i, row, col};
  }
  return std::nullopt;
}

}  // namespace headscope::viz
