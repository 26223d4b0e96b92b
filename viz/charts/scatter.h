#pragma once
#include <string>
#include <vector>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

/// Points in two dimensions. Kinds of points have different shapes. Both axes have the same unit.
struct ScatterChart {
  enum class Shape { circle, triangle };
  struct Kind {
    std::string name;
    Shape shape = Shape::circle;
    Color color;  ///< colour of outlines and labels
  };
  struct Mark {
    double x = 0;
    double y = 0;
    int kind = 0;
    Color fill;
    std::string label;  ///< next to it, or of few marks at the end of a line, if that covers nothing
    bool chosen = false;
  };
  std::vector<Kind> kinds;
  std::vector<Mark> marks;  ///< drawn in this order, the chosen ones last
  std::string x_title, y_title;
  int role = 0;  ///< role of the region: a cell for each pixel, so that a hit tells where it is
};

/// The layout of a chart in an area.
struct ScatterLayout {
  Rect frame;                 ///< w or h is 0: no room
  std::vector<Point> places;  ///< places of the marks
  NumberAxis x{-1, 1}, y{-1, 1};
};
ScatterLayout lay_out_scatter(const ScatterChart& chart, Rect area, const Style& style);

/// Draws axes with numbers and titles, the kinds' names above, and the marks. Labels that do not fit are left
/// out, and how many marks have theirs is said below.
void paint_scatter(Picture& picture, const ScatterChart& chart, const ScatterLayout& layout,
                   const Style& style);

}  // namespace headscope::viz
