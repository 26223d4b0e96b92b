#pragma once
#include <vector>

#include "viz/scene/colormap.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// An axis from `low` to `high` with the numbers that are written along it.
struct NumberAxis {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks = {};

  double range() const { return high > low ? high - low : 1; }
  /// Where a number lies on an axis that begins at `start`; `length` is negative where it leads up.
  float along(double value, float start, float length) const {
    return start + static_cast<float>((value - low) / range()) * length;
  }
  /// The same for a bar, which ends where the axis does.
  float clamped(double value, float start, float length) const;
  float widest(const Style& style) const;  ///< of the ticks' texts
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

/// A line across the plot at each tick of its y axis, and the numbers that have room left of it.
void paint_y_numbers(Scene& scene, const PlotFrame& plot, const Style& style);

/// Lines at the ticks of the x axis from `top` to `bottom`, and centred under them, at the height `middle`,
/// the numbers that neither begin before `left`, nor end after `right`, nor touch.
struct NumberRow {
  float top = 0, bottom = 0;
  Color line;
  float middle = 0;
  float left = -1e9F, right = 1e9F;
};
void paint_x_numbers(Scene& scene, const PlotFrame& plot, const NumberRow& row, const Style& style);

/// The least of 1, 2 and 5 x 10^k that is not below `value`: where an axis can end. 1 for what is not
/// positive.
double round_limit(double value);

}  // namespace headscope::viz
