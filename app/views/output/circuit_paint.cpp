#include "app/views/output/circuit_paint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/frame.h"

namespace headscope::app::circuit_picture {

using model::StreamReader;

viz::Color color_of(const ViewContext& c, StreamReader::Kind reads) {
  switch (reads) {
    case StreamReader::Kind::q:
      return c.theme->query;
    case StreamReader::Kind::k:
      return c.theme->key;
    case StreamReader::Kind::v:
      return c.theme->value;
    case StreamReader::Kind::mlp:
    case StreamReader::Kind::logits:
      break;
  }
  return c.theme->text_muted;
}

static std::vector<float> dashes_of_negative(float width, float unit) {
  return {1.5F * unit, unit + width};
}

void paint_link(viz::Scene& scene, const ViewContext& c, const Link& link, viz::Color color) {
  viz::Polyline line{link.points, color, link.width};
  if (link.score < 0) line.dashes = dashes_of_negative(link.width, style_of(c).unit());
  scene.add(std::move(line));
}

void paint_hovered(viz::Scene& scene, const ViewContext& c, const Link& link) {
  Link wider = link;
  wider.width += 0.6F * style_of(c).unit();
  paint_link(scene, c, wider, color_of(c, link.reads));
}

void paint_bands(Picture& picture, const ViewContext& c, const Layout& layout) {
  const viz::Style style = style_of(c);
  for (const auto& [layer, top, bottom] : layout.bands) {
    const float left = layout.area.x - layout.label_width;
    picture.scene.add(
        viz::FillRect{{left, top, layout.area.right() - left, bottom - top}, c.theme->raised, style.unit()});
    viz::add_muted(picture.scene, style, "L" + std::to_string(layer),
                   {left + style.unit(), (top + bottom) / 2});
  }
}

void paint_nodes(Picture& picture, const ViewContext& c, const Layout& layout) {
  const viz::Style style = style_of(c);
  for (int i = 0; i < std::ssize(layout.nodes); ++i) {
    const Node& node = layout.nodes[i];
    const bool head = node.kind == Node::Kind::head;
    const float radius = head ? node.box.h / 2 : 0.75F * style.unit();
    const bool chosen = c.in_pane && head && node.layer == c.selection.layer && node.head == c.selection.head;
    picture.scene.add(viz::FillRect{node.box, c.theme->surface, radius});
    picture.scene.add(viz::StrokeRect{node.box, chosen ? c.theme->accent : c.theme->field_line,
                                      chosen ? 2.F : 1.F, radius});
    viz::add_label(picture.scene, style, node.label, node.box.center(), style.small(), c.theme->text,
                   viz::FontStyle::regular, viz::Align::center);
    picture.regions.push_back({.role = kNode, .id = i, .rect = node.box});
  }
}

/// How much of a head's values goes from a key's position to a query's; NaN while that is not known.
static double weight_of(const ViewContext& c, const Node& key, const Node& query) {
  const auto pattern = c.ask(PatternOf{key.layer, key.head});
  return pattern ? static_cast<double>(pattern->matrix().at(query.row, key.row)) : std::nan("");
}

void paint_passages(Picture& picture, const ViewContext& c, const Layout& layout) {
  constexpr double kSmall = 0.05;
  constexpr int kPoints = 24;
  const float u = style_of(c).unit();
  std::vector<double> weights;
  std::map<int, double> largest;  // by the key's node
  for (const Passage& passage : layout.passages) {
    weights.push_back(weight_of(c, layout.nodes[passage.from], layout.nodes[passage.to]));
    const auto [known, is_new] = largest.try_emplace(passage.from, weights.back());
    if (!is_new) known->second = std::max(known->second, weights.back());
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Passage& passage = layout.passages[i];
    const double of = weights[i];
    if (!std::isfinite(of) || (of < kSmall && of < largest[passage.from])) continue;
    const viz::Rect &key = layout.nodes[passage.from].box, &query = layout.nodes[passage.to].box;
    const float width = std::max({0.5F * u * static_cast<float>(of), c.least_line, 0.9F});
    const viz::Point start{key.right(), key.center().y}, end{query.x, query.center().y};
    const float rise = end.x - start.x < key.w ? 0 : 0.84F * key.h;
    viz::Polyline line{{}, c.theme->text_muted, width, {width, 0.75F * u}};
    for (int step = 0; step <= kPoints; ++step) {
      const float t = static_cast<float>(step) / kPoints;
      line.points.push_back({start.x + t * (end.x - start.x),
                             start.y + t * (end.y - start.y) - rise * std::sqrt(std::sqrt(4 * t * (1 - t)))});
    }
    picture.scene.add(std::move(line));
  }
}

viz::Region edges_region(const Layout& layout) {
  constexpr float kCell = 2;
  const auto count = [](float size) { return std::max(1, static_cast<int>(size / kCell)); };
  return viz::Region::grid(kEdge, 0, layout.area, count(layout.area.h), count(layout.area.w));
}

/// The distance of a point from a stretch of a line.
static float distance(viz::Point p, viz::Point a, viz::Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const float t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.F, 1.F) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

int nearest_link(const Layout& layout, viz::Point at) {
  int nearest = -1;
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < std::ssize(layout.links); ++i) {
    const Link& link = layout.links[i];
    for (std::size_t k = 1; k < link.points.size(); ++k) {
      const float away = std::max(0.F, distance(at, link.points[k - 1], link.points[k]) - link.width / 2);
      if (away < least) least = away, nearest = i;
    }
  }
  return nearest;
}

void paint_columns(Picture& picture, const ViewContext& c, const Layout& layout, float y) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const int position = layout.columns[i];
    const float left = i == 0 ? layout.area.x : (layout.column_at[i - 1] + layout.column_at[i]) / 2,
                right = i + 1 == layout.columns.size() ? layout.area.right()
                                                       : (layout.column_at[i] + layout.column_at[i + 1]) / 2;
    const float room = 2 * std::min(layout.column_at[i] - left, right - layout.column_at[i]) - 3 * u;
    viz::add_label(picture.scene, style, std::to_string(position) + " " + c.run->tokens.labels[position],
                   {layout.column_at[i], y}, style.small(), c.theme->text, viz::FontStyle::regular,
                   viz::Align::center, room);
    if (i > 0 && position > layout.columns[i - 1] + 1)
      viz::add_muted(picture.scene, style, "…", {left, y}, viz::Align::center);
  }
}

int paint_legend(Picture* picture, const ViewContext& c, const std::vector<Sample>& samples, viz::Point at,
                 float right) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), length = 6 * u;
  if (samples.empty()) return 0;
  float x = at.x;
  int lines = 1;
  for (const Sample& sample : samples) {
    const float width = length + u + style.width(sample.words, style.small());
    if (x > at.x && x + width > right) {
      x = at.x;
      ++lines;
    }
    const float y = at.y + static_cast<float>(lines - 1) * style.line(style.small());
    if (picture != nullptr) {
      viz::Polyline line{{{x, y}, {x + length, y}}, sample.color, sample.width};
      if (sample.width == 0) line.width = 0.4F * u, line.dashes = {0.4F * u, 0.75F * u};
      if (sample.negative) line.dashes = dashes_of_negative(sample.width, u);
      picture->scene.add(std::move(line));
      picture->whole &= viz::add_whole_label(picture->scene, style, sample.words, {x + length + u, y},
                                             right - x - length - u, c.theme->text_muted);
    }
    x += width + 3 * u;
  }
  return lines;
}

}  // namespace headscope::app::circuit_picture
