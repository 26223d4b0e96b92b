#include "viz/charts/columns.h"

#include <algorithm>
#include <cmath>

#include "viz/charts/axis.h"
#include "viz/scene/colormap.h"

namespace headscope::viz {
namespace {

constexpr double kGap = 0.22;  // between groups, of a group's width

std::vector<double> ticks_of(const ColumnChart& chart, float height, const Style& style) {
  constexpr int kMost = 5;
  int wanted = std::clamp(static_cast<int>(height / (2 * style.line(style.small()))), 2, kMost);
  std::vector<double> ticks = nice_ticks(chart.low, chart.high, wanted);
  // One tick says nothing of the axis.
  while (ticks.size() < 2 && wanted < kMost) ticks = nice_ticks(chart.low, chart.high, ++wanted);
  return ticks;
}

double step_of(const std::vector<double>& ticks) {
  return ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
}

void paint_axis(Scene& scene, const ColumnChart& chart, Rect plot, const Style& style) {
  const float line = style.line(style.small());
  const double range = chart.high - chart.low;
  const std::vector<double> ticks = ticks_of(chart, plot.h, style);
  float above = plot.bottom() + 2 * line;
  for (const double tick : ticks) {
    const float y = plot.bottom() - static_cast<float>((tick - chart.low) / range) * plot.h;
    scene.add(Segments{{{plot.x, y}, {plot.right(), y}}, style.theme.line, 1});
    if (above - y < line) continue;
    above = y;
    add_label(scene, style, tick_label(tick, step_of(ticks)), {plot.x - 1.5F * style.unit(), y},
              style.small(), style.theme.text_muted, FontStyle::regular, Align::right);
  }
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
  // The first label may reach over the plot's edge.
  const auto first = static_cast<std::size_t>(labelled.empty() ? 0 : labelled.front());
  const float over =
      style.width(chart.labels[first], style.small()) / 2 - (static_cast<float>(first) + 0.5F) * group;
  const float end = plot.x - std::max(0.F, over) - 1.5F * style.unit();
  if (style.width(chart.labels_title, style.small()) <= end)
    add_label(picture.scene, style, chart.labels_title, {end, y}, style.small(), style.theme.text_muted,
              FontStyle::regular, Align::right);
}

}  // namespace

float column_numbers_width(const ColumnChart& chart, float plot_height, const Style& style) {
  const std::vector<double> ticks = ticks_of(chart, plot_height, style);
  float widest = 0;
  for (const double tick : ticks)
    widest = std::max(widest, style.width(tick_label(tick, step_of(ticks)), style.small()));
  return std::ceil(widest) + 2 * style.unit();
}

float column_title_height(const Style& style) {
  return style.line(style.small()) + style.unit();
}

float column_labels_height(const Style& style) {
  return style.line(style.small()) + 2 * style.unit();
}

Region paint_columns(Picture& picture, const ColumnChart& chart, Rect plot, const Style& style) {
  Scene& scene = picture.scene;
  Region region;
  region.role = chart.role;
  region.id = chart.id;
  region.rect = plot;
  region.cols = region.col_count = static_cast<int>(chart.values.size());
  const float group = plot.w / static_cast<float>(std::max(1, chart.groups()));
  if (chart.marked >= 0)
    scene.add(
        FillRect{{plot.x + static_cast<float>(chart.marked) * group, plot.y, group, plot.h}, chart.mark});
  paint_axis(scene, chart, plot, style);
  const double range = chart.high - chart.low;
  const auto y_of = [&](double v) {
    return plot.bottom() -
           static_cast<float>((std::clamp(v, chart.low, chart.high) - chart.low) / range) * plot.h;
  };
  const float column = group * static_cast<float>((1 - kGap) / chart.in_group);
  for (std::size_t i = 0; i < chart.values.size(); ++i) {
    const auto value = static_cast<double>(chart.values[i]);
    if (std::isnan(value)) continue;
    const auto in_group = static_cast<std::size_t>(chart.in_group);
    const float x = plot.x + static_cast<float>(i / in_group) * group + static_cast<float>(kGap / 2) * group +
                    static_cast<float>(i % in_group) * column;
    const float from = y_of(chart.base), to = y_of(value);
    scene.add(FillRect{{x, std::min(from, to), column, std::abs(from - to)}, chart.colors[i]});
  }
  scene.add(
      Segments{{{plot.x, y_of(chart.base)}, {plot.right(), y_of(chart.base)}}, style.theme.text_muted, 1});
  paint_labels(picture, chart, plot, style);
  for (const std::string& title : chart.titles) {
    if (style.width(title, style.small(), FontStyle::medium) > plot.w) continue;
    add_label(scene, style, title, {plot.x, plot.y - column_title_height(style) / 2}, style.small(),
              style.theme.text, FontStyle::medium);
    break;
  }
  picture.regions.push_back(region);
  return region;
}

}  // namespace headscope::viz
