#pragma once
#include <string>
#include <vector>

#include "viz/scene/matrix.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// Colours for curves of different things; they repeat after seven. Based on Okabe & Ito (2008), adjusted as
/// little as necessary so that all have a contrast of at least 3:1 to the theme's surface and are 0.08 apart
/// in Oklab, with normal colour vision and with each kind of colour blindness. On white, where three of the
/// originals are too pale, these are a brown, an indigo and a grey.
Color categorical(const Theme& theme, int index);

struct Curve {
  Matrix values;  ///< one row: y at x = 0, 1, ...; NaN: a gap
  std::string label;
  Color color;
  int dashes = 0;  ///< see dashes_of(): which curve it is without its colour
};

struct CurveChart {
  std::vector<Curve> curves;
  double low = -1;  ///< lower limit of the y axis
  double high = 1;
  int count = 0;     ///< x values
  double first = 0;  ///< x at the plot's left edge, and how many it shows; 0: all
  double shown = 0;
  double marked_x = -1;  ///< an upright line, -1: none
  Color mark_color;
  std::string mark_label;
  int role = 0;  ///< role of the region: one row, a column for each x
  int id = 0;
};

/// Draws a title and the names of the curves, each after a sample of its line, in as many lines of text as
/// the area's width needs. Returns their height.
float paint_curve_names(Scene& scene, const CurveChart& chart, const std::string& title, Rect area,
                        const Style& style);

/// Curves in `plot` (the frame), with an arrow where one leaves it; y numbers go left of it. Returns the
/// region, also added.
Region paint_curves(Picture& picture, const CurveChart& chart, Rect plot, const Style& style);

}  // namespace headscope::viz
