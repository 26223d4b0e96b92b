#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// Names of a grid's rows or columns.
struct AxisLabels {
  std::span<const std::string> labels;  ///< one per row (column); empty: no labels
  std::string title;
  Color color;          ///< colour of the emphasised label, and of the title unless it has its own
  int emphasised = -1;  ///< always labelled, even if others are left out
  std::optional<Color> title_color = {};
  bool numbered = false;  ///< labels have the number of their row (column): it is not put before them
  /// All rows (columns) are shown, and labels may change their room: it is no larger than those need that are
  /// written. Else it is that of the widest, so that nothing moves.
  bool is_still = false;
  int cells_each = 1;  ///< rows (columns) that share a label
};

/// The cells among [first, first + count) of `total` that get a label, if a cell is `cell` pixels and a label
/// needs `needed`: all, or `emphasised` and those at multiples of 2, 5, 10, 20, ... that do not touch it.
/// Ascending.
std::vector<int> labelled_cells(double first, double count, int total, float cell, float needed,
                                int emphasised);

/// The step between labels in `labelled_cells`.
int label_step(float cell, float needed);

/// Column labels are level if they fit, else slanted by 45 degrees, else upright. Where upright ones would be
/// cut to a few letters, there are level numbers instead.
enum class LabelAngle { level, slanted, upright };

/// Room for labels next to a grid: at the left for rows, above for columns. Titles included.
struct LabelRoom {
  float size = 0;    ///< logical pixels from the grid's edge outwards
  float widest = 0;  ///< width of the widest label, without the title
  LabelAngle angle = LabelAngle::level;
};

/// `cell`: expected height (width) of a cell; `most`: maximum for the labels without the title.
LabelRoom row_label_room(const AxisLabels& axis, float cell, float most, const Style& style);
LabelRoom column_label_room(const AxisLabels& axis, float cell, float most, const Style& style);

/// How far the last label of columns reaches beyond the grid; 0: it is not slanted.
float lean_of(const AxisLabels& axis, const LabelRoom& room, const Style& style);

/// The side of a grid with the labels of its rows (left, right) or columns.
enum class LabelSide { left, right, above, below };

/// Draws labels at a side of a grid, with the title beyond them. Slanted labels of columns end before
/// `limit`: above they lean to the right, below to the left. Returns whether everything fitted.
bool paint_axis_labels(Scene& scene, const AxisLabels& axis, const LabelRoom& room, const Region& grid,
                       LabelSide side, const Style& style, float limit = 0);

/// Plain numbers with small ticks: under a grid for its columns; left of it for its rows, the first row on
/// top.
void paint_column_numbers(Scene& scene, const Region& grid, const std::string& title, const Style& style);
void paint_row_numbers(Scene& scene, const Region& grid, const std::string& title, const Style& style);
/// The height they take.
float column_numbers_height(const Style& style);
float row_numbers_width(int row_count, const Style& style);

}  // namespace headscope::viz
