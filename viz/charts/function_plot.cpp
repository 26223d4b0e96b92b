#include "viz/charts/function_plot.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace headscope::viz {
namespace {

constexpr int kMaxTicks = 7;

NumberAxis y_axis(const FunctionPlot& plot, float height, const Style& style) {
  return {plot.y.low, plot.y.high,
          labelled_ticks(plot.y.low, plot.y.high, upright_tick_count(height, kMaxTicks, style))};
}

/// A plot's frame and numbered axes.
PlotFrame framed(const FunctionPlot& plot, Rect frame, const Style& style) {
  const int across = static_cast<int>(frame.w / (2.6F * style.font_size));
  return {
      frame,
      {plot.x.low, plot.x.high, labelled_ticks(plot.x.low, plot.x.high, std::clamp(across, 2, kMaxTicks))},
      y_axis(plot, frame.h, style)};
}

void paint_axes(Scene& scene, const PlotFrame& plot, const Style& style) {
  const Rect& frame = plot.area;
  const float middle = frame.bottom() + style.unit() + style.line(style.small()) / 2;
  paint_x_numbers(scene, plot, {frame.y, frame.bottom(), style.theme.line, middle}, style);
  paint_y_numbers(scene, plot, style);
  // The axes themselves, if zero is visible.
  const Point zero = plot.place(0, 0);
  if (zero.x >= frame.x && zero.x <= frame.right())
    scene.add_line({zero.x, frame.y}, {zero.x, frame.bottom()}, style.theme.text_muted);
  if (zero.y >= frame.y && zero.y <= frame.bottom())
    scene.add_line({frame.x, zero.y}, {frame.right(), zero.y}, style.theme.text_muted);
}

}  // namespace

float plot_dot_radius(const Style& style) {
  return 0.3F * style.font_size;
}

double x_of_column(const FunctionPlot& plot, int column) {
  return plot.x.low + (plot.x.high - plot.x.low) * (column + 0.5) / kPlotColumns;
}

Point place_in_plot(const FunctionPlot& plot, Rect frame, PlotPoint at) {
  return PlotFrame{frame, plot.x, plot.y}.place(at.x, at.y);
}

Rect plot_frame(const FunctionPlot& plot, Rect area, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  const float above = line + u, below = 2 * line + 2 * u;
  const float left = std::ceil(y_axis(plot, area.h, style).widest(style)) + 2 * u;
  const float right = 2 * u;  // half of the last number
  return {area.x + left, area.y + above, std::max(0.F, area.w - left - right),
          std::max(0.F, area.h - above - below)};
}

void paint_function_plot(Picture& picture, const FunctionPlot& plot, Rect frame, const Style& style) {
  Scene& scene = picture.scene;
  const float line = style.line(style.small()), u = style.unit(), r = plot_dot_radius(style);
  const PlotFrame axes = framed(plot, frame, style);
  paint_axes(scene, axes, style);
  scene.add(PushClip{frame.inset(-r)});
  Polyline curve{{}, plot.curve_color, 1.5F};
  for (const PlotPoint& point : plot.curve) curve.points.push_back(axes.place(point.x, point.y));
  if (curve.points.size() > 1) scene.add(std::move(curve));
  std::set<std::pair<long, long>> painted;  // coinciding points are drawn once
  for (const PlotPoint& point : plot.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    const Point at = axes.place(point.x, point.y);
    if (painted.emplace(std::lround(at.x), std::lround(at.y)).second)
      scene.add_disc(at, std::max(1.F, 0.12F * style.font_size), plot.point_color);
  }
  for (const PlotPoint& dot : plot.dots) {
    if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
    scene.add_disc(axes.place(dot.x, dot.y), r, style.theme.surface);
    scene.add_disc(axes.place(dot.x, dot.y), r - 1, plot.dot_color);
  }
  scene.add(PopClip{});
  picture.regions.push_back(Region::grid(plot.role, 0, frame, 1, kPlotColumns));
  const Color muted = style.theme.text_muted;
  const float left = std::ceil(axes.y.widest(style)) + 2 * u;  // over the numbers, too
  add_whole_label(scene, style, plot.y_title, {frame.x - left, frame.y - u - line / 2},
                  frame.w + left + 2 * u, muted);
  add_whole_label(scene, style, plot.x_title, {frame.right(), frame.bottom() + 1.5F * u + 1.5F * line},
                  frame.w, muted, FontStyle::regular, Align::right);
}

}  // namespace headscope::viz
