#include "viz/charts/bars.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {
namespace {

/// The left edges and widths of a chart's columns.
struct Columns {
  float mark = 0;
  float label_x = 0, label_w = 0;
  float bar_x = 0, bar_w = 0;
  float number_right = 0, number_w = 0;
  float detail_right = 0, detail_w = 0;
  bool below = false;  ///< bars are below their labels and numbers, over the whole width
};

float widest(const BarChart& chart, std::string Bar::*text, const std::string& kept, const Style& style) {
  float w = kept.empty() ? 0 : style.width(kept, style.font_size) + style.unit() / 2;  // kerning differs
  for (const Bar& bar : chart.bars) w = std::max(w, style.width(bar.*text, style.font_size));
  return std::ceil(w);
}

Columns make_columns(const BarChart& chart, Rect area, const Style& style) {
  constexpr float kMaxLabel = 11;  // ems: longer than nearly all tokens of a vocabulary
  const float gap = 2 * style.unit();
  Columns c;
  c.mark = chart.marks ? 3 * style.unit() : 0;
  c.number_w = widest(chart, &Bar::number, chart.widest_number, style);
  c.detail_w = std::max(widest(chart, &Bar::detail, chart.widest_detail, style),
                        std::ceil(style.width(chart.detail_title, style.small())));
  c.label_x = area.x + c.mark;
  c.label_w = std::clamp(0.34F * area.w - c.mark, 4 * style.font_size, kMaxLabel * style.font_size);
  c.label_w = std::max(0.F, std::min(c.label_w, area.w - c.mark - gap - c.number_w));
  // A readable bar is more important than the detail.
  if (area.w - c.mark - c.label_w - c.number_w - c.detail_w - 3 * gap < 7 * style.font_size) c.detail_w = 0;
  c.detail_right = area.right();
  c.number_right = c.detail_w > 0 ? c.detail_right - c.detail_w - 1.5F * gap : area.right();
  c.bar_x = c.label_x + c.label_w + gap;
  c.bar_w = std::max(0.F, c.number_right - c.number_w - gap - c.bar_x);
  constexpr float kReadable = 8;  // ems: a hundredth of a narrower bar would hardly be seen
  if (c.bar_w < kReadable * style.font_size) {
    c.below = true;
    c.label_w = std::max(0.F, c.number_right - c.number_w - gap - c.label_x);
    c.bar_x = c.label_x;
    c.bar_w = std::max(0.F, c.number_right - c.label_x);
  }
  return c;
}

/// The chart's axis, with as many numbers as fit without touching, always including both ends; none if not
/// even these fit. `before`, `spare`: room for the first and the last number beyond the axis.
NumberAxis axis_of(const BarChart& chart, float width, float before, float spare, const Style& style) {
  NumberAxis axis{chart.least, chart.longest};
  const auto tick = [&](double value) { return Tick{value, tick_label(value, chart.longest)}; };
  for (int most = 6; most >= 2; --most) {
    axis.ticks = labelled_ticks(chart.least, chart.longest, most, chart.longest);
    if (most == 3 && chart.least < 0) axis.ticks = {tick(chart.least), tick(0), tick(chart.longest)};
    if (most == 2) axis.ticks = {tick(chart.least), tick(chart.longest)};
    const auto misses = [&](const Tick& end, double value) {
      return std::abs(end.value - value) > 1e-9 * chart.longest;
    };
    if (misses(axis.ticks.front(), chart.least) || misses(axis.ticks.back(), chart.longest)) continue;
    std::string& end = axis.ticks.back().text;
    end += chart.unit;
    const float spacing = width / static_cast<float>(axis.ticks.size() - 1);
    const float last = style.width(end, style.small());
    // The parts that do not fit beyond the axis.
    const float first = std::max(0.F, style.width(axis.ticks.front().text, style.small()) / 2 - before);
    const float moved = std::max(0.F, last / 2 - spare) + first;
    if (spacing >= last + moved + 2 * style.unit()) return axis;
    // Two numbers may be closer: the first is a narrow one.
    const float halves = style.width(axis.ticks.front().text + end, style.small()) / 2;
    if (most == 2 && width >= halves + moved + style.unit()) return axis;
  }
  return {chart.least, chart.longest};
}

/// The axis' numbers at the height `middle`, and its lines down the chart from `top` to `bottom`.
void paint_axis(Scene& scene, const NumberAxis& axis, const Columns& at, float middle, float top,
                float bottom, float left_limit, float right_limit, const Style& style) {
  for (const Tick& tick : axis.ticks) {
    const float x = axis.along(tick.value, at.bar_x, at.bar_w);
    const float half = style.width(tick.text, style.small()) / 2;
    add_muted(scene, style, tick.text, {std::min(std::max(x, left_limit + half), right_limit - half), middle},
              Align::center);
    if (bottom > top && !at.below) {
      const Color color = tick.value == 0 ? style.theme.text_muted.with_alpha(120) : style.theme.line;
      scene.add_line({x, top}, {x, bottom}, color);
    }
  }
}

/// The upright line where signed bars begin: they need it even where there is no room for the axis' lines.
void paint_zero(Scene& scene, const NumberAxis& axis, const Columns& at, float top, float bottom,
                const Style& style) {
  const float x = axis.along(0, at.bar_x, at.bar_w);
  scene.add_line({x, top}, {x, bottom}, style.theme.text_muted.with_alpha(120));
}

/// Draws one bar with its texts, with its upper end at `y`.
void paint_bar(Scene& scene, const Bar& bar, const NumberAxis& axis, const Columns& at, float left, float y,
               const Style& style) {
  const Theme& theme = style.theme;
  const float h = bar_height(style), u = style.unit(), size = style.font_size;
  const float middle = at.below ? y + h / 2 - u : y + h / 2;
  const Color text = bar.muted ? theme.text_muted : bar.label_color;
  if (bar.marked)
    scene.add(FillPolygon{{{left, middle - u}, {left + 1.5F * u, middle}, {left, middle + u}}, text});
  // A muted bar of length 0 needs no room: its label may use it.
  const float label_room = bar.muted && bar.value <= 0
                               ? at.number_right - style.width(bar.number, size) - 2 * u - at.label_x
                               : at.label_w;
  add_label(scene, style, bar.label, {at.label_x, middle}, size, text,
            bar.marked ? FontStyle::medium : FontStyle::regular, Align::left, label_room + 0.5F);
  const Rect track = at.below ? Rect{at.bar_x, y + h - 1.5F * u, at.bar_w, u}
                              : Rect{at.bar_x, y + 1.25F * u, at.bar_w, h - 2.5F * u};
  if (at.below && !bar.muted)  // the whole axis under each bar, because there are no lines down the chart
    scene.add_line({track.x, track.bottom()}, {track.right(), track.bottom()}, theme.line);
  if (axis.low < 0 && !bar.muted && at.bar_w > 0)
    paint_zero(scene, axis, at, track.y - 1, track.bottom() + 1, style);
  if (std::abs(bar.value) > 0 && at.bar_w > 0) {
    const float zero = axis.clamped(0, track.x, at.bar_w), end = axis.clamped(bar.value, track.x, at.bar_w);
    const float length = std::abs(end - zero);
    scene.add(FillRect{{std::min(zero, end), track.y, std::max(length, 1.F), track.h},
                       bar.color,
                       std::min(2.F, length / 2)});
  }
  if (!std::isnan(bar.before) && at.bar_w > 0) {
    const float x = axis.clamped(bar.before, track.x, at.bar_w);
    scene.add_line({x, track.y - u / 2}, {x, track.bottom() + u / 2}, theme.text, std::max(1.5F, u / 2));
  }
  add_label(scene, style, bar.number, {at.number_right, middle}, size,
            bar.muted ? theme.text_muted : theme.text, FontStyle::regular, Align::right);
  if (at.detail_w > 0)
    add_label(scene, style, bar.detail, {at.detail_right, middle}, size, theme.text_muted, FontStyle::regular,
              Align::right);
}

}  // namespace

