#pragma once
#include <vector>

#include "viz/scene/colormap.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// An axis from `low` to `high`, with numbered ticks.
struct NumberAxis {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks = {};

  double range() const { return high > low ? high - low : 1; }
  /// The place of a number on an axis that begins at `start`; `length` is negative if it points up.
  float along(double value, float start, float length) const {
    return start + static_cast<float>((value - low) / range()) * length;
  }
  /// The same for a bar, clamped to the axis.
  float clamped(double value, float start, float length) const;
  float widest(const Style& style) const;  ///< width of the widest tick text
};

/// A plot over `area`, x to the right and y up.
struct PlotFrame {
  Rect area;
  NumberAxis x, y;

  float x_of(double value) const { return x.along(value, area.x, area.w); }
  float y_of(double value) const { return y.along(value, area.bottom(), -area.h); }
  Point place(double at_x, double at_y) const { return {x_of(at_x), y_of(at_y)}; }
};

/// How many numbers an upright axis of this height has room for, 2 to `most`.
int upright_tick_count(float height, int most, const Style& style);

/// Draws a line across the plot at each tick of its y axis, and at its left the numbers that fit.
void paint_y_numbers(Scene& scene, const PlotFrame& plot, const Style& style);

/// Lines at the ticks of the x axis from `top` to `bottom`, and below them, centred at the height `middle`,
/// the numbers that neither begin before `left`, nor end after `right`, nor touch.
struct NumberRow {
  float top = 0, bottom = 0;
  Color line;
  float middle = 0;
  float left = -1e9F, right = 1e9F;
};
void paint_x_numbers(Scene& scene, const PlotFrame& plot, const NumberRow& row, const Style& style);

/// The smallest of 1, 1.5, 2, 2.5, 3, 4, 5, 6 and 8 x 10^k that is at least `value`: a round axis limit that
/// leaves little of the axis empty. 1 for non-positive values.
double round_limit(double value);

}  // namespace headscope::viz
