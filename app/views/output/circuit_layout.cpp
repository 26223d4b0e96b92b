#include "app/views/output/circuit_layout.h"

#include <map>
#include <numeric>
#include <set>

#include "app/views/output/circuit_question.h"
#include "app/views/parts/parts.h"

namespace headscope::app::circuit_picture {
namespace {

using model::StreamGraph;
using model::StreamReader;
using model::StreamWriter;

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
  switch (node.kind) {
    case Node::Kind::embedding:
      return name_of(StreamWriter{});
    case Node::Kind::head:
      return name_of(StreamWriter{StreamWriter::Kind::head, node.layer, node.head});
    case Node::Kind::mlp:
      return name_of(StreamWriter{StreamWriter::Kind::mlp, node.layer, 0});
    case Node::Kind::logits:
      break;
  }
  return name_of(StreamReader{});
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
        {.place = place, .from = from, .to = to, .reads = reader.kind, .score = circuit.score(place)});
  }
  std::set<int> orders;
  for (const Node& node : layout.nodes) orders.insert(order_of(node));
  for (Node& node : layout.nodes)
    node.level = static_cast<int>(std::distance(orders.begin(), orders.find(order_of(node))));
  return static_cast<int>(orders.size());
}

/// Puts middles, in ascending order, as near to where they are as their widths allow.
void spread(std::vector<float>& middles, const std::vector<float>& widths, float left, float right) {
  const std::size_t n = middles.size();
  const std::vector<float> wanted = middles;
  const auto apart = [&](std::size_t i) { return (widths[i - 1] + widths[i]) / 2; };
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

/// What needs room in a level: a part, or an edge that passes it.
struct Place {
  int node = -1;  ///< -1: an edge passes
  float x = 0;    ///< its middle
  float width = 0;
  struct Neighbour {
    int place;
    float weight;
  };
  std::vector<Neighbour> neighbours = {};  ///< in the next levels
};

/// Drawings of layered graphs (Sugiyama et al. 1981): edges get room in every level that they pass, and each
/// place is moved near to the middle of those it is joined to.
class Layers {
 public:
  /// `gap`: between parts; `lane`: between edges that pass; `wanted`: which parts.
  Layers(Layout& layout, int levels, float gap, float lane, const std::function<bool(const Node&)>& wanted)
      : layout_(layout), gap_(gap), levels_(static_cast<std::size_t>(levels)) {
    std::vector<int> places(layout.nodes.size(), -1);
    for (int i = 0; i < std::ssize(layout.nodes); ++i)
      if (wanted(layout.nodes[i])) places[i] = add(layout.nodes[i].level, {i, 0, layout.nodes[i].box.w});
    for (int i = 0; i < std::ssize(layout.links); ++i) {
      const Link& link = layout.links[i];
      if (places[link.from] < 0) continue;
      std::vector<int> chain{places[link.from]};
      for (int level = layout.nodes[link.from].level + 1; level < layout.nodes[link.to].level; ++level)
        chain.push_back(add(level, {-1, 0, link.width + lane}));
      chain.push_back(places[link.to]);
      for (std::size_t k = 1; k < chain.size(); ++k) join(chain[k - 1], chain[k]);
      chains_.push_back({i, std::move(chain)});
    }
  }

  /// The room that the fullest level needs.
  float least_width() const {
    float most = 0;
    for (const std::vector<int>& row : levels_) {
      float all = 0;
      for (const int place : row) all += room_of(place);
      most = std::max(most, all);
    }
    return most;
  }

  /// Puts all places between `left` and `right`.
  void settle(float left, float right) {
    constexpr int kRounds = 24;
    left_ = left, right_ = right;
    for (std::vector<int>& row : levels_) {
      std::ranges::stable_sort(row, {}, [&](int place) {
        return places_[place].node < 0 ? 0 : layout_.nodes[places_[place].node].head;
      });
      for (std::size_t i = 0; i < row.size(); ++i)
        places_[row[i]].x =
            left_ + (right_ - left_) * (static_cast<float>(i) + 0.5F) / static_cast<float>(row.size());
    }
    for (int round = 0; round < kRounds; ++round)
      for (std::size_t step = 0; step < levels_.size(); ++step)
        settle_level(levels_[round % 2 == 0 ? step : levels_.size() - 1 - step]);
    widen();
    for (const Place& place : places_)
      if (place.node >= 0) layout_.nodes[place.node].box.x = place.x - place.width / 2;
  }

  /// Calls visit(link, the middles at the levels it passes).
  template <class Visit>
  void for_each_chain(const Visit& visit) const {
    for (const auto& [link, chain] : chains_) {
      std::vector<float> passed;
      for (std::size_t i = 1; i + 1 < chain.size(); ++i) passed.push_back(places_[chain[i]].x);
      visit(link, passed);
    }
  }

 private:
  int add(int level, Place place) {
    places_.push_back(std::move(place));
    levels_[level].push_back(static_cast<int>(std::ssize(places_)) - 1);
    return levels_[level].back();
  }
  /// Passing edges stay straight rather than parts near to each other.
  void join(int a, int b) {
    const int passing = (places_[a].node < 0 ? 1 : 0) + (places_[b].node < 0 ? 1 : 0);
    const float weight = passing == 2 ? 8.F : passing == 1 ? 2.F : 1.F;
    places_[a].neighbours.push_back({b, weight});
    places_[b].neighbours.push_back({a, weight});
  }

  /// Centers the places, and moves them apart where there is room.
  void widen() {
    constexpr float kMost = 5;
    float from = right_, to = left_, widest = 0;
    for (const Place& place : places_) {
      from = std::min(from, place.x), to = std::max(to, place.x);
      widest = std::max(widest, place.width + gap_);
    }
    if (places_.empty()) return;
    const float room = right_ - left_ - widest,
                by = to > from ? std::clamp(room / (to - from), 1.F, kMost) : 1;
    for (Place& place : places_) place.x = (left_ + right_) / 2 + by * (place.x - (from + to) / 2);
  }

  float room_of(int place) const { return places_[place].width + (places_[place].node < 0 ? 0 : gap_); }

  void settle_level(std::vector<int>& row) {
    for (const int place : row) {
      float sum = 0, weight = 0;
      for (const auto& [other, by] : places_[place].neighbours) sum += by * places_[other].x, weight += by;
      if (weight > 0) places_[place].x = sum / weight;
    }
    std::ranges::stable_sort(row, {}, [&](int place) { return places_[place].x; });
    std::vector<float> middles, widths;
    for (const int place : row) {
      middles.push_back(places_[place].x);
      widths.push_back(room_of(place));
    }
    spread(middles, widths, left_, right_);
    for (std::size_t i = 0; i < row.size(); ++i) places_[row[i]].x = middles[i];
  }

  Layout& layout_;
  float gap_, left_ = 0, right_ = 0;
  std::vector<Place> places_;
  std::vector<std::vector<int>> levels_;                  // places, from left to right
  std::vector<std::pair<int, std::vector<int>>> chains_;  // a link and its places, from its writer on
};

/// Places in columns of positions. Parts of one level and position lie above each other. Returns the largest
/// number of these at each level.
std::vector<int> stacks_of(const Layout& layout, int levels) {
  std::vector<std::map<int, int>> counts(static_cast<std::size_t>(levels));
  std::vector<int> most(static_cast<std::size_t>(levels), 1);
  for (const Node& node : layout.nodes)
    most[node.level] = std::max(most[node.level], ++counts[node.level][node.row]);
  return most;
}

/// The number of lines that deviate from a cubic Bezier curve by at most `deviation`: chords of a curve
/// deviate by at most an eighth of its second derivative times their parameter's square.
int lines_of_curve(viz::Point p0, viz::Point p1, viz::Point p2, viz::Point p3, float deviation) {
  const auto bend = [](viz::Point a, viz::Point b, viz::Point c) {
    return std::hypot(a.x - 2 * b.x + c.x, a.y - 2 * b.y + c.y);
  };
  const float second = 6 * std::max(bend(p0, p1, p2), bend(p1, p2, p3));
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(second / (8 * deviation)))));
}