float bar_height(const Style& style) {
  return std::round(1.75F * style.font_size);
}

float bar_chart_height(std::size_t bars, bool titles, const Style& style) {
  return static_cast<float>(bars) * bar_height(style) +
         (titles ? 2 * style.line(style.small()) + style.unit() : 0);
}

void paint_bar_chart(Picture& picture, const BarChart& chart, Rect area, const Style& style) {
  const Columns at = make_columns(chart, area, style);
  const NumberAxis axis =
      axis_of(chart, at.bar_w, at.bar_x - area.x, area.right() - at.bar_x - at.bar_w, style);
  Scene& scene = picture.scene;
  const float h = bar_height(style), u = style.unit();
  float y = area.y;
  if (!chart.number_title.empty()) {
    const float line = style.line(style.small()), room = at.number_right - at.bar_x;
    const bool whole =
        chart.short_number_title.empty() || style.width(chart.number_title, style.small()) <= room;
    add_muted(scene, style, whole ? chart.number_title : chart.short_number_title, {at.bar_x, y + line / 2},
              Align::left, room);
    if (at.detail_w > 0)
      add_muted(scene, style, chart.detail_title, {at.detail_right, y + line / 2}, Align::right,
                at.detail_w + u);
    const float top = y + 2 * line + u;
    const auto bars = static_cast<float>(std::ranges::count(chart.bars, false, &Bar::muted));
    const float fit = std::min(bars, std::floor((area.bottom() + 0.5F - top) / h));
    paint_axis(scene, axis, at, y + 1.5F * line, top - u / 2, top + fit * h, area.x, area.right(), style);
    picture.whole &= !axis.ticks.empty();
    y = top;
  }
  for (const Bar& bar : chart.bars) {
    if (y + h > area.bottom() + 0.5F) {
      picture.whole = false;
      break;
    }
    paint_bar(scene, bar, axis, at, area.x, y, style);
    if (!bar.muted) picture.regions.push_back({chart.role, bar.id, {area.x, y, area.w, h}});
    y += h;
  }
}

void paint_signed_bar(Scene& scene, Rect rect, double value, double low, double high, Color color,
                      const Style& style) {
  const NumberAxis axis{low, high};
  const float zero = axis.along(0, rect.x, rect.w), end = axis.clamped(value, rect.x, rect.w);
  const float left = std::min(zero, end), width = std::abs(end - zero);
  if (width > 0) scene.add(FillRect{{left, rect.y, std::max(width, 1.F), rect.h}, color});
  scene.add_line({zero, rect.y - 1}, {zero, rect.bottom() + 1}, style.theme.text_muted.with_alpha(120));
}

}  // namespace headscope::viz
