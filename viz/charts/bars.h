#pragma once
#include <limits>
#include <string>
#include <vector>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

/// One line of a bar chart.
struct Bar {
  std::string label;  ///< left of the bar
  double value = 0;   ///< its length from 0, in units of BarChart::longest; negative to the left
  double before = std::numeric_limits<double>::quiet_NaN();  ///< another value, as a mark; NaN: none
  std::string number;                                        ///< right of the bar, right-aligned
  std::string detail;  ///< muted, right of the number; left out if the chart is narrow
  Color color;
  Color label_color;
  bool marked = false;  ///< a triangle before the label
  bool muted = false;   ///< label and number in the muted colour, no region
  int id = 0;           ///< id of its region
};

struct BarChart {
  std::vector<Bar> bars;
  double least = 0;                ///< the beginning of the axis: 0, or a negative round number
  double longest = 1;              ///< the end of the axis, a round number
  std::string unit;                ///< after the axis' last number, e.g. " %"
  int role = 0;                    ///< role of the regions, one per bar
  std::string number_title;        ///< title of the axis and the numbers; empty: neither titles nor axis
  std::string short_number_title;  ///< used if `number_title` is too wide; empty: it is truncated
  std::string detail_title;
  // Columns depend on the area's width only, not on the bars' texts.
  std::string widest_number;  ///< reserved width of numbers; a wider one takes its own
  std::string widest_detail;
  bool marks = false;  ///< whether room for triangles is reserved
};

float bar_height(const Style& style);  ///< height of one line
float bar_chart_height(std::size_t bars, bool titles, const Style& style);

/// Draws horizontal bars next to their labels, or in a narrow area below them, from the top of `area`, on a
/// numbered axis from `least` to `longest`. Bars that do not fit are left out, and the picture is not whole
/// then.
void paint_bar_chart(Picture& picture, const BarChart& chart, Rect area, const Style& style);

/// A bar from zero to `value` on an axis from `low` to `high` (low <= 0 <= high), with a hairline at zero.
void paint_signed_bar(Scene& scene, Rect rect, double value, double low, double high, Color color,
                      const Style& style);

}  // namespace headscope::viz
