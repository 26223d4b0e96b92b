#pragma once
#include <string>
#include <vector>

#include "viz/picture.h"

namespace headscope::viz {

/// One line of a bar chart.
struct Bar {
  std::string label;   ///< left of the bar
  double value = 0;    ///< its length, in units of BarChart::longest
  std::string number;  ///< right of the bar, right-aligned
  std::string detail;  ///< muted, right of the number; left out where the chart is narrow
  Color color;
  Color label_color;
  bool marked = false;  ///< a triangle before the label
  bool muted = false;   ///< label and number in the muted colour, no region
  int id = 0;           ///< of its region
};

struct BarChart {
  std::vector<Bar> bars;
  double longest = 1;  ///< value of a bar over the whole width
  int role = 0;        ///< of the regions, one a bar
  std::string number_title;
  std::string detail_title;
};

float bar_height(const Style& style);  ///< of one line
float bar_chart_height(std::size_t bars, bool titles, const Style& style);

/// Horizontal bars from the top of `area` on; those that have no room are left out.
void paint_bar_chart(Picture& picture, const BarChart& chart, Rect area, const Style& style);

/// A bar from zero to `value` on an axis from `low` to `high` (low <= 0 <= high), with a hairline at zero.
void paint_signed_bar(Scene& scene, Rect rect, double value, double low, double high, Color color,
                      const Style& style);

}  // namespace headscope::viz
