#include "viz/charts/links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "viz/scene/colormap.h"
#include "viz/scene/dashes.h"

namespace headscope::viz {
namespace {

constexpr int kStrokes =
    16;  // number of line widths that weights are rounded to, which limits the number of items

float part_of_stroke(int stroke) {
  return static_cast<float>(stroke) / (kStrokes - 1);
}
float stroke_width(int stroke, const Style& style) {
  return style.unit() / 4 * (0.7F + 2.6F * part_of_stroke(stroke));
}
Color stroke_color(Color color, int stroke) {
  return color.with_alpha(static_cast<std::uint8_t>(std::lround(64 + 181 * part_of_stroke(stroke))));
}

float loop_radius(float pitch, const Style& style) {
  return std::clamp(0.3F * pitch, 1.5F, 2.5F * style.unit());
}
float arrow_size(float pitch, float line, const Style& style) {
  return std::min(style.unit() + 1.8F * line, 0.45F * pitch);
}

enum class End { from, to };

/// A chart in its area: the positions of its items, and the lines between them.
struct Links {
  const LinkChart& chart;
  const LinkLayout& layout;
  const Style& style;

  bool is_row() const { return chart.arrangement == LinkChart::Arrangement::arcs; }

  /// For arcs both ends are the single row of items.
  int count(End end = End::from) const {
    return static_cast<int>((is_row() || end == End::from ? chart.from : chart.to).labels.size());
  }

  /// The items of one axis as the grid for labels.
  Region grid(End end = End::from) const {
    return is_row() ? Region::grid(0, 0, layout.drawing, 1, count(end))
                    : Region::grid(0, 0, layout.drawing, count(end), 1);
  }

  float pitch(End end = End::from) const {
    return (is_row() ? layout.drawing.w : layout.drawing.h) / static_cast<float>(count(end));
  }

  /// The place of an item along its axis; series are slightly apart, so that each of their lines is visible.
  float place(int item, int series, End end = End::from) const {
    const float start = is_row() ? layout.drawing.x : layout.drawing.y;
    const auto all = static_cast<float>(std::max<std::size_t>(1, chart.series.size()));
    const float apart = std::min(0.6F * pitch(end) / all, style.unit());
    return start + (static_cast<float>(item) + 0.5F) * pitch(end) +
           (static_cast<float>(series) - (all - 1) / 2) * apart;
  }

  /// What all widths are multiplied by: in narrow rows lines of neighbours stay apart.
  float width_scale() const {
    const float narrowest = is_row() ? pitch() : std::min(pitch(), pitch(End::to));
    return std::min(1.F, std::max(1.F, 0.3F * narrowest) / stroke_width(kStrokes - 1, style));
  }

  /// The index of a weight's line width, in [0, kStrokes).
  int stroke(float weight) const {
    const double part = chart.full > 0 ? static_cast<double>(weight) / chart.full : 0;
    return static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * (kStrokes - 1)));
  }

  /// Height of an arc divided by half its width: a half circle, or flatter without enough room.
  float arc_ratio() const {
    const float widest = layout.drawing.w - pitch();
    return widest > 0 ? std::min(1.F, (layout.drawing.h - 2) / (widest / 2)) : 1.F;
  }

  Polyline arc(const Link& link) const {
    constexpr float kPi = std::numbers::pi_v<float>;
    const float base = layout.drawing.bottom(), x0 = place(link.from, link.series);
    Polyline line;
    if (link.from == link.to) {
      constexpr int kSteps = 16;
      const float r = loop_radius(pitch(), style);
      for (int i = 0; i <= kSteps; ++i) {
        const float t = kPi / 2 + 2 * kPi * static_cast<float>(i) / kSteps;
        line.points.push_back({x0 + r * std::cos(t), base - r + r * std::sin(t)});
      }
      return line;
    }
    const float x1 = place(link.to, link.series), half = (x0 - x1) / 2;
    const float height = std::abs(half) * arc_ratio();
    const int steps = std::clamp(static_cast<int>(std::abs(half) / 1.5F), 12, 40);
    for (int i = 0; i <= steps; ++i) {
      const float t = kPi * static_cast<float>(i) / static_cast<float>(steps);
      line.points.push_back({x1 + half + half * std::cos(t), base - height * std::sin(t)});
    }
    return line;
  }

