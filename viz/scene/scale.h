#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/colormap.h"
#include "viz/scene/matrix.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// How values become colours: a colour map and a range. Values outside the range have the colour of its
/// nearer end.
struct ColorScale {
  enum class Map { sequential, diverging };
  Map map = Map::sequential;
  bool logarithmic = false;
  double low = 0;
  double high = 1;
  bool values_below = false;  ///< some values are below `low`, which the legend shows
  bool values_above = false;

  /// Position on the colour map: [0, 1] for sequential, [-1, 1] for diverging; clamped. NaN stays NaN.
  double parameter(double value) const;
  Color color(const Theme& theme, double value) const;
  bool operator==(const ColorScale&) const = default;
};

/// From 0 to high; an empty range (high <= 0) becomes 0 to 1.
ColorScale linear_scale(double high);
/// Decades from the smallest positive value to the largest, at most five.
ColorScale logarithmic_scale(double smallest_positive, double largest);
/// From -magnitude to magnitude.
ColorScale diverging_scale(double magnitude);

/// A scale as a table, for colouring many cells.
class ColorTable {
 public:
  ColorTable(const ColorScale& scale, const Theme& theme);
  Color operator()(float value) const;

 private:
  bool logarithmic_;
  float offset_;
  float factor_;
  Color nan_;
  std::span<const Color> colors_;
};

/// The range of a matrix' finite values (optionally without one column, and without masked cells).
struct ValueRange {
  float low = 0;
  float high = 0;
  float smallest_positive = 0;  ///< 0: none
  float magnitude() const;      ///< the larger of |low| and |high|
};
struct RangeOptions {
  bool masked_above_diagonal = false;
  int without_column = -1;
  int first_row = 0;  ///< earlier rows are left out
};
ValueRange value_range(const Matrix& matrix, const RangeOptions& options = {});
/// The scale with marks at its ends for values of this range beyond them: of one of several things that share
/// it.
ColorScale marked_for(ColorScale scale, const ValueRange& range);
/// The union of two ranges.
ValueRange united(const ValueRange& a, const ValueRange& b);

/// A magnitude that at most a `fraction` of the finite values exceeds, accurate to about 6 %; for matrices
/// with outliers.
float robust_magnitude(const Matrix& matrix, double fraction);

/// From -m to m, where m is the robust magnitude of a matrix or, if that is 0, its largest magnitude; marks
/// the sides on which `range` extends further.
ColorScale robust_scale(const Matrix& matrix, double fraction, const ValueRange& range);
ColorScale robust_scale(const Matrix& matrix, double fraction);  ///< with the matrix's own range

/// The colour of out-of-range cells, with its label.
struct Outside {
  Color color;
  std::string text;
};

/// Width of the upright legend, including numbers and title.
float color_scale_width(const ColorScale& scale, const std::string& title,
                        const std::optional<Outside>& outside, const Style& style);
/// Draws a legend in `area`: a title, a colour bar with the largest value on top, numbers to its right.
/// Leaves out what does not fit, and returns whether everything did.
bool paint_color_scale(Scene& scene, const ColorScale& scale, const std::string& title,
                       const std::optional<Outside>& outside, Rect area, const Style& style);
/// Draws a legend in a line of text that is at most `room` wide: the scale with its title or, if that is too
/// wide, without, and the out-of-range colour if it fits. Returns whether there was room for the scale; if
/// not, draws nothing.
bool paint_color_scale_in(Scene& scene, const ColorScale& scale, const std::string& title,
                          const std::optional<Outside>& outside, Point left_middle, float room,
                          const Style& style);
/// Draws a horizontal legend in a line of text: "title low [bar] high". Returns its width.
float paint_color_scale_line(Scene& scene, const ColorScale& scale, const std::string& title,
                             Point left_middle, const Style& style);

}  // namespace headscope::viz
