#pragma once
#include <limits>
#include <string>
#include <vector>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

/// One line of a bar chart.
struct Bar {
  std::string label;                                         ///< left of the bar
  double value = 0;                                          ///< its length, in units of BarChart::longest
  double before = std::numeric_limits<double>::quiet_NaN();  ///< another value, as a mark; NaN: none
  std::string number;                                        ///< right of the bar, right-aligned
  std::string detail;  ///< muted, right of the number; left out where the chart is narrow
  Color color;
  Color label_color;
  bool marked = false;  ///< a triangle before the label
  bool muted = false;   ///< label and number in the muted colour, no region
  int id = 0;           ///< of its region
};

struct BarChart {
  std::vector<Bar> bars;
  double longest = 1;        ///< value of a bar over the whole width, a round number: the axis ends there
  std::string unit;          ///< after the axis' last number, e.g. " %"
  int role = 0;              ///< of the regions, one a bar
  std::string number_title;  ///< of the axis and the numbers; empty: neither titles nor axis
  std::string short_number_title;  ///< in its place where that is too wide; empty: it is cut
  std::string detail_title;
  // Columns stand where the area's width puts them, whatever the bars say.
  std::string widest_number;  ///< room kept for numbers; one that is wider takes its own
  std::string widest_detail;
  bool marks = false;  ///< room kept for triangles
};

float bar_height(const Style& style);  ///< of one line
float bar_chart_height(std::size_t bars, bool titles, const Style& style);

/// Horizontal bars beside their labels, or where the area is narrow under them, from the top of `area` on, on
/// a numbered axis from 0 to `longest`; those that have no room are left out, and the picture is not whole
/// then.
void paint_bar_chart(Picture& picture, const BarChart& chart, Rect area, const Style& style);

/// A bar from zero to `value` on an axis from `low` to `high` (low <= 0 <= high), with a hairline at zero.
void paint_signed_bar(Scene& scene, Rect rect, double value, double low, double high, Color color,
                      const Style& style);

}  // namespace headscope::viz