  void paint_arcs(Scene& scene, std::span<const Link> links) const {
    const float base = layout.drawing.bottom(), scale = width_scale();
    for (const Link& link : links) {
      Polyline line = arc(link);
      line.width = scale * stroke_width(stroke(link.weight), style);
      line.color = stroke_color(chart.series[link.series].color, stroke(link.weight));
      const float arrow = arrow_size(pitch(), line.width, style);
      line.dashes = dashes_of(chart.series[link.series].dashes, style.unit());
      if (link.from == link.to || arrow < 2) {
        scene.add(std::move(line));
        continue;
      }
      // The line ends in the middle of an arrow down to the target.
      const Point end = line.points.back();
      for (std::size_t i = line.points.size() / 2; i < line.points.size(); ++i)
        line.points[i].y = std::min(line.points[i].y, base - arrow / 2);
      const Color color = line.color;
      scene.add(std::move(line));
      scene.add(FillPolygon{
          {{end.x - arrow / 2, end.y - arrow}, {end.x + arrow / 2, end.y - arrow}, {end.x, end.y}}, color});
    }
  }

  /// Links are sorted by weight: those of one stroke and series are consecutive, except for the series.
  void paint_straight(Scene& scene, std::span<const Link> links) const {
    const float scale = width_scale();
    std::vector<Segments> by_series(chart.series.size());
    int current = 0;
    const auto flush = [&] {
      for (std::size_t s = 0; s < by_series.size(); ++s) {
        if (by_series[s].points.empty()) continue;
        by_series[s].color = stroke_color(chart.series[s].color, current);
        by_series[s].width = scale * stroke_width(current, style);
        by_series[s].dashes = dashes_of(chart.series[s].dashes, style.unit());
        scene.add(std::exchange(by_series[s], {}));
      }
    };
    for (const Link& link : links) {
      if (const int next = stroke(link.weight); next != current) {
        flush();
        current = next;
      }
      auto& points = by_series[link.series].points;
      points.push_back({layout.drawing.x, place(link.from, link.series)});
      points.push_back({layout.drawing.right(), place(link.to, link.series, End::to)});
    }
    flush();
  }

  void paint_marks(Scene& scene) const {
    const Rect& d = layout.drawing;
    const auto mark = [&](int item, Color color, End end) {
      const bool from = end == End::from;
      if (item < 0 || item >= count(end)) return;
      const Point middle = grid(end).cell_rect(is_row() ? 0 : item, is_row() ? item : 0).center();
      const float shift =
          is_row() && chart.marked_from == chart.marked_to ? style.unit() * (from ? -1.F : 1.F) : 0;
      scene.add_disc(is_row() ? Point{middle.x + shift, d.bottom()} : Point{from ? d.x : d.right(), middle.y},
                     0.75F * style.unit(), color);
    };
    mark(chart.marked_from, chart.from.color, End::from);
    mark(chart.marked_to, chart.to.color, End::to);
  }
};

// ---- around the drawing ----

float entry_width(const LinkSeries& series, const Style& style) {
  return (kDashSample + 1) * style.unit() + style.width(series.name, style.small()) + 4 * style.unit();
}

/// Left ends of the legend's entries, line by line, with as few lines as possible.
std::vector<Point> legend_places(const LinkChart& chart, float width, const Style& style) {
  std::vector<Point> places;
  float x = 0, y = 0;
  for (const LinkSeries& series : chart.series) {
    const float w = entry_width(series, style);
    if (x > 0 && x + w - 4 * style.unit() > width) x = 0, y += style.line(style.small());
    places.push_back({x, y});
    x += w;
  }
  return places;
}
float legend_height(const LinkChart& chart, float width, const Style& style) {
  const std::vector<Point> places = legend_places(chart, width, style);
  return places.empty() ? 0 : places.back().y + style.line(style.small()) + 1.5F * style.unit();
}

bool paint_legend(Scene& scene, const LinkChart& chart, Rect area, const Style& style) {
  const std::vector<Point> places = legend_places(chart, area.w, style);
  const float u = style.unit(), line = style.line(style.small());
  bool whole = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Point at{area.x + places[i].x, area.y + places[i].y + line / 2};
    const LinkSeries& series = chart.series[i];
    whole &= entry_width(series, style) - 4 * u <= area.w;
    scene.add(
        Segments{{at, {at.x + kDashSample * u, at.y}}, series.color, 0.6F * u, dashes_of(series.dashes, u)});
    add_label(scene, style, series.name, {at.x + (kDashSample + 1) * u, at.y}, style.small(),
              style.theme.text, FontStyle::regular, Align::left, area.w - (kDashSample + 1) * u);
  }
  return whole;
}

