#include "viz/bars.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {
namespace {

/// Left edges and widths of a chart's columns.
struct Columns {
  float mark = 0;
  float label_x = 0, label_w = 0;
  float bar_x = 0, bar_w = 0;
  float number_right = 0, number_w = 0;
  float detail_right = 0, detail_w = 0;
};

template <class Get>
float widest(const BarChart& chart, Get get, const std::string& title, const Style& style) {
  float w = style.width(title, style.small());
  for (const Bar& bar : chart.bars) w = std::max(w, style.width(get(bar), style.font_size));
  return std::ceil(w);
}

Columns make_columns(const BarChart& chart, Rect area, const Style& style) {
  const float gap = 2 * style.unit();
  const bool marks = std::any_of(chart.bars.begin(), chart.bars.end(), [](const Bar& b) { return b.marked; });
  Columns c;
  c.mark = marks ? 3 * style.unit() : 0;
  c.number_w = widest(
      chart, [](const Bar& b) { return b.number; }, chart.number_title, style);
  c.detail_w = widest(
      chart, [](const Bar& b) { return b.detail; }, chart.detail_title, style);
  c.label_x = area.x + c.mark;
  c.label_w = std::min(widest(
                           chart, [](const Bar& b) { return b.muted ? std::string() : b.label; }, "", style),
                       std::max(0.34F * area.w - c.mark, 4 * style.font_size));
  c.label_w = std::max(0.F, std::min(c.label_w, area.w - c.mark - gap - c.number_w));
  // The detail is worth less than a readable bar.
  if (area.w - c.mark - c.label_w - c.number_w - c.detail_w - 3 * gap < 7 * style.font_size) c.detail_w = 0;
  c.detail_right = area.right();
  c.number_right = c.detail_w > 0 ? c.detail_right - c.detail_w - 1.5F * gap : area.right();
  c.bar_x = c.label_x + c.label_w + gap;
  c.bar_w = std::max(0.F, c.number_right - c.number_w - gap - c.bar_x);
  return c;
}

}  // namespace

float bar_height(const Style& style) {
  return std::round(1.75F * style.font_size);
}

float bar_chart_height(std::size_t bars, bool titles, const Style& style) {
  return static_cast<float>(bars) * bar_height(style) +
         (titles ? style.line(style.small()) + style.unit() : 0);
}

void paint_bar_chart(Picture& picture, const BarChart& chart, Rect area, const Style& style) {
  const Columns at = make_columns(chart, area, style);
  const Theme& theme = style.theme;
  Scene& scene = picture.scene;
  const float h = bar_height(style), u = style.unit();
  float y = area.y;
  if (!chart.number_title.empty() && at.bar_w > 0) {
    const float line = style.line(style.small());
    add_label(scene, style, chart.number_title, {at.number_right, y + line / 2}, style.small(),
              theme.text_muted, FontStyle::regular, Align::right, at.number_right - at.bar_x);
    if (at.detail_w > 0) {
      add_label(scene, style, chart.detail_title, {at.detail_right, y + line / 2}, style.small(),
                theme.text_muted, FontStyle::regular, Align::right, at.detail_w + u);
    }
    y += line + u;
  }
  for (const Bar& bar : chart.bars) {
    if (y + h > area.bottom() + 0.5F) break;
    const float middle = y + h / 2;
    const Color text = bar.muted ? theme.text_muted : bar.label_color;
    if (bar.marked) {
      scene.add(FillPolygon{{{area.x, middle - u}, {area.x + 1.5F * u, middle}, {area.x, middle + u}}, text});
    }
    // A muted line has no bar worth drawing: its label may take that room.
    const float label_room =
        bar.muted && bar.value <= 0 ? at.number_right - at.number_w - u - at.label_x : at.label_w;
    add_label(scene, style, bar.label, {at.label_x, middle}, style.font_size, text,
              bar.marked ? FontStyle::medium : FontStyle::regular, Align::left, label_room + 0.5F);
    const float length = static_cast<float>(std::clamp(bar.value / chart.longest, 0.0, 1.0)) * at.bar_w;
    const Rect track{at.bar_x, y + 1.25F * u, at.bar_w, h - 2.5F * u};
    if (bar.value > 0 && at.bar_w > 0) {
      scene.add(
          FillRect{{track.x, track.y, std::max(length, 1.F), track.h}, bar.color, std::min(2.F, length / 2)});
    }
    add_label(scene, style, bar.number, {at.number_right, middle}, style.font_size,
              bar.muted ? theme.text_muted : theme.text, FontStyle::regular, Align::right);
    if (at.detail_w > 0) {
      add_label(scene, style, bar.detail, {at.detail_right, middle}, style.font_size, theme.text_muted,
                FontStyle::regular, Align::right);
    }
    if (!bar.muted) {
      Region region;
      region.role = chart.role;
      region.id = bar.id;
      region.rect = {area.x, y, area.w, h};
      picture.regions.push_back(region);
    }
    y += h;
  }
}

void paint_signed_bar(Scene& scene, Rect rect, double value, double low, double high, Color color,
                      const Style& style) {
  const double range = high > low ? high - low : 1;
  const float zero = rect.x + static_cast<float>((0 - low) / range) * rect.w;
  const float end = rect.x + static_cast<float>((std::clamp(value, low, high) - low) / range) * rect.w;
  const float left = std::min(zero, end), width = std::abs(end - zero);
  if (width > 0) scene.add(FillRect{{left, rect.y, std::max(width, 1.F), rect.h}, color});
  scene.add(
      Segments{{{zero, rect.y - 1}, {zero, rect.bottom() + 1}}, style.theme.text_muted.with_alpha(120), 1});
}

}  // namespace headscope::viz
