#include "viz/charts/number_axis.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {

float NumberAxis::clamped(double value, float start, float length) const {
  return along(std::clamp(value, low, high), start, length);
}

float NumberAxis::widest(const Style& style) const {
  float width = 0;
  for (const Tick& tick : ticks) width = std::max(width, style.width(tick.text, style.small()));
  return width;
}

int upright_tick_count(float height, int most, const Style& style) {
  return std::clamp(static_cast<int>(height / (2 * style.line(style.small()))), 2, most);
}

void paint_y_numbers(Scene& scene, const PlotFrame& plot, const Style& style) {
  const Rect& area = plot.area;
  const float line = style.line(style.small());
  float above = area.bottom() + 2 * line;
  for (const Tick& tick : plot.y.ticks) {
    const float y = plot.y_of(tick.value);
    scene.add_line({area.x, y}, {area.right(), y}, style.theme.line);
    if (above - y < line) continue;
    above = y;
    add_muted(scene, style, tick.text, {area.x - 1.5F * style.unit(), y}, Align::right);
  }
}

void paint_x_numbers(Scene& scene, const PlotFrame& plot, const NumberRow& row, const Style& style) {
  float from = row.left;
  for (const Tick& tick : plot.x.ticks) {
    const float x = plot.x_of(tick.value), half = style.width(tick.text, style.small()) / 2;
    scene.add_line({x, row.top}, {x, row.bottom}, row.line);
    if (x - half < from || x + half > row.right) continue;
    from = x + half + style.unit();
    add_muted(scene, style, tick.text, {x, row.middle}, Align::center);
  }
}

double round_limit(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  constexpr double kSlack = 1e-9;
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double mantissa : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (mantissa * decade >= value * (1 - kSlack)) return mantissa * decade;
  }
  return 10 * decade;
}

}  // namespace headscope::viz
