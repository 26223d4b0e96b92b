#include "viz/charts/scatter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "viz/charts/function_plot.h"

namespace headscope::viz {
namespace {

constexpr double kMargin = 0.06;  // fraction of the range beyond the outermost marks
constexpr std::size_t kMaxLabelled =
    400;  // maximum number of marks that are labelled; with more there is no room

struct Range {
  double low = 0, high = 0;
  void take(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double span() const { return std::max(high - low, 1e-12); }
  /// The range widened to `span` around its middle.
  Range widened(double span) const {
    const double middle = (low + high) / 2;
    return {middle - span / 2, middle + span / 2};
  }
};

FunctionPlot axes_of(const ScatterChart& chart, const ScatterLayout& layout) {
  FunctionPlot plot;
  plot.x = layout.x, plot.y = layout.y;
  plot.x_title = chart.x_title, plot.y_title = chart.y_title;
  return plot;
}

void add_shape(Scene& scene, ScatterChart::Shape shape, Point at, float r, Color color) {
  if (shape == ScatterChart::Shape::circle) return scene.add_disc(at, r, color);
  const float side = 1.25F * r, half = side * std::numbers::sqrt3_v<float> / 2;
  scene.add(FillPolygon{{{at.x, at.y - side}, {at.x + half, at.y + side / 2}, {at.x - half, at.y + side / 2}},
                        color});
}

void add_mark(Scene& scene, const ScatterChart& chart, const ScatterChart::Mark& mark, Point at, float r,
              const Style& style) {
  const ScatterChart::Kind& kind = chart.kinds[mark.kind];
  const float line = std::max(1.F, 0.22F * r);
  if (mark.chosen) {
    add_shape(scene, kind.shape, at, 1.5F * r + 2.5F * line, style.theme.surface);
    add_shape(scene, kind.shape, at, 1.5F * r + 1.5F * line, style.theme.text);
    add_shape(scene, kind.shape, at, 1.5F * r, style.theme.surface);
    add_shape(scene, kind.shape, at, 1.5F * r, mark.fill);
    return;
  }
  add_shape(scene, kind.shape, at, r + line, kind.color);
  add_shape(scene, kind.shape, at, r, style.theme.surface);
  add_shape(scene, kind.shape, at, r, mark.fill);
}

/// Labels the chosen marks first, then the others whose labels cover nothing. Returns how many.
int paint_labels(Scene& scene, const ScatterChart& chart, const ScatterLayout& layout, const Style& style) {
  int labelled = 0;
  if (chart.marks.size() > kMaxLabelled) return labelled;
  const float r = scatter_radius(chart, style), line = style.line(style.small());
  std::vector<Rect> taken;
  for (const Point& place : layout.places) taken.push_back(Rect::around(place, r));
  const auto put = [&](std::size_t i) {
    const ScatterChart::Mark& mark = chart.marks[i];
    const Point at = layout.places[i];
    const float gap = (mark.chosen ? 2 * r : r) + style.unit();
    const float w = style.width(mark.label, style.small());
    for (const Rect place :
         {Rect{at.x + gap, at.y - line / 2, w, line}, Rect{at.x - gap - w, at.y - line / 2, w, line},
          Rect{at.x - w / 2, at.y - gap - line, w, line}, Rect{at.x - w / 2, at.y + gap, w, line}}) {
      if (!layout.frame.encloses(place) ||
          std::ranges::any_of(taken, [&](const Rect& other) { return place.overlaps(other); }))
        continue;
      taken.push_back(place);
      ++labelled;
      add_label(scene, style, mark.label, {place.x, place.center().y}, style.small(),
                chart.kinds[mark.kind].color, mark.chosen ? FontStyle::medium : FontStyle::regular);
      return;
    }
  };
  for (const bool chosen : {true, false})
    for (std::size_t i = 0; i < chart.marks.size(); ++i)
      if (chart.marks[i].chosen == chosen && !chart.marks[i].label.empty()) put(i);
  return labelled;
}

/// Paints the names of the kinds, at the right end of the line above the frame.
void paint_kinds(Scene& scene, const ScatterChart& chart, const Rect& frame, const Style& style) {
  const float u = style.unit(), r = 0.28F * style.font_size;
  const float y = frame.y - u - style.line(style.small()) / 2;
  float x = frame.right();
  for (auto kind = chart.kinds.rbegin(); kind != chart.kinds.rend(); ++kind) {
    const float w = style.width(kind->name, style.small());
    if (x - w - 4 * u < frame.x + style.width(chart.y_title, style.small())) return;
    add_label(scene, style, kind->name, {x, y}, style.small(), kind->color, FontStyle::medium, Align::right);
    add_shape(scene, kind->shape, {x - w - u - r, y}, r, kind->color);
    x -= w + 4 * u + 2 * r;
  }
}

}  // namespace

float scatter_radius(const ScatterChart& chart, const Style& style) {
  const auto count = static_cast<float>(std::max<std::size_t>(1, chart.marks.size()));
  return style.font_size * std::clamp(2.5F / std::sqrt(count), 0.16F, 0.32F);
}

ScatterLayout lay_out_scatter(const ScatterChart& chart, Rect area, const Style& style) {
  Range x, y;
  for (const ScatterChart::Mark& mark : chart.marks) x.take(mark.x), y.take(mark.y);
  ScatterLayout layout;
  for (int pass = 0; pass < 2;
       ++pass) {  // the width of the numbers depends on the ticks, and the ticks on that width
    layout.frame = plot_frame(axes_of(chart, layout), area, style);
    if (layout.frame.w <= 0 || layout.frame.h <= 0) return layout;
    const auto w = static_cast<double>(layout.frame.w), h = static_cast<double>(layout.frame.h);
    double unit = (1 + 2 * kMargin) * std::max(x.span() / w, y.span() / h);  // per pixel
    if (unit < 1e-9) unit = 2 / std::min(w, h);                              // all marks coincide
    const Range across = x.widened(unit * w), up = y.widened(unit * h);
    layout.x = {across.low, across.high}, layout.y = {up.low, up.high};
  }
  const FunctionPlot axes = axes_of(chart, layout);
  for (const ScatterChart::Mark& mark : chart.marks)
    layout.places.push_back(place_in_plot(axes, layout.frame, {mark.x, mark.y}));
  return layout;
}

int paint_scatter(Picture& picture, const ScatterChart& chart, const ScatterLayout& layout,
                  const Style& style) {
  paint_function_plot(picture, axes_of(chart, layout), layout.frame, style);
  picture.regions.back() =
      Region::grid(chart.role, 0, layout.frame, std::max(1, static_cast<int>(layout.frame.h)),
                   std::max(1, static_cast<int>(layout.frame.w)));
  paint_kinds(picture.scene, chart, layout.frame, style);
  const float r = scatter_radius(chart, style);
  for (const bool chosen : {false, true}) {
    for (std::size_t i = 0; i < chart.marks.size(); ++i)
      if (chart.marks[i].chosen == chosen)
        add_mark(picture.scene, chart, chart.marks[i], layout.places[i], r, style);
  }
  return paint_labels(picture.scene, chart, layout, style);
}

}  // namespace headscope::viz