/// Adds a curve that leaves and arrives upright.
void add_curve(std::vector<viz::Point>& points, viz::Point to) {
  constexpr float kDeviation = 0.1F;  // logical pixels, so that it is round on fine screens, too
  const viz::Point from = points.back();
  const float bend = 0.5F * (from.y - to.y);
  if (from.x == to.x) {
    points.push_back(to);
    return;
  }
  const int lines = lines_of_curve(from, {from.x, from.y - bend}, {to.x, to.y + bend}, to, kDeviation);
  for (int i = 1; i <= lines; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(lines), s = 1 - t;
    const float a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    points.push_back(
        {(a + b) * from.x + (c + d) * to.x, a * from.y + b * (from.y - bend) + c * (to.y + bend) + d * to.y});
  }
}

/// Where an edge ends at the bottom of a box: queries at the left, keys in the middle, values at the right.
float port(const viz::Rect& box, StreamReader::Kind reads) {
  const float parts = reads == StreamReader::Kind::q ? 0.22F : reads == StreamReader::Kind::v ? 0.78F : 0.5F;
  return box.x + parts * box.w;
}

float box_height(const viz::Style& style) {
  return std::ceil(style.line(style.small()) + style.unit());
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

namespace {

/// Widths of lines, by the scores.
void set_widths(Layout& layout, float thickest, float least) {
  for (const Link& link : layout.links)
    layout.strongest = std::max(layout.strongest, std::abs(static_cast<double>(link.score)));
  layout.thickest = thickest;
  for (Link& link : layout.links)
    link.width = std::max(least, thickest * std::abs(link.score) / static_cast<float>(layout.strongest));
}

/// Tops of the levels from the bottom up, with `stacks` boxes above each other.
std::vector<float> tops_of(Layout& layout, const std::vector<int>& stacks, const viz::Style& style) {
  const float height = box_height(style), gap = box_gap(style);
  float boxes = 0;
  for (const int stack : stacks) boxes += static_cast<float>(stack) * (height + gap) - gap;
  const auto levels = static_cast<float>(stacks.size());
  const float between = levels > 1 ? (layout.area.h - boxes) / (levels - 1) : 0;
  if (levels > 1 && between < 1.5F * style.unit()) layout.fits = false;
  std::vector<float> tops;
  float y = layout.area.bottom();
  for (const int stack : stacks) {
    y -= static_cast<float>(stack) * (height + gap) - gap;
    tops.push_back(y);
    y -= between;
  }
  return tops;
}

/// Where a link leaves the top of a box and arrives at the bottom of another.
struct Ends {
  float from = 0, to = 0;
};

/// Links of a box beside each other, in the order in which they come and go.
std::vector<Ends> spread_ends(const Layout& layout, const std::vector<std::vector<float>>& ways) {
  constexpr float kPart = 0.6F;  // of a box's width; of a head's only what keeps its ports apart
  std::vector<Ends> ends;
  for (const Link& link : layout.links)
    ends.push_back({layout.nodes[link.from].box.center().x, port(layout.nodes[link.to].box, link.reads)});
  const auto spread = [&](std::vector<int> links, float width, float Ends::*end, const auto& other) {
    std::ranges::sort(links, {}, other);
    for (std::size_t i = 0; i < links.size(); ++i)
      ends[links[i]].*end +=
          width * ((static_cast<float>(i) + 0.5F) / static_cast<float>(links.size()) - 0.5F);
  };
  for (int node = 0; node < std::ssize(layout.nodes); ++node) {
    const viz::Rect& box = layout.nodes[node].box;
    std::vector<int> out;
    std::map<StreamReader::Kind, std::vector<int>> in;
    for (int i = 0; i < std::ssize(layout.links); ++i) {
      if (layout.links[i].from == node) out.push_back(i);
      if (layout.links[i].to == node) in[layout.links[i].reads].push_back(i);
    }
    spread(out, kPart * box.w, &Ends::from, [&](int i) {
      return ways[i].empty() ? layout.nodes[layout.links[i].to].box.center().x : ways[i].front();
    });
    for (const auto& [reads, links] : in)
      spread(links, (reads < StreamReader::Kind::mlp ? 0.22F : kPart) * box.w, &Ends::to, [&](int i) {
        return ways[i].empty() ? layout.nodes[layout.links[i].from].box.center().x : ways[i].back();
      });
  }
  return ends;
}

/// Draws a link past the levels between its ends, at these places.
void route(Layout& layout, Link& link, Ends ends, const std::vector<float>& passed,
           const std::vector<float>& tops, float height) {
  const Node &from = layout.nodes[link.from], &to = layout.nodes[link.to];
  link.points = {{ends.from, from.box.y}};
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const float top = tops[static_cast<std::size_t>(from.level) + i + 1];
    add_curve(link.points, {passed[i], top + height});
    link.points.push_back({passed[i], top});
  }
  add_curve(link.points, {ends.to, to.box.bottom()});
}

/// Parts beside each other, each group in a strip of its own. Returns whether there is room.
bool place_beside(Layout& layout, int levels, const viz::Style& style) {
  const float u = style.unit();
  std::vector<Layers> groups;
  float least = 0;
  const auto add = [&](const std::function<bool(const Node&)>& wanted) {
    least += groups.emplace_back(layout, levels, 3 * u, 1.25F * u, wanted).least_width();
  };
  if (layout.columns.empty()) add([](const Node&) { return true; });
  for (const int position : layout.columns)
    add([position](const Node& node) { return node.row == position; });
  if (least > layout.area.w) return false;
  const float wider = layout.area.w / least;
  const std::vector<float> tops =
      tops_of(layout, std::vector<int>(static_cast<std::size_t>(levels), 1), style);
  for (Node& node : layout.nodes) node.box.y = tops[node.level];
  std::vector<std::vector<float>> ways(layout.links.size());
  float x = layout.area.x;
  layout.column_at.clear();
  for (Layers& group : groups) {
    const float width = wider * group.least_width();
    group.settle(x, x + width);
    layout.column_at.push_back(x + width / 2);
    x += width;
    group.for_each_chain([&](int link, const std::vector<float>& passed) { ways[link] = passed; });
  }
  const std::vector<Ends> ends = spread_ends(layout, ways);
  for (std::size_t i = 0; i < ways.size(); ++i)
    route(layout, layout.links[i], ends[i], ways[i], tops, box_height(style));
  return true;
}

/// Parts of a position and level above each other, which takes less width; edges pass beneath them.
void place_above(Layout& layout, int levels, const viz::Style& style) {
  const std::vector<float> tops = tops_of(layout, stacks_of(layout, levels), style);
  const float column = layout.area.w / static_cast<float>(layout.columns.size());
  for (std::size_t i = 0; i < layout.columns.size(); ++i)
    layout.column_at.push_back(layout.area.x + column * (static_cast<float>(i) + 0.5F));
  std::map<std::pair<int, int>, int> used;
  for (Node& node : layout.nodes) {
    const auto at = std::ranges::lower_bound(layout.columns, node.row) - layout.columns.begin();
    if (node.box.w > column - style.unit()) layout.fits = false;
    const auto above = static_cast<float>(used[{node.level, node.row}]++);
    node.box.x = layout.column_at[at] - node.box.w / 2;
    node.box.y = tops[node.level] + above * (box_height(style) + box_gap(style));
  }
  const std::vector<std::vector<float>> straight(layout.links.size());
  const std::vector<Ends> ends = spread_ends(layout, straight);
  for (std::size_t i = 0; i < ends.size(); ++i) route(layout, layout.links[i], ends[i], {}, tops, 0);
}

void find_bands(Layout& layout, float margin) {
  for (const Node& node : layout.nodes) {
    if (node.kind != Node::Kind::head && node.kind != Node::Kind::mlp) continue;
    const float top = node.box.y - margin, bottom = node.box.bottom() + margin;
    const auto band = std::ranges::find(layout.bands, node.layer, &Band::layer);
    if (band == layout.bands.end()) {
      layout.bands.push_back({node.layer, top, bottom});
    } else {
      band->top = std::min(band->top, top), band->bottom = std::max(band->bottom, bottom);
    }
  }
}

/// From each place where a head's keys or values are read to each later one where it writes.
void find_passages(Layout& layout) {
  const auto reads = [&](int node) {
    return std::ranges::any_of(layout.links, [&](const Link& link) {
      return link.to == node && (link.reads == StreamReader::Kind::k || link.reads == StreamReader::Kind::v);
    });
  };
  const auto writes = [&](int node) {
    return std::ranges::any_of(layout.links, [&](const Link& link) { return link.from == node; });
  };
  for (int from = 0; from < std::ssize(layout.nodes); ++from)
    for (int to = 0; to < std::ssize(layout.nodes); ++to) {
      const Node &a = layout.nodes[from], &b = layout.nodes[to];
      const bool of_head =
          a.kind == Node::Kind::head && b.kind == a.kind && a.layer == b.layer && a.head == b.head;
      if (of_head && a.row < b.row && reads(from) && writes(to)) layout.passages.push_back({from, to});
    }
}

}  // namespace

