#include "viz/charts/function_plot.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "viz/scene/colormap.h"

namespace headscope::viz {
namespace {

struct Ticks {
  std::vector<double> values;
  std::vector<std::string> texts;
};

Ticks ticks_between(double low, double high, int most) {
  Ticks ticks{nice_ticks(low, high, std::clamp(most, 2, 7)), {}};
  const double step = ticks.values.size() > 1 ? ticks.values[1] - ticks.values[0] : 1;
  for (const double value : ticks.values) ticks.texts.push_back(tick_label(value, step));
  return ticks;
}

Ticks x_ticks(const FunctionPlot& plot, float width, const Style& style) {
  return ticks_between(plot.x_low, plot.x_high, static_cast<int>(width / (2.6F * style.font_size)));
}
Ticks y_ticks(const FunctionPlot& plot, float height, const Style& style) {
  return ticks_between(plot.y_low, plot.y_high, static_cast<int>(height / (2 * style.line(style.small()))));
}

void add_disc(Scene& scene, Point at, float radius, Color color) {
  scene.add(FillRect{{at.x - radius, at.y - radius, 2 * radius, 2 * radius}, color, radius});
}

void paint_axes(Scene& scene, const FunctionPlot& plot, Rect frame, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  const Theme& theme = style.theme;
  const Ticks x = x_ticks(plot, frame.w, style), y = y_ticks(plot, frame.h, style);
  float from = -1e9F;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const float at = place_in_plot(plot, frame, {x.values[i], plot.y_low}).x;
    scene.add(Segments{{{at, frame.y}, {at, frame.bottom()}}, theme.line, 1});
    const float w = style.width(x.texts[i], style.small());
    if (at - w / 2 < from) continue;
    from = at + w / 2 + u;
    add_label(scene, style, x.texts[i], {at, frame.bottom() + u + line / 2}, style.small(), theme.text_muted,
              FontStyle::regular, Align::center);
  }
  float above = frame.bottom() + 2 * line;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const float at = place_in_plot(plot, frame, {plot.x_low, y.values[i]}).y;
    scene.add(Segments{{{frame.x, at}, {frame.right(), at}}, theme.line, 1});
    if (above - at < line) continue;
    above = at;
    add_label(scene, style, y.texts[i], {frame.x - 1.5F * u, at}, style.small(), theme.text_muted,
              FontStyle::regular, Align::right);
  }
  // The axes themselves, where zero is in sight.
  const Point zero = place_in_plot(plot, frame, {0, 0});
  if (zero.x >= frame.x && zero.x <= frame.right())
    scene.add(Segments{{{zero.x, frame.y}, {zero.x, frame.bottom()}}, theme.text_muted, 1});
  if (zero.y >= frame.y && zero.y <= frame.bottom())
    scene.add(Segments{{{frame.x, zero.y}, {frame.right(), zero.y}}, theme.text_muted, 1});
}

}  // namespace

float plot_dot_radius(const Style& style) {
  return 0.3F * style.font_size;
}

double x_of_column(const FunctionPlot& plot, int column) {
  return plot.x_low + (plot.x_high - plot.x_low) * (column + 0.5) / kPlotColumns;
}

Point place_in_plot(const FunctionPlot& plot, Rect frame, PlotPoint at) {
  const auto part = [](double v, double low, double high) {
    return static_cast<float>((v - low) / (high - low));
  };
  return {frame.x + part(at.x, plot.x_low, plot.x_high) * frame.w,
          frame.bottom() - part(at.y, plot.y_low, plot.y_high) * frame.h};
}

Rect plot_frame(const FunctionPlot& plot, Rect area, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  const float above = line + u, below = 2 * line + 2 * u;
  float left = 0;
  for (const std::string& text : y_ticks(plot, area.h, style).texts)
    left = std::max(left, style.width(text, style.small()));
  left = std::ceil(left) + 2 * u;
  const float right = 2 * u;  // half of the last number
  return {area.x + left, area.y + above, std::max(0.F, area.w - left - right),
          std::max(0.F, area.h - above - below)};
}

void paint_function_plot(Picture& picture, const FunctionPlot& plot, Rect frame, const Style& style) {
  Scene& scene = picture.scene;
  const float line = style.line(style.small()), u = style.unit();
  paint_axes(scene, plot, frame, style);
  scene.add(PushClip{frame.inset(-plot_dot_radius(style))});
  const float small = std::max(1.F, 0.12F * style.font_size);
  Polyline curve{{}, plot.curve_color, 1.5F};
  for (const PlotPoint& point : plot.curve) curve.points.push_back(place_in_plot(plot, frame, point));
  if (curve.points.size() > 1) scene.add(std::move(curve));
  std::set<std::pair<long, long>> painted;  // points that lie on each other are one
  for (const PlotPoint& point : plot.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    const Point at = place_in_plot(plot, frame, point);
    if (painted.emplace(std::lround(at.x), std::lround(at.y)).second)
      add_disc(scene, at, small, plot.point_color);
  }
  const float r = plot_dot_radius(style);
  for (const PlotPoint& dot : plot.dots) {
    if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
    add_disc(scene, place_in_plot(plot, frame, dot), r, style.theme.surface);
    add_disc(scene, place_in_plot(plot, frame, dot), r - 1, plot.dot_color);
  }
  scene.add(PopClip{});
  Region region;
  region.role = plot.role;
  region.rect = frame;
  region.cols = region.col_count = kPlotColumns;
  picture.regions.push_back(region);
  const auto word = [&](const std::string& words, Point at, Align align) {
    if (style.width(words, style.small()) <= frame.w)
      add_label(scene, style, words, at, style.small(), style.theme.text_muted, FontStyle::regular, align);
  };
  word(plot.y_title, {frame.x, frame.y - u - line / 2}, Align::left);
  word(plot.x_title, {frame.right(), frame.bottom() + 1.5F * u + 1.5F * line}, Align::right);
}

}  // namespace headscope::viz
