#include "viz/charts/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
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

}  // namespace

float paint_curve_names(Scene& scene, const CurveChart& chart, const std::string& title, Rect area,
                        const Style& style) {
  const float u = style.unit(), line = style.line(style.small()), sample = (kDashSample + 1) * u;
  Point at{area.x, area.y + line / 2};
  add_muted(scene, style, title, at, Align::left, area.w);
  if (!title.empty()) at.x += style.width(title, style.small()) + 2 * u;
  for (const Curve& curve : chart.curves) {
    const float width = sample + style.width(curve.label, style.small(), FontStyle::medium);
    if (at.x + width > area.right()) at = {area.x, at.y + line};
    scene.add(Segments{{at, {at.x + kDashSample * u, at.y}}, curve.color, 1.5F, dashes_of(curve.dashes, u)});
    add_label(scene, style, curve.label, {at.x + sample, at.y}, style.small(),
              word_color(curve.color, style.theme.text, style.theme.surface), FontStyle::medium);
    at.x += width + 3 * u;
  }
  return at.y + line / 2 - area.y;
}

Region paint_curves(Picture& picture, const CurveChart& chart, Rect plot, const Style& style) {
  const Theme& theme = style.theme;
  Scene& scene = picture.scene;
  const float line = style.line(style.small());
  Region region = Region::grid(chart.role, chart.id, plot, 1, std::max(1, chart.count));
  if (chart.shown > 0) region.first_col = chart.first, region.cols = chart.shown;

  PlotFrame frame{plot, {}, {chart.low, chart.high}};
  frame.y.ticks = labelled_ticks(chart.low, chart.high, std::max(3, upright_tick_count(plot.h, 6, style)),
                                 frame.y.range());
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
    std::vector<Point> piece;
    const auto add_piece = [&] {
      if (piece.size() == 1) scene.add_disc(piece[0], style.unit(), curve.color);
      if (piece.size() > 1)
        scene.add(Polyline{std::move(piece), curve.color, 1.5F, dashes_of(curve.dashes, style.unit())});
      piece.clear();
    };
    for (int i = begin; i < std::min(end, curve.values.cols); ++i) {
      if (std::isnan(curve.values.at(0, i)))
        add_piece();
      else
        piece.push_back({x_of(i), y_of(curve, i)});
    }
    add_piece();
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
  return picture.regions.emplace_back(region);
}

}  // namespace headscope::viz
