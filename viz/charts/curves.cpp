#include "viz/charts/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "viz/charts/number_axis.h"
#include "viz/scene/contrast.h"
#include "viz/scene/dashes.h"

namespace headscope::viz {

Color categorical(const Theme& theme, int index) {
  static constexpr std::array<Color, 7> kOnLight{{{9, 114, 177, 255},
                                                  {213, 94, 0, 255},
                                                  {1, 159, 102, 255},
                                                  {204, 121, 167, 255},
                                                  {110, 60, 0, 255},
                                                  {60, 30, 130, 255},
                                                  {115, 113, 126, 255}}};
  static constexpr std::array<Color, 7> kOnDark{{{86, 180, 233, 255},
                                                 {213, 94, 0, 255},
                                                 {4, 160, 103, 255},
                                                 {201, 123, 169, 255},
                                                 {230, 159, 1, 255},
                                                 {0, 114, 178, 255},
                                                 {240, 228, 66, 255}}};
  const auto& colors = theme.dark ? kOnDark : kOnLight;
  return colors[index % std::ssize(colors)];
}

float curve_labels_width(const CurveChart& chart, const Style& style) {
  float widest = 0;
  for (const Curve& curve : chart.curves)
    widest = std::max(widest, style.width(curve.label, style.small(), FontStyle::medium));
  return std::ceil(widest + (kDashSample + 3) * style.unit());
}

std::vector<float> spread_apart(std::vector<float> centers, float height, float top, float bottom) {
  std::vector<int> order(centers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return centers[i]; });
  float least = top + height / 2;
  for (const int i : order) {
    centers[i] = std::max(centers[i], least);
    least = centers[i] + height;
  }
  float most = bottom - height / 2;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    centers[*it] = std::min(centers[*it], most);
    most = centers[*it] - height;
  }
  return centers;
}

namespace {

/// An arrow where a curve first leaves the plot at its top, and one at its bottom: it goes on there.
template <class XOf>
void paint_exits(Scene& scene, const Curve& curve, const PlotFrame& frame, const XOf& x_of, int begin,
                 int end, const Style& style) {
  const Rect& plot = frame.area;
  const float u = style.unit();
  bool up = false, down = false;
  for (int i = begin + 1; i < std::min(end, curve.values.cols); ++i) {
    const float from = frame.y_of(static_cast<double>(curve.values.at(0, i - 1))),
                to = frame.y_of(static_cast<double>(curve.values.at(0, i)));
    const auto arrow = [&](bool& painted, float edge, float away) {
      const float x = x_of(i - 1) + (edge - from) / (to - from) * (x_of(i) - x_of(i - 1));
      if (std::exchange(painted, true) || x < plot.x || x > plot.right()) return;
      scene.add(FillPolygon{{{x - u, edge}, {x + u, edge}, {x, edge + away * 2 * u}}, curve.color});
    };
    if (from > plot.y && to < plot.y - 1) arrow(up, plot.y, -1);
    if (from < plot.bottom() && to > plot.bottom() + 1) arrow(down, plot.bottom(), 1);
  }
}

/// Draws a sample of a curve's line and its name. Returns their width.
float paint_name(Scene& scene, const Curve& curve, Point at, const Style& style) {
  const float u = style.unit(), name = (kDashSample + 1) * u;
  scene.add(Segments{{at, {at.x + kDashSample * u, at.y}}, curve.color, 1.5F, dashes_of(curve.dashes, u)});
  add_label(scene, style, curve.label, {at.x + name, at.y}, style.small(),
            word_color(curve.color, style.theme.text, style.theme.surface), FontStyle::medium);
  return name + style.width(curve.label, style.small(), FontStyle::medium);
}

}  // namespace

float paint_curve_names(Scene& scene, const CurveChart& chart, Point at, const Style& style) {
  const float gap = 3 * style.unit();
  float x = at.x;
  for (const Curve& curve : chart.curves) x += paint_name(scene, curve, {x, at.y}, style) + gap;
  return std::max(0.F, x - gap - at.x);
}

Region paint_curves(Picture& picture, const CurveChart& chart, Rect plot, const Style& style) {
  const Theme& theme = style.theme;
  Scene& scene = picture.scene;
  const float line = style.line(style.small());
  Region region = Region::grid(chart.role, chart.id, plot, 1, std::max(1, chart.count));
  if (chart.shown > 0) region.first_col = chart.first, region.cols = chart.shown;

  PlotFrame frame{plot, {}, {chart.low, chart.high}};
  frame.y.ticks =
      labelled_ticks(chart.low, chart.high, upright_tick_count(plot.h, 6, style), frame.y.range());
  const auto y_of = [&](const Curve& curve, int i) {
    return frame.y_of(static_cast<double>(curve.values.at(0, i)));
  };
  const auto x_of = [&](double i) {
    return plot.x + static_cast<float>((i + 0.5 - region.first_col) / region.cols) * plot.w;
  };
  paint_y_numbers(scene, frame, style);

  const int begin = std::max(0, static_cast<int>(std::floor(region.first_col)) - 1);
  const int end = std::min(region.col_count, static_cast<int>(std::ceil(region.first_col + region.cols)) + 1);
  scene.add(PushClip{plot});
  for (const Curve& curve : chart.curves) {
    Polyline path{{}, curve.color, 1.5F};
    path.points.reserve(curve.values.cols);
    for (int i = begin; i < std::min(end, curve.values.cols); ++i)
      path.points.push_back({x_of(i), y_of(curve, i)});
    path.dashes = dashes_of(curve.dashes, style.unit());
    if (path.points.size() > 1) scene.add(std::move(path));
  }
  scene.add(PopClip{});
  for (const Curve& curve : chart.curves) paint_exits(scene, curve, frame, x_of, begin, end, style);
  const double marked = (chart.marked_x - region.first_col) / region.cols;
  if (chart.marked_x >= 0 && marked >= 0 && marked <= 1) {
    const float x = plot.x + static_cast<float>(marked) * plot.w;
    scene.add_line({x, plot.y}, {x, plot.bottom()}, chart.mark_color, 1.5F);
    // Above the frame, on the side with room, or not at all.
    const float w = style.width(chart.mark_label, style.small(), FontStyle::medium);
    const bool right_of_it = x + w <= plot.right();
    if (right_of_it || x - w >= plot.x) {
      add_label(scene, style, chart.mark_label, {x, plot.y - line / 2}, style.small(), chart.mark_color,
                FontStyle::medium, right_of_it ? Align::left : Align::right);
    }
  }
  scene.add(StrokeRect{plot, theme.line, 1});

  // Names at the ends of the curves; as many as there is room for.
  const int fit = static_cast<int>(std::max(0.F, plot.h / line));
  std::vector<float> ends;
  for (const Curve& curve : chart.curves) {
    if (std::ssize(ends) == fit || curve.values.cols == 0) break;
    const int last =
        std::clamp(static_cast<int>(std::ceil(region.first_col + region.cols)) - 1, 0, curve.values.cols - 1);
    ends.push_back(std::clamp(y_of(curve, last), plot.y, plot.bottom()));
  }
  const std::vector<float> spread = spread_apart(ends, line, plot.y, plot.bottom());
  for (std::size_t i = 0; chart.names_beside && i < spread.size(); ++i)
    paint_name(scene, chart.curves[i], {plot.right() + 1.5F * style.unit(), spread[i]}, style);
  return picture.regions.emplace_back(region);
}

}  // namespace headscope::viz
