#include "viz/charts/columns.h"

#include <algorithm>
#include <cmath>

#include "viz/charts/axis.h"
#include "viz/charts/number_axis.h"

namespace headscope::viz {
namespace {

constexpr double kGap = 0.22;  // between groups, of a group's width

NumberAxis axis_of(const ColumnChart& chart, float height, const Style& style) {
  constexpr int kMax = 5;
  NumberAxis axis{chart.low, chart.high};
  // A single tick says nothing about the axis.
  for (int wanted = upright_tick_count(height, kMax, style); wanted <= kMax && axis.ticks.size() < 2;
       ++wanted)
    axis.ticks = labelled_ticks(chart.low, chart.high, wanted);
  return axis;
}

void paint_labels(Picture& picture, const ColumnChart& chart, Rect plot, const Style& style) {
  if (chart.labels.empty()) return;
  float widest = 0;
  for (const std::string& label : chart.labels) widest = std::max(widest, style.width(label, style.small()));
  const float group = plot.w / static_cast<float>(chart.groups());
  const float y = plot.bottom() + 1.5F * style.unit() + style.line(style.small()) / 2;
  const float needed = widest + 2 * style.unit();
  const int counted = chart.groups() - chart.unnumbered;
  std::vector<int> labelled;
  if (group >= needed)
    for (int i = 0; i < chart.unnumbered; ++i) labelled.push_back(i);
  for (const int i : labelled_cells(0, counted, counted, group, needed, chart.marked - chart.unnumbered))
    labelled.push_back(chart.unnumbered + i);
  for (const int i : labelled) {
    const bool marked = i == chart.marked;
    add_label(picture.scene, style, chart.labels[i], {plot.x + (static_cast<float>(i) + 0.5F) * group, y},
              style.small(), marked ? style.theme.text : style.theme.text_muted,
              marked ? FontStyle::medium : FontStyle::regular, Align::center);
  }
  // The first label may extend beyond the plot's edge.
  const int first = labelled.empty() ? 0 : labelled.front();
  const float over =
      style.width(chart.labels[first], style.small()) / 2 - (static_cast<float>(first) + 0.5F) * group;
  const float end = plot.x - std::max(0.F, over) - 1.5F * style.unit();
  add_whole_label(picture.scene, style, chart.labels_title, {end, y}, end, style.theme.text_muted,
                  FontStyle::regular, Align::right);
}

}  // namespace

float column_numbers_width(const ColumnChart& chart, float plot_height, const Style& style) {
  return std::ceil(axis_of(chart, plot_height, style).widest(style)) + 2 * style.unit();
}

float column_title_height(const Style& style) {
  return style.line(style.small()) + style.unit();
}

float column_labels_height(const Style& style) {
  return style.line(style.small()) + 2 * style.unit();
}

Region paint_columns(Picture& picture, const ColumnChart& chart, Rect plot, const Style& style) {
  Scene& scene = picture.scene;
  const PlotFrame frame{plot, {}, axis_of(chart, plot.h, style)};
  const float group = plot.w / static_cast<float>(std::max(1, chart.groups()));
  if (chart.marked >= 0)
    scene.add(
        FillRect{{plot.x + static_cast<float>(chart.marked) * group, plot.y, group, plot.h}, chart.mark});
  paint_y_numbers(scene, frame, style);
  const auto y_of = [&](double v) { return frame.y.clamped(v, plot.bottom(), -plot.h); };
  const float column = group * static_cast<float>((1 - kGap) / chart.in_group), base = y_of(chart.base);
  const int count = static_cast<int>(chart.values.size());
  for (int i = 0; i < count; ++i) {
    if (std::isnan(chart.values[i])) continue;
    const float x = plot.x + static_cast<float>(i / chart.in_group) * group +
                    static_cast<float>(kGap / 2) * group + static_cast<float>(i % chart.in_group) * column;
    const float to = y_of(static_cast<double>(chart.values[i]));
    scene.add(FillRect{{x, std::min(base, to), column, std::abs(base - to)}, chart.colors[i]});
  }
  scene.add_line({plot.x, base}, {plot.right(), base}, style.theme.text_muted);
  paint_labels(picture, chart, plot, style);
  const float y = plot.y - column_title_height(style) / 2;
  for (const std::string& title : chart.titles) {
    if (add_whole_label(scene, style, title, {plot.x, y}, plot.w, style.theme.text, FontStyle::medium)) break;
  }
  return picture.regions.emplace_back(Region::grid(chart.role, chart.id, plot, 1, count));
}

}  // namespace headscope::viz
