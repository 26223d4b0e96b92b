#include "app/views/output/circuit_drawing.h"

#include <map>
#include <set>

#include "app/views/parts/parts.h"

namespace headscope::app {

std::string name_of(model::StreamWriter part) {
  if (part.kind == model::StreamWriter::Kind::embedding) return "embedding";
  if (part.kind == model::StreamWriter::Kind::head) return head_name(part.layer, part.head);
  return "MLP " + std::to_string(part.layer);
}

std::string name_of(model::StreamReader part) {
  using enum model::StreamReader::Kind;
  if (part.kind == logits) return "logits";
  if (part.kind == mlp) return "MLP " + std::to_string(part.layer);
  return head_name(part.layer, part.head) + (part.kind == q ? " q" : part.kind == k ? " k" : " v");
}

namespace circuit_picture {
namespace {

using model::StreamReader;
using model::StreamWriter;

/// Puts middles, in ascending order, as near to where they are as their widths allow.
void spread(std::vector<float>& middles, const std::vector<float>& widths, float left, float right) {
  const std::size_t n = middles.size();
  const auto apart = [&](std::size_t i) { return (widths[i - 1] + widths[i]) / 2; };
  const auto push_right = [&](std::vector<float>& x) {
    for (std::size_t i = 0; i < n; ++i)
      x[i] = std::max(x[i], i == 0 ? left + widths[0] / 2 : x[i - 1] + apart(i));
  };
  const auto push_left = [&](std::vector<float>& x) {
    for (std::size_t i = n; i-- > 0;)
      x[i] = std::min(x[i], i + 1 == n ? right - widths[i] / 2 : x[i + 1] - apart(i + 1));
  };
  std::vector<float> low = middles, high = middles;
  push_right(low), push_left(high);
  for (std::size_t i = 0; i < n; ++i) middles[i] = (low[i] + high[i]) / 2;  // keeps the distances, as both do
  push_right(middles), push_left(middles);
}

/// Adds a curve that leaves and arrives upright.
void add_curve(std::vector<viz::Point>& points, viz::Point to) {
  constexpr int kLines = 24;
  const viz::Point from = points.back();
  const float bend = 0.5F * (from.y - to.y);
  for (int i = from.x == to.x ? kLines : 1; i <= kLines; ++i) {
    const float t = static_cast<float>(i) / kLines, s = 1 - t, turned = viz::eased(t);
    points.push_back(
        {from.x + turned * (to.x - from.x), s * s * s * from.y + 3 * s * s * t * (from.y - bend) +
                                                3 * s * t * t * (to.y + bend) + t * t * t * to.y});
  }
}

/// Where links leave the tops of boxes and arrive at the bottoms of others, in the order in which they come
/// and go: queries at the left of a head, keys in the middle, values at the right. `middles`: of each link at
/// the levels that it joins and passes.
std::vector<std::pair<float, float>> ends_of(const Graph& graph,
                                             const std::vector<std::vector<float>>& middles) {
  constexpr float kPart = 0.6F;  // of a box's width
  std::vector<std::pair<float, float>> ends(graph.links.size());
  for (int node = 0; node < std::ssize(graph.nodes); ++node)
    for (const bool up : {true, false}) {
      std::vector<int> joined;
      for (int i = 0; i < std::ssize(graph.links); ++i)
        if ((up ? graph.links[i].from : graph.links[i].to) == node) joined.push_back(i);
      std::ranges::sort(joined, {}, [&](int i) {
        const float next = up ? middles[i][1] : middles[i].rbegin()[1];
        return std::pair(up ? 0 : static_cast<int>(graph.links[i].reads), next);
      });
      const viz::Rect& box = graph.nodes[node].rect;
      const auto count = static_cast<float>(joined.size());
      for (std::size_t i = 0; i < joined.size(); ++i)
        (up ? ends[joined[i]].first : ends[joined[i]].second) =
            box.center().x + kPart * box.w * ((static_cast<float>(i) + 0.5F) / count - 0.5F);
    }
  return ends;
}

/// From where a head's keys or values are read to where it writes later; of small weights each key's largest.
std::vector<Passage> passages_of(const Graph& graph, const Patterns& patterns) {
  constexpr double kSmall = 0.05;
  std::vector<Passage> passages;
  for (int from = 0; from < std::ssize(graph.nodes); ++from) {
    const Node& key = graph.nodes[from];
    const bool reads = std::ranges::any_of(graph.links, [&](const Link& link) {
      return link.to == from && (link.reads == StreamReader::Kind::k || link.reads == StreamReader::Kind::v);
    });
    const auto pattern = reads ? patterns.find({key.part->layer, key.part->head}) : patterns.end();
    if (pattern == patterns.end()) continue;
    std::vector<Passage> all;
    for (int to = 0; to < std::ssize(graph.nodes); ++to) {
      const Node& query = graph.nodes[to];
      if (query.part == key.part && query.row > key.row &&
          std::ranges::find(graph.links, to, &Link::from) != graph.links.end())
        all.push_back({from, to, static_cast<double>(pattern->second->matrix().at(query.row, key.row))});
    }
    if (all.empty()) continue;
    const double largest = std::ranges::max(all, {}, &Passage::weight).weight;
    for (const Passage& passage : all)
      if (passage.weight >= std::min(kSmall, largest)) passages.push_back(passage);
  }
  return passages;
}

/// Gives the nodes their levels, in the order of the pass; by position, heads of one layer and position stand
/// above each other, since many columns leave no width.
void find_levels(Graph& graph) {
  std::map<std::pair<int, int>, int> used;  // heads by layer and position
  std::vector<std::pair<int, int>> orders;
  for (const Node& node : graph.nodes) {
    int order = node.part ? -1 : 1 << 20;
    if (node.is_in_layer()) order = 2 * node.part->layer + (node.is_head() ? 0 : 1);
    orders.push_back({order, graph.columns.empty() ? 0 : used[{order, node.row}]++});
  }
  const std::set<std::pair<int, int>> distinct(orders.begin(), orders.end());
  graph.levels = static_cast<int>(distinct.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    graph.nodes[i].level = static_cast<int>(std::distance(distinct.begin(), distinct.find(orders[i])));
}

}  // namespace

Graph::Graph(const Circuit& circuit, const EdgeList& edges, const Patterns& patterns) {
  const auto add = [&](std::optional<StreamWriter> part, int row) {
    const auto same = [&](const Node& node) { return node.part == part && node.row == row; };
    const auto found = std::ranges::find_if(nodes, same);
    if (found != nodes.end()) return static_cast<int>(found - nodes.begin());
    Ref ref{.key = circuit.rows > 1 ? row : -1};
    if (part && part->kind == StreamWriter::Kind::head) ref.layer = part->layer, ref.head = part->head;
    nodes.push_back({{.ref = ref}, part, row});
    return static_cast<int>(std::ssize(nodes)) - 1;
  };
  std::set<int> positions;
  for (const int place : edges) {
    const auto [row, writer, reader] = edge_at(circuit, place);
    std::optional<StreamWriter> read_by;
    if (reader.is_head()) read_by = {StreamWriter::Kind::head, reader.layer, reader.head};
    if (reader.kind == StreamReader::Kind::mlp) read_by = {StreamWriter::Kind::mlp, reader.layer};
    const int from = add(writer, row), to = add(read_by, row);
    links.push_back({{.ref = {.other = place}}, place, from, to, reader.kind, circuit.score(place)});
    positions.insert(row);
  }
  std::ranges::stable_sort(links, {}, [](const Link& link) { return std::abs(link.score); });
  if (circuit.rows > 1) columns.assign(positions.begin(), positions.end());
  passages = passages_of(*this, patterns);
  find_levels(*this);
}

// ---- layout ----

namespace {

/// What needs room in a level: a part, or an edge that passes it.
struct PlacedNode {
  int order = 0;                                       ///< which begins at the left: a head's number
  float width = 0;                                     ///< with the space around it
  float x = 0;                                         ///< its middle
  std::vector<std::pair<int, float>> neighbours = {};  ///< spots in the next levels, with weights
};

/// As drawings of layered graphs (Sugiyama et al. 1981): edges get room in every level that they pass, and
/// each spot is moved near to the middle of those it is joined to. `rows`: spots by level.
void settle(std::vector<PlacedNode>& spots, std::vector<std::vector<int>>& rows, float left, float right) {
  constexpr int kRounds = 24;
  constexpr float kWidest = 5;
  for (std::vector<int>& row : rows) {
    std::ranges::stable_sort(row, {}, [&](int i) { return spots[i].order; });
    for (std::size_t i = 0; i < row.size(); ++i)
      spots[row[i]].x =
          left + (right - left) * (static_cast<float>(i) + 0.5F) / static_cast<float>(row.size());
  }
  for (std::size_t step = 0; step < kRounds * rows.size(); ++step) {
    const std::size_t level = step % rows.size();
    std::vector<int>& row = rows[step / rows.size() % 2 == 0 ? level : rows.size() - 1 - level];
    for (const int i : row) {
      float sum = 0, weight = 0;
      for (const auto& [other, by] : spots[i].neighbours) sum += by * spots[other].x, weight += by;
      if (weight > 0) spots[i].x = sum / weight;
    }
    std::ranges::stable_sort(row, {}, [&](int i) { return spots[i].x; });
    std::vector<float> middles, widths;
    for (const int i : row) middles.push_back(spots[i].x), widths.push_back(spots[i].width);
    spread(middles, widths, left, right);
    for (std::size_t i = 0; i < row.size(); ++i) spots[row[i]].x = middles[i];
  }
  // In the middle, and wider where there is room.
  float from = right, to = left, widest = 0;
  for (const std::vector<int>& row : rows)
    for (const int i : row) {
      from = std::min(from, spots[i].x), to = std::max(to, spots[i].x);
      widest = std::max(widest, spots[i].width);
    }
  const float by = to > from ? std::clamp((right - left - widest) / (to - from), 1.F, kWidest) : 1;
  for (const std::vector<int>& row : rows)
    for (const int i : row) spots[i].x = (left + right) / 2 + by * (spots[i].x - (from + to) / 2);
}

}  // namespace

static float label_width(const viz::Style& style) {
  return style.width("L00", style.small()) + 2 * style.unit();
}

/// Parts beside each other, those of each position in a strip of their own.
bool Graph::place(const ViewContext& c, viz::Rect page) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.small()), height = std::ceil(line + u);
  area = {page.x + label_width(style), page.y + u, page.w - label_width(style), page.h - 2 * u};
  if (!columns.empty()) area.h -= line + u;
  for (Link& link : links) {
    const float width = kThickest * u * std::abs(link.score / links.back().score);
    link.lines = {{{}, std::max({c.min_stroke_width, 0.75F, width}), link.score < 0}};
  }
  for (Node& node : nodes) node.rect = {0, 0, style.width(node.name(), style.small()) + 3 * u, height};
  const float step = levels > 1 ? (area.h - height) / static_cast<float>(levels - 1) : 0;
  std::vector<PlacedNode> spots;
  std::map<int, std::vector<std::vector<int>>> strips;  // by position, by level: spots
  const auto add = [&](int row, int level, int order, float width) {
    auto& strip = strips[row];
    strip.resize(static_cast<std::size_t>(levels));
    strip[level].push_back(static_cast<int>(std::ssize(spots)));
    spots.push_back({order, width});
    return strip[level].back();
  };
  for (const Node& node : nodes)  // their spots have their numbers
    add(node.row, node.level, node.part ? node.part->head : 0, node.rect.w + 3 * u);
  std::vector<std::vector<int>> chains;  // of each link, from its writer on
  for (const Link& link : links) {
    std::vector<int>& chain = chains.emplace_back(std::vector{link.from});
    const Node &writer = nodes[link.from], &reader = nodes[link.to];
    for (int level = writer.level + 1; level < reader.level; ++level)
      chain.push_back(add(writer.row, level, 0, link.lines[0].width + 1.25F * u));
    chain.push_back(link.to);
    for (std::size_t k = 1; k < chain.size(); ++k) {
      // Passing edges stay straight rather than parts near to each other, but for what a strong edge joins.
      const int ends = (k == 1 ? 1 : 0) + (k + 1 == chain.size() ? 1 : 0);
      const float weight = ends == 0 ? 8.F : ends == 1 ? 2.F : 1 + 4 * link.lines[0].width / (kThickest * u);
      spots[chain[k - 1]].neighbours.push_back({chain[k], weight});
      spots[chain[k]].neighbours.push_back({chain[k - 1], weight});
    }
  }
  std::map<int, float> least;  // the room that each strip's fullest level needs
  float all = 0;
  for (const auto& [row, strip] : strips) {
    for (const std::vector<int>& level : strip) {
      float width = 0;
      for (const int i : level) width += spots[i].width;
      least[row] = std::max(least[row], width);
    }
    all += least[row];
  }
  if (all > area.w || (levels > 1 && step < height + 1.5F * u)) return false;
  float x = area.x;
  for (auto& [row, strip] : strips) {
    const float width = least[row] * area.w / all;
    settle(spots, strip, x, x + width);
    columns_at.push_back(x + width / 2);
    x += width;
  }
  const auto top = [&](int level) { return area.bottom() - height - step * static_cast<float>(level); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    viz::Rect& rect = nodes[i].rect;
    rect.x = spots[i].x - rect.w / 2, rect.y = top(nodes[i].level);
  }
  std::vector<std::vector<float>> middles;
  for (const std::vector<int>& chain : chains) {
    middles.emplace_back();
    for (const int spot : chain) middles.back().push_back(spots[spot].x);
  }
  const auto ends = ends_of(*this, middles);
  for (std::size_t i = 0; i < links.size(); ++i) {
    Link& link = links[i];
    int level = nodes[link.from].level;
    std::vector<viz::Point>& points = link.lines[0].points;
    points = {{ends[i].first, top(level)}};
    for (const float at : std::span(middles[i]).subspan(1, middles[i].size() - 2)) {
      ++level;
      add_curve(points, {at, top(level) + height});
      points.push_back({at, top(level)});
    }
    add_curve(points, {ends[i].second, nodes[link.to].rect.bottom()});
  }
  return true;
}

// ---- painting ----

viz::Color color_of(const viz::Theme& theme, StreamReader::Kind reads) {
  return reads == StreamReader::Kind::q   ? theme.query
         : reads == StreamReader::Kind::k ? theme.key
         : reads == StreamReader::Kind::v ? theme.value
                                          : theme.text_muted;
}

static void paint_layers(viz::Scene& scene, const ViewContext& c, const Graph& graph) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), label = label_width(style);
  std::map<int, std::pair<float, float>> bands;  // by layer: top and bottom
  for (const Node& node : graph.nodes) {
    if (!node.is_in_layer()) continue;
    auto& [top, bottom] = bands.try_emplace(node.part->layer, node.rect.y, node.rect.bottom()).first->second;
    top = std::min(top, node.rect.y), bottom = std::max(bottom, node.rect.bottom());
  }
  for (const auto& [layer, band] : bands) {
    const viz::Rect rect{graph.area.x - label, band.first - u, graph.area.w + label,
                         band.second - band.first + 2 * u};
    scene.add(viz::FillRect{rect, c.theme->raised, u});
    viz::add_muted(scene, style, "L" + std::to_string(layer), {rect.x + u, rect.center().y});
  }
}

