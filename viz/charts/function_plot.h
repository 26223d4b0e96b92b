#pragma once
#include <string>
#include <vector>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

/// A point on the axes of a plot.
struct PlotPoint {
  double x = 0;
  double y = 0;
};

/// The curve of a function with points on it: x to the right, y up, numbered axes.
struct FunctionPlot {
  std::vector<PlotPoint> curve;  ///< a joined line
  Color curve_color;
  std::vector<PlotPoint> points;  ///< many, small and translucent
  Color point_color;
  std::vector<PlotPoint> dots;  ///< few, large; painted in their order
  Color dot_color;
  NumberAxis x{-1, 1}, y{-1, 1};  ///< ticks are chosen by the available room
  std::string x_title, y_title;   ///< under the plot and above it
  int role = 0;                   ///< role of the region: a row of kPlotColumns over the frame
};

constexpr int kPlotColumns = 200;
/// Radius of a dot.
float plot_dot_radius(const Style& style);
/// x at the middle of a column.
double x_of_column(const FunctionPlot& plot, int column);
/// The place of a point in a plot over `frame`.
Point place_in_plot(const FunctionPlot& plot, Rect frame, PlotPoint at);
/// The frame in an area, leaving room for the axes' numbers and titles; w or h is 0 if there is none.
Rect plot_frame(const FunctionPlot& plot, Rect area, const Style& style);
/// Draws the plot over `frame` with its text around it.
void paint_function_plot(Picture& picture, const FunctionPlot& plot, Rect frame, const Style& style);

}  // namespace headscope::viz