Layout lay_out(const ViewContext& c, const Circuit& circuit, std::span<const int> edges, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  Layout layout;
  const int levels = find_nodes(layout, circuit, edges);
  set_widths(layout, 1.6F * u, std::max(c.least_line, 0.75F));
  layout.label_width = style.width("L" + std::to_string(circuit.graph.n_layer() - 1), style.small()) + 2 * u;
  layout.area = {area.x + layout.label_width, area.y, area.w - layout.label_width, area.h};
  for (Node& node : layout.nodes)
    node.box = {layout.area.x, 0, style.width(node.label, style.small()) + 3 * u, box_height(style)};
  if (circuit.rows > 1) {
    std::set<int> positions;
    for (const Node& node : layout.nodes) positions.insert(node.row);
    layout.columns.assign(positions.begin(), positions.end());
  }
  if (!place_beside(layout, levels, style)) {
    if (layout.columns.empty())
      layout.fits = false;
    else
      place_above(layout, levels, style);
  }
  find_bands(layout, u);
  std::ranges::stable_sort(layout.links, {}, [](const Link& link) { return std::abs(link.score); });
  find_passages(layout);
  return layout;
}

}  // namespace headscope::app::circuit_picture

namespace headscope::app {

std::string name_of(model::StreamWriter part) {
  switch (part.kind) {
    case model::StreamWriter::Kind::embedding:
      return "embedding";
    case model::StreamWriter::Kind::head:
      return head_name(part.layer, part.head);
    case model::StreamWriter::Kind::mlp:
      break;
  }
  return "MLP " + std::to_string(part.layer);
}

std::string name_of(model::StreamReader part) {
  switch (part.kind) {
    case model::StreamReader::Kind::q:
      return head_name(part.layer, part.head) + " q";
    case model::StreamReader::Kind::k:
      return head_name(part.layer, part.head) + " k";
    case model::StreamReader::Kind::v:
      return head_name(part.layer, part.head) + " v";
    case model::StreamReader::Kind::mlp:
      return "MLP " + std::to_string(part.layer);
    case model::StreamReader::Kind::logits:
      break;
  }
  return "logits";
}

}  // namespace headscope::app
