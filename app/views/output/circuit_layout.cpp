#include "app/views/output/circuit_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"

namespace headscope::app::circuit_picture {
namespace {

using model::StreamGraph;
using model::StreamReader;
using model::StreamWriter;

constexpr int kCurvePoints = 16;

Node node_of(StreamWriter part, int row) {
  switch (part.kind) {
    case StreamWriter::Kind::embedding:
      return {.kind = Node::Kind::embedding, .row = row};
    case StreamWriter::Kind::head:
      return {.kind = Node::Kind::head, .layer = part.layer, .head = part.head, .row = row};
    case StreamWriter::Kind::mlp:
      break;
  }
  return {.kind = Node::Kind::mlp, .layer = part.layer, .row = row};
}

Node node_of(StreamReader part, int row) {
  if (part.kind == StreamReader::Kind::logits) return {.kind = Node::Kind::logits, .row = row};
  if (part.kind == StreamReader::Kind::mlp) return {.kind = Node::Kind::mlp, .layer = part.layer, .row = row};
  return {.kind = Node::Kind::head, .layer = part.layer, .head = part.head, .row = row};
}

/// In the order of the pass.
int order_of(const Node& node) {
  if (node.kind == Node::Kind::embedding) return -1;
  if (node.kind == Node::Kind::logits) return 1 << 20;
  return 2 * node.layer + (node.kind == Node::Kind::mlp ? 1 : 0);
}

std::string label_of_node(const Node& node) {
  if (node.kind == Node::Kind::embedding) return "embedding";
  if (node.kind == Node::Kind::head) return head_name(node.layer, node.head);
  if (node.kind == Node::Kind::mlp) return "MLP " + std::to_string(node.layer);
  return "logits";
}

/// Nodes and links without places, and the number of levels that have nodes.
int find_nodes(Layout& layout, const Circuit& circuit, std::span<const int> edges) {
  const auto add = [&](const Node& node) {
    const auto found = std::ranges::find_if(layout.nodes, [&](const Node& n) { return n.same_place(node); });
    if (found != layout.nodes.end()) return static_cast<int>(found - layout.nodes.begin());
    layout.nodes.push_back(node);
    layout.nodes.back().label = label_of_node(node);
    return static_cast<int>(std::ssize(layout.nodes)) - 1;
  };
  const int count = circuit.graph.edge_count();
  for (const int place : edges) {
    const int edge = place % count, row = place / count;
    const StreamReader reader = circuit.graph.reader(circuit.graph.reader_of(edge));
    const int from = add(node_of(circuit.graph.writer(circuit.graph.writer_of(edge)), row)),
              to = add(node_of(reader, row));
    layout.links.push_back(
        {.place = place, .from = from, .to = to, .reads = reader.kind, .score = circuit.scores[place]});
  }
  std::set<int> orders;
  for (const Node& node : layout.nodes) orders.insert(order_of(node));
  for (Node& node : layout.nodes)
    node.level = static_cast<int>(std::distance(orders.begin(), orders.find(order_of(node))));
  return static_cast<int>(orders.size());
}

/// The links of each node.
std::vector<std::vector<int>> links_of_nodes(const Layout& layout) {
  std::vector<std::vector<int>> links(layout.nodes.size());
  for (int i = 0; i < std::ssize(layout.links); ++i) {
    links[layout.links[i].from].push_back(i);
    links[layout.links[i].to].push_back(i);
  }
  return links;
}

/// Puts the middles of boxes as near to the wanted places as they may be without touching.
void spread(std::vector<float>& middles, const std::vector<float>& widths, float gap, float left,
            float right) {
  const std::size_t n = middles.size();
  const std::vector<float> wanted = middles;
  const auto apart = [&](std::size_t i) { return (widths[i - 1] + widths[i]) / 2 + gap; };
  std::vector<float> low(n), high(n);
  for (std::size_t i = 0; i < n; ++i)
    low[i] = std::max(wanted[i], i == 0 ? left + widths[0] / 2 : low[i - 1] + apart(i));
  for (std::size_t i = n; i-- > 0;)
    high[i] = std::min(wanted[i], i + 1 == n ? right - widths[i] / 2 : high[i + 1] - apart(i + 1));
  // Between the two, which both keep the distances.
  for (std::size_t i = 0; i < n; ++i) middles[i] = (low[i] + high[i]) / 2;
  for (std::size_t i = 0; i < n; ++i)
    middles[i] = std::max(middles[i], i == 0 ? left + widths[0] / 2 : middles[i - 1] + apart(i));
  for (std::size_t i = n; i-- > 0;)
    middles[i] = std::min(middles[i], i + 1 == n ? right - widths[i] / 2 : middles[i + 1] - apart(i + 1));
}

/// Nodes of each level, sorted by `x`.
std::vector<std::vector<int>> by_level(const Layout& layout, int levels) {
  std::vector<std::vector<int>> result(static_cast<std::size_t>(levels));
  for (int i = 0; i < std::ssize(layout.nodes); ++i) result[layout.nodes[i].level].push_back(i);
  return result;
}

/// Places for positions together: each part near the middle of those it is joined to, weighted by the edges'
/// strength, as in drawings of layered graphs (Sugiyama et al. 1981).
void place_freely(Layout& layout, int levels, float gap) {
  constexpr int kRounds = 12;
  const auto links = links_of_nodes(layout);
  std::vector<std::vector<int>> rows = by_level(layout, levels);
  const float left = layout.area.x, right = layout.area.right();
  const auto x_of = [&](int node) -> float { return layout.nodes[node].box.center().x; };
  const auto set_x = [&](int node, float x) { layout.nodes[node].box.x = x - layout.nodes[node].box.w / 2; };
  const auto settle = [&](std::vector<int>& row) {
    std::vector<float> middles, widths;
    for (const int node : row) {
      middles.push_back(x_of(node));
      widths.push_back(layout.nodes[node].box.w);
    }
    const float all = std::accumulate(widths.begin(), widths.end(), 0.F);
    const auto between = static_cast<float>(row.size() > 1 ? row.size() - 1 : 1);
    const float room = std::clamp((right - left - all) / between, 0.F, gap);
    if (all + room * static_cast<float>(row.size() - 1) > right - left + 0.5F) layout.fits = false;
    spread(middles, widths, room, left, right);
    for (std::size_t i = 0; i < row.size(); ++i) set_x(row[i], middles[i]);
  };
  for (std::vector<int>& row : rows) {
    std::ranges::sort(row, {}, [&](int node) { return layout.nodes[node].head; });
    for (std::size_t i = 0; i < row.size(); ++i)
      set_x(row[i], left + (right - left) * (static_cast<float>(i) + 0.5F) / static_cast<float>(row.size()));
  }
  for (int round = 0; round < kRounds; ++round)
    for (int step = 0; step < levels; ++step) {
      std::vector<int>& row = rows[round % 2 == 0 ? step : levels - 1 - step];
      std::map<int, float> wanted;
      for (const int node : row) {
        float sum = 0, weight = 0;
        for (const int link : links[node]) {
          const Link& of = layout.links[link];
          const float by = std::abs(of.score);
          sum += by * x_of(of.from == node ? of.to : of.from);
          weight += by;
        }
        wanted[node] = weight > 0 ? sum / weight : x_of(node);
      }
      std::ranges::stable_sort(row, {}, [&](int node) { return wanted[node]; });
      for (const int node : row) set_x(node, wanted[node]);
      settle(row);
    }
}

/// Places in columns of positions. Parts of one level and position lie above each other. Returns the largest
/// number of these at each level.
std::vector<int> stacks_of(const Layout& layout, int levels) {
  std::vector<std::map<int, int>> counts(static_cast<std::size_t>(levels));
  std::vector<int> most(static_cast<std::size_t>(levels), 1);
  for (const Node& node : layout.nodes)
    most[node.level] = std::max(most[node.level], ++counts[node.level][node.row]);
  return most;
}

/// A curve from the top of one box to a point at the bottom of another.
std::vector<viz::Point> curve(viz::Point from, viz::Point to) {
  std::vector<viz::Point> points;
  const float bend = 0.5F * (from.y - to.y);
  for (int i = 0; i <= kCurvePoints; ++i) {
    const float t = static_cast<float>(i) / kCurvePoints, s = 1 - t;
    const float a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    points.push_back(
        {(a + b) * from.x + (c + d) * to.x, a * from.y + b * (from.y - bend) + c * (to.y + bend) + d * to.y});
  }
  return points;
}

/// Where an edge ends at the bottom of a box: queries at the left, keys in the middle, values at the right.
float port(const viz::Rect& box, StreamReader::Kind reads) {
  const float parts = reads == StreamReader::Kind::q ? 0.22F : reads == StreamReader::Kind::v ? 0.78F : 0.5F;
  return box.x + parts * box.w;
}

float box_height(const viz::Style& style) {
  return std::ceil(style.line(style.small()) + 1.5F * style.unit());
}
float box_gap(const viz::Style& style) {  // between parts above each other
  return 1.5F * style.unit();
}
/// Between levels, at least.
float level_gap(const viz::Style& style) {
  return 4 * style.unit();
}

}  // namespace

float needed_height(const ViewContext& c, const Circuit& circuit, std::span<const int> edges) {
  Layout layout;
  const int levels = find_nodes(layout, circuit, edges);
  const viz::Style style = style_of(c);
  const std::vector<int> stacks =
      circuit.rows > 1 ? stacks_of(layout, levels) : std::vector<int>(static_cast<std::size_t>(levels), 1);
  const auto boxes = static_cast<float>(std::accumulate(stacks.begin(), stacks.end(), 0));
  return boxes * (box_height(style) + box_gap(style)) + static_cast<float>(levels) * level_gap(style);
}

Layout lay_out(const ViewContext& c, const Circuit& circuit, std::span<const int> edges, viz::Rect area) {
  const viz::Style style = style_of(c);
  Layout layout;
  const int levels = find_nodes(layout, circuit, edges);
  const float u = style.unit(), height = box_height(style), gap = box_gap(style);
  const bool by_position = circuit.rows > 1;
  layout.label_width = style.width("L" + std::to_string(circuit.graph.n_layer() - 1), style.small()) + 2 * u;
  layout.area = {area.x + layout.label_width, area.y, area.w - layout.label_width, area.h};
  for (Node& node : layout.nodes)
    node.box = {layout.area.x, 0, style.width(node.label, style.small()) + 3 * u, height};
  const std::vector<int> stacks =
      by_position ? stacks_of(layout, levels) : std::vector<int>(static_cast<std::size_t>(levels), 1);

  // Levels from the bottom up.
  float boxes = 0;
  for (const int stack : stacks) boxes += static_cast<float>(stack) * (height + gap) - gap;
  const float between = levels > 1 ? (area.h - boxes) / static_cast<float>(levels - 1) : 0;
  if (levels > 1 && between < level_gap(style) / 2) layout.fits = false;
  std::vector<float> tops(static_cast<std::size_t>(levels));
  float y = area.bottom();
  for (int level = 0; level < levels; ++level) {
    y -= static_cast<float>(stacks[level]) * (height + gap) - gap;
    tops[level] = y;
    y -= between;
  }
  if (by_position) {
    std::set<int> positions;
    for (const Node& node : layout.nodes) positions.insert(node.row);
    layout.columns.assign(positions.begin(), positions.end());
    const float column = layout.area.w / static_cast<float>(layout.columns.size());
    for (std::size_t i = 0; i < layout.columns.size(); ++i)
      layout.column_at.push_back(layout.area.x + column * (static_cast<float>(i) + 0.5F));
    std::map<std::pair<int, int>, int> used;
    for (Node& node : layout.nodes) {
      const auto at = std::ranges::lower_bound(layout.columns, node.row) - layout.columns.begin();
      if (node.box.w > column - u) layout.fits = false;
      node.box.x = layout.column_at[at] - node.box.w / 2;
      node.box.y = tops[node.level] + static_cast<float>(used[{node.level, node.row}]++) * (height + gap);
    }
  } else {
    for (Node& node : layout.nodes) node.box.y = tops[node.level];
    place_freely(layout, levels, 4 * u);
  }

  for (const Node& node : layout.nodes) {
    if (node.kind != Node::Kind::head && node.kind != Node::Kind::mlp) continue;
    const float top = node.box.y - u, bottom = node.box.bottom() + u;
    const auto band = std::ranges::find(layout.bands, node.layer, &Band::layer);
    if (band == layout.bands.end()) {
      layout.bands.push_back({node.layer, top, bottom});
    } else {
      band->top = std::min(band->top, top), band->bottom = std::max(band->bottom, bottom);
    }
  }

  for (const Link& link : layout.links)
    layout.strongest = std::max(layout.strongest, std::abs(static_cast<double>(link.score)));
  layout.thickest = 1.6F * u;
  const float least = std::max(c.least_line, 0.75F);
  for (Link& link : layout.links) {
    const viz::Rect &from = layout.nodes[link.from].box, &to = layout.nodes[link.to].box;
    link.points = curve({from.center().x, from.y}, {port(to, link.reads), to.bottom()});
    link.width =
        std::max(least, layout.thickest * std::abs(link.score) / static_cast<float>(layout.strongest));
  }
  std::ranges::stable_sort(layout.links, {}, [](const Link& link) { return std::abs(link.score); });
  if (!by_position) return layout;
  for (int from = 0; from < std::ssize(layout.nodes); ++from)
    for (int to = 0; to < std::ssize(layout.nodes); ++to) {
      const Node &a = layout.nodes[from], &b = layout.nodes[to];
      if (a.kind != Node::Kind::head || b.kind != a.kind || a.layer != b.layer || a.head != b.head ||
          a.row >= b.row)
        continue;
      const auto reads = [&](const Link& link) {
        return link.to == from &&
               (link.reads == StreamReader::Kind::k || link.reads == StreamReader::Kind::v);
      };
      if (std::ranges::none_of(layout.links, reads)) continue;
      layout.passages.push_back({from, to, {{a.box.right(), a.box.center().y}, {b.box.x, b.box.center().y}}});
    }
  return layout;
}

}  // namespace headscope::app::circuit_picture