/// Paints "weight — 0.25 — 0.5 — 1" with the chart's title, right-aligned. Where all lines are about equally
/// thin, their shades alone tell the weights, and swatches show these. Without the title if there is no room
/// for it. Returns its width; paints nothing if it does not fit.
float paint_widths(Scene& scene, const Links& links, Point right_middle, float room) {
  const Style& style = links.style;
  const float u = style.unit();
  const bool by_shade = links.width_scale() * stroke_width(kStrokes - 1, style) < u / 2;
  std::string title = links.chart.width_title + (by_shade ? " (shade)" : "");
  const Color color = links.chart.series.size() == 1 ? links.chart.series[0].color : style.theme.text;
  float width = 0;
  std::array<std::string, 3> texts;
  const std::array<double, 3> parts{0.25, 0.5, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    texts[i] = number(parts[i] * links.chart.full, 2);
    width += 3 * u + 4 * u + u + style.width(texts[i], style.small());
  }
  if (width + style.width(title, style.small()) > room) title.clear();
  width += style.width(title, style.small());
  if (width > room) return 0;
  float x = right_middle.x - width;
  const float y = right_middle.y;
  add_muted(scene, style, title, {x, y});
  x += style.width(title, style.small());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int stroke = links.stroke(static_cast<float>(parts[i] * links.chart.full));
    x += 3 * u;
    if (by_shade) {
      scene.add(FillRect{{x, y - u, 4 * u, 2 * u}, stroke_color(color, stroke)});
    } else {
      scene.add_line({x, y}, {x + 4 * u, y}, stroke_color(color, stroke),
                     links.width_scale() * stroke_width(stroke, style));
    }
    x += 5 * u;
    add_muted(scene, style, texts[i], {x, y});
    x += style.width(texts[i], style.small());
  }
  return width;
}

void place_columns(LinkLayout& layout, const LinkChart& chart, Rect inner, const Style& style) {
  const Links links{chart, layout, style};
  constexpr float kTallestRow = 2.6F, kMin = 6, kWidest = 34;  // ems
  const float em = style.font_size, most = std::min(0.3F * inner.w, 11 * em);
  const auto count = static_cast<float>(std::max(links.count(), links.count(End::to)));
  layout.drawing = inner;
  layout.drawing.h = std::min(inner.h, count * kTallestRow * em);
  layout.from_room = row_label_room(chart.from, links.pitch(), most, style);
  layout.to_room = row_label_room(chart.to, links.pitch(End::to), most, style);
  const float labels = layout.from_room.size + layout.to_room.size;
  layout.drawing.w = std::min({inner.w - labels, kWidest * em, std::max(2 * layout.drawing.h, 20 * em)});
  const float spare = inner.w - labels - layout.drawing.w;
  layout.drawing.x = inner.x + layout.from_room.size + (chart.centered ? std::floor(spare / 2) : 0);
  layout.fits = layout.drawing.w >= kMin * em && layout.drawing.h >= 2 * em;
  layout.from = links.grid(), layout.to = links.grid(End::to);
  const Rect& d = layout.drawing;
  const float reach = std::min(4 * style.unit(), d.w / 8);
  layout.from.rect = {d.x - layout.from_room.size, d.y, layout.from_room.size + reach, d.h};
  layout.to.rect = {d.right() - reach, d.y, layout.to_room.size + reach, d.h};
}

