#pragma once
#include <string>
#include <vector>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

/// Points of a plane, of kinds that differ in shape. Both axes have the same unit.
struct ScatterChart {
  enum class Shape { circle, triangle };
  struct Kind {
    std::string name;
    Shape shape = Shape::circle;
    Color color;  ///< of outlines and labels
  };
  struct Mark {
    double x = 0;
    double y = 0;
    int kind = 0;
    Color fill;
    std::string label;  ///< beside it, where that covers nothing
    bool chosen = false;
  };
  std::vector<Kind> kinds;
  std::vector<Mark> marks;  ///< painted in their order, the chosen ones last
  std::string x_title, y_title;
  int role = 0;  ///< of the region: a cell for each pixel, so that a hit tells where it is
};

/// Where a chart stands in an area.
struct ScatterLayout {
  Rect frame;                 ///< w or h is 0 where there is no room
  std::vector<Point> places;  ///< of the marks
  NumberAxis x{-1, 1}, y{-1, 1};
};
ScatterLayout lay_out_scatter(const ScatterChart& chart, Rect area, const Style& style);

float scatter_radius(const ScatterChart& chart, const Style& style);  ///< of a mark

/// Axes with numbers and titles, the kinds' names above, and the marks. Labels without room are left out.
void paint_scatter(Picture& picture, const ScatterChart& chart, const ScatterLayout& layout,
                   const Style& style);

}  // namespace headscope::viz
