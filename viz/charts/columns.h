#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// Upright bars side by side in groups, on an upright axis. Charts of the same groups line up under each
/// other.
struct ColumnChart {
  std::vector<float> values;  ///< group after group; NaN: no bar
  std::vector<Color> colors;  ///< one per value
  int in_group = 1;           ///< values per group
  double low = 0;             ///< lower limit of the axis
  double high = 1;
  double base = 0;                      ///< where the bars start
  std::vector<std::string> titles;      ///< above the bars: the first that fits, longest first
  std::span<const std::string> labels;  ///< labels of the groups, under them; empty: none
  int unnumbered = 0;                   ///< number of groups before those counted from 0
  std::string labels_title;             ///< left of the labels, if there is room
  int marked = -1;                      ///< group on a ground of `mark`; -1: none
  Color mark;
  int role = 0;  ///< role of the region: one row, a column for each value
  int id = 0;

  int groups() const { return static_cast<int>(values.size()) / in_group; }
};

/// Room left of the bars for the axis' numbers, in a plot of this height.
float column_numbers_width(const ColumnChart& chart, float plot_height, const Style& style);
/// Room above the bars for the title, and under them for labels.
float column_title_height(const Style& style);
float column_labels_height(const Style& style);

/// Draws the bars in `plot` with labels, numbers and title around it. The picture is not whole if labels are
/// left out. Returns the region, which is also added.
Region paint_columns(Picture& picture, const ColumnChart& chart, Rect plot, const Style& style);

}  // namespace headscope::viz