/// Dotted lines over what lies between, thick as the attention weight, from keys to queries.
static void paint_passages(viz::Scene& scene, const ViewContext& c, const Graph& graph) {
  constexpr int kPoints = 24;
  const float u = style_of(c).unit();
  for (const Passage& passage : graph.passages) {
    const viz::Rect &key = graph.nodes[passage.from].rect, &query = graph.nodes[passage.to].rect;
    const float width = std::max({0.5F * u * static_cast<float>(passage.weight), c.min_stroke_width, 0.9F});
    const viz::Point start{key.right(), key.center().y}, end{query.x, query.center().y};
    const float rise = end.x - start.x < key.w ? 0 : 0.84F * key.h;
    viz::Polyline line{{}, c.theme->text_muted, width, {width, 0.75F * u}};
    for (int step = 0; step <= kPoints; ++step) {
      const float t = static_cast<float>(step) / kPoints;
      const float over = rise * std::sqrt(std::sqrt(4 * t * (1 - t)));
      line.points.push_back({start.x + t * (end.x - start.x), start.y + t * (end.y - start.y) - over});
    }
    scene.add(std::move(line));
  }
}

/// The tokens under their columns, and dots where others are left out between them.
static void paint_columns(viz::Scene& scene, const ViewContext& c, const Graph& graph) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), y = graph.area.bottom() + 2 * u + style.line(style.small()) / 2;
  for (std::size_t i = 0; i < graph.columns.size(); ++i) {
    const int position = graph.columns[i];
    const float left = i == 0 ? graph.area.x : (graph.columns_at[i - 1] + graph.columns_at[i]) / 2;
    viz::add_label(scene, style, std::to_string(position) + " " + c.run->tokens.labels[position],
                   {graph.columns_at[i], y}, style.small(), c.theme->text, viz::FontStyle::regular,
                   viz::Align::center, 2 * (graph.columns_at[i] - left) - 3 * u);
    if (i > 0 && position > graph.columns[i - 1] + 1)
      viz::add_muted(scene, style, "…", {left, y}, viz::Align::center);
  }
}

void Graph::paint(Picture& picture, const ViewContext& c, int chosen) const {
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  paint_layers(scene, c, *this);
  paint_passages(scene, c, *this);
  for (const Link& link : links)
    layered::paint_lines(scene, link, link.place == chosen ? c.theme->accent : color_of(*c.theme, link.reads),
                         c);
  for (const Node& node : nodes) {
    const float radius = node.is_head() ? node.rect.h / 2 : 0.75F * style.unit();
    const bool selected = c.in_pane && node.is_head() && node.part->layer == c.selection.layer &&
                          node.part->head == c.selection.head;
    scene.add(viz::FillRect{node.rect, c.theme->surface, radius});
    scene.add(viz::StrokeRect{node.rect, selected ? c.theme->accent : c.theme->field_line,
                              selected ? 2.F : 1.F, radius});
    viz::add_label(scene, style, node.name(), node.rect.center(), style.small(), c.theme->text,
                   viz::FontStyle::regular, viz::Align::center);
  }
  paint_columns(scene, c, *this);
}

}  // namespace circuit_picture
}  // namespace headscope::app
