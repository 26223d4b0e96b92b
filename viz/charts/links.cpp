#include "viz/charts/links.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "viz/scene/colormap.h"
#include "viz/scene/dashes.h"

namespace headscope::viz {
namespace {

constexpr float kFullWidth = 0.825F, kLeastWidth = 0.175F;  // of lines, in units

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

  /// In narrow rows lines are thinner, so that those of neighbours stay apart.
  LinkStroke stroke(double weight, Color color) const {
    const auto part = static_cast<float>(chart.full > 0 ? std::clamp(weight / chart.full, 0.0, 1.0) : 0);
    const float narrowest = is_row() ? pitch() : std::min(pitch(), pitch(End::to));
    const float scale = std::min(style.unit(), std::max(1.F, 0.3F * narrowest) / kFullWidth);
    return {scale * (kLeastWidth + (kFullWidth - kLeastWidth) * part),
            color.with_alpha(static_cast<std::uint8_t>(std::lround(64 + 181 * part)))};
  }
  LinkStroke stroke(const Link& link) const {
    return stroke(static_cast<double>(link.weight), chart.series[link.series].color);
  }
  std::vector<float> dashes(const Link& link) const {
    return dashes_of(chart.series[link.series].dashes, style.unit());
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

  void paint_arc(Scene& scene, const Link& link) const {
    const float base = layout.drawing.bottom();
    const auto [width, color] = stroke(link);
    Polyline line = arc(link);
    line.width = width, line.color = color, line.dashes = dashes(link);
    const float arrow = arrow_size(pitch(), width, style);
    if (link.from == link.to || arrow < 2) {
      scene.add(std::move(line));
      return;
    }
    // The line ends in the middle of an arrow down to the target.
    const Point end = line.points.back();
    for (std::size_t i = line.points.size() / 2; i < line.points.size(); ++i)
      line.points[i].y = std::min(line.points[i].y, base - arrow / 2);
    scene.add(std::move(line));
    scene.add(FillPolygon{
        {{end.x - arrow / 2, end.y - arrow}, {end.x + arrow / 2, end.y - arrow}, {end.x, end.y}}, color});
  }

  void paint_straight(Scene& scene, const Link& link) const {
    const auto [width, color] = stroke(link);
    scene.add(Segments{{{layout.drawing.x, place(link.from, link.series)},
                        {layout.drawing.right(), place(link.to, link.series, End::to)}},
                       color,
                       width,
                       dashes(link)});
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
  layout.left = area.x;
  const Links links{chart, layout, style};
  layout.fits = links.count() > 0 && links.count(End::to) > 0;
  if (!layout.fits) return layout;
  (links.is_row() ? place_row : place_columns)(layout, chart, area, style);
  layout.from.role = chart.from_role;
  layout.to.role = chart.to_role;
  return layout;
}

void paint_links(Picture& picture, const LinkChart& chart, const LinkLayout& layout, const Style& style) {
  Scene& scene = picture.scene;
  const Links links{chart, layout, style};
  paint_link_lines(scene, chart, chart.links, layout, style);
  const Region grid = links.grid();
  if (links.is_row()) {
    picture.whole &=
        paint_axis_labels(scene, chart.from, layout.from_room, grid, LabelSide::below, style, layout.left);
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
}

void paint_link_lines(Scene& scene, const LinkChart& chart, std::span<const Link> links,
                      const LinkLayout& layout, const Style& style) {
  const Links all{chart, layout, style};
  for (const Link& link : links) all.is_row() ? all.paint_arc(scene, link) : all.paint_straight(scene, link);
}

LinkStroke stroke_of(const LinkChart& chart, const LinkLayout& layout, double weight, Color color,
                     const Style& style) {
  return Links{chart, layout, style}.stroke(weight, color);
}

}  // namespace headscope::viz