void place_row(LinkLayout& layout, const LinkChart& chart, Rect inner, const Style& style) {
  const Links links{chart, layout, style};
  constexpr float kWidestItem = 7, kMin = 6;  // ems
  const float em = style.font_size, side = 2 * style.unit();
  const auto count = static_cast<float>(links.count());
  layout.drawing = {inner.x + side, inner.y, std::min(inner.w - 2 * side, count * kWidestItem * em), inner.h};
  const float pitch = layout.drawing.w / count;
  layout.from_room = column_label_room(chart.from, pitch, std::min(0.35F * inner.h, 11 * em), style);
  if (layout.from_room.angle == LabelAngle::slanted) {  // the first label leans out to the left
    const float lean = std::max(0.F, 0.75F * layout.from_room.widest + side - pitch / 2);
    layout.drawing.w = std::min(layout.drawing.w, inner.w - side - lean);
    layout.drawing.x = inner.x + lean;
  }
  const float arcs = (layout.drawing.w - pitch) / 2 + 3;
  const float least = 2 * loop_radius(pitch, style) + 3 * style.unit();
  layout.drawing.h = std::min(inner.h - layout.from_room.size, std::max(arcs, least));
  if (chart.centered) layout.drawing.x += std::floor((inner.right() - side - layout.drawing.right()) / 2);
  layout.fits = layout.drawing.w >= kMin * em && layout.drawing.h >= std::max(2 * em, least);
  layout.from = links.grid();
  layout.from.rect.y = layout.drawing.bottom() - 2 * style.unit();
  layout.from.rect.h = layout.from_room.size + 2 * style.unit();
}

}  // namespace

LinkLayout lay_out_links(const LinkChart& chart, Rect area, const Style& style) {
  LinkLayout layout;
  layout.area = area;
  const Links links{chart, layout, style};
  layout.fits = links.count() > 0 && links.count(End::to) > 0;
  if (!layout.fits) return layout;
  const float legend = legend_height(chart, area.w, style),
              note = style.line(style.small()) + 2 * style.unit();
  layout.legend = area.h >= legend + note + 9 * style.font_size;
  layout.note = area.h >= note + 9 * style.font_size;
  Rect inner = area;
  if (layout.legend) inner.y += legend, inner.h -= legend;
  if (layout.note) inner.h -= note;
  (links.is_row() ? place_row : place_columns)(layout, chart, inner, style);
  layout.from.role = chart.from_role;
  layout.to.role = chart.to_role;
  return layout;
}

void paint_links(Picture& picture, const LinkChart& chart, const LinkLayout& layout, const Style& style) {
  Scene& scene = picture.scene;
  const Links links{chart, layout, style};
  const Rect& area = layout.area;
  picture.whole &= layout.legend && layout.note;
  if (layout.legend)
    picture.whole &= paint_legend(scene, chart, {area.x, area.y, area.w, layout.drawing.y - area.y}, style);
  paint_link_lines(scene, chart, chart.links, layout, style);
  const Region grid = links.grid();
  float bottom = layout.drawing.bottom();
  if (links.is_row()) {
    picture.whole &=
        paint_axis_labels(scene, chart.from, layout.from_room, grid, LabelSide::below, style, area.x);
    bottom += layout.from_room.size;
    const float y = layout.drawing.bottom();
    scene.add_line({layout.drawing.x, y}, {layout.drawing.right(), y}, style.theme.line);
    picture.regions.push_back(layout.from);
  } else {
    picture.whole &= paint_axis_labels(scene, chart.from, layout.from_room, grid, LabelSide::left, style);
    picture.whole &=
        paint_axis_labels(scene, chart.to, layout.to_room, links.grid(End::to), LabelSide::right, style);
    picture.regions.push_back(layout.from);
    picture.regions.push_back(layout.to);
  }
  links.paint_marks(scene);
  if (!layout.note) return;
  const float y = bottom + 2 * style.unit() + style.line(style.small()) / 2, gap = 4 * style.unit();
  const float words = style.width(chart.note, style.small());
  // Under the drawing, if that leaves room for the note.
  const float used = layout.drawing.right() + (links.is_row() ? 0 : layout.to_room.size) - area.x;
  const float room = std::min(area.w, std::max(used, words + gap + 22 * style.font_size));
  const float widths = paint_widths(scene, links, {area.x + room, y}, room - words - gap);
  picture.whole &= widths > 0 && words <= area.w;
  add_muted(scene, style, chart.note, {area.x, y}, Align::left, area.w);
}

void paint_link_lines(Scene& scene, const LinkChart& chart, std::span<const Link> links,
                      const LinkLayout& layout, const Style& style) {
  const Links all{chart, layout, style};
  all.is_row() ? all.paint_arcs(scene, links) : all.paint_straight(scene, links);
}

}  // namespace headscope::viz
