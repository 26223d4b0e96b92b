#include "app/views/output/flow_drawing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "app/views/parts/parts.h"

namespace headscope::app::flow_picture {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

void add_arc(std::vector<viz::Point>& points, viz::Point center, float radius, float from, float to) {
  const int steps = std::clamp(static_cast<int>(radius), 6, 16);
  for (int i = 0; i <= steps; ++i) {
    const float angle = from + (to - from) * static_cast<float>(i) / static_cast<float>(steps);
    points.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
}

/// From a ribbon up, level at `y` between two turns, and up to another; a stub shows only its ends.
std::vector<layered::Line> way(viz::Point key, viz::Point query, float y, float turn, float width, bool stub,
                               float unit) {
  const float to_right = query.x > key.x ? 1.F : -1.F;
  // Turns become narrower between near columns.
  const float r = std::min(width / 2 + turn, std::abs(query.x - key.x) / 2);
  std::vector<viz::Point> out, in;
  if (key.y > y + r + 0.1F) out.push_back(key);
  add_arc(out, {key.x + to_right * r, y + r}, r, to_right > 0 ? kPi : 0,
          to_right > 0 ? 1.5F * kPi : -kPi / 2);
  add_arc(in, {query.x - to_right * r, y - r}, r, kPi / 2, to_right > 0 ? 0 : kPi);
  if (query.y < y - r - 0.1F) in.push_back(query);
  if (stub) {
    const float length = std::min(4 * unit, std::abs(query.x - key.x) / 2 - r);
    out.push_back({out.back().x + to_right * length, y});
    in.insert(in.begin(), {in.front().x - to_right * length, y});
    return {{std::move(out), width}, {std::move(in), width}};
  }
  out.insert(out.end(), in.begin(), in.end());
  return {{std::move(out), width}};
}

}  // namespace

viz::Color mlp_color(const viz::Theme& theme, double sign) {
  return viz::blended(theme.surface, viz::sign_color(theme, sign).with_alpha(110));
}

Drawing::Drawing(Input input, viz::Rect area, const ViewContext& c, std::optional<double> scale)
    : in_(std::move(input)), area_(area), style_(style_of(c)) {
  const Graph& graph = in_.graph;
  u_ = style_.unit(), line_ = style_.line(style_.small());
  target_ = graph.column_of(graph.target);
  const bool low = area.h < 30 * c.font_size, narrow = area.w < 40 * c.font_size;
  for (std::size_t most = low ? 3 : 5; in_.bars.size() > most;)
    in_.bars.erase(in_.bars.end() - (in_.bars.back().chosen ? 2 : 1));
  above_ = (low ? 3 : 5) * line_ + 2 * u_;
  if (area.w < 16 * c.font_size || area.h < above_ + 8 * c.font_size) return;
  double most = std::max(1e-9, std::abs(graph.logit));
  for (const TokenColumn& column : graph.columns)
    for (const double value : column.stream) most = std::max(most, std::abs(value));
  float widest = std::min((narrow ? 0.16F : 0.12F) * area.w, 0.3F * area.h);
  if (graph.magnitude > 0)  // strands leave room for their labels
    widest = std::min(widest, 0.22F * area.h * static_cast<float>(most / graph.magnitude));
  // Thinner strands make room, but widths have to be told apart. So from some point on names go.
  constexpr int kAttempts = 16, kNamed = 5;
  for (int attempt = 0; attempt < (in_.names_all ? kNamed : kAttempts) && !fits_; ++attempt, widest *= 0.8F) {
    scale_ = scale.value_or(widest / most);
    fits_ = try_scale(false, attempt >= kNamed) || try_scale(true, attempt >= kNamed);
  }
}

bool Drawing::try_scale(bool tight, bool drops_labels) {
  whole_ = true;
  float longest = 0;
  for (int position = 0; position <= in_.graph.columns.back().position; ++position)
    longest = std::max(longest, text_width(in_.tokens[position], viz::FontStyle::medium));
  const auto trace_all = [&](const auto& middle_of) {
    items_.clear();
    for (int column = 0; column < std::ssize(in_.graph.columns); ++column) trace(column, middle_of(column));
  };
  // The tokens' labels, from the most legible to the narrowest that have room.
  for (const auto& [upright, gaps] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    upright_ = upright;
    below_ = 2 * line_ + u_;  // of the rest's words, too
    if (upright) below_ = std::max(below_, std::min(7 * style_.font_size, longest) + 2 * u_);
    ends_.assign(in_.graph.edges.size(), {});
    ribbons_.assign(in_.graph.columns.size(), {});
    if (!place_layers(tight, drops_labels)) continue;
    trace_all([](int) { return 0.F; });
    if (!place_columns(gaps)) continue;
    // Now that it is known how far the ribbons reach.
    trace_all([&](int column) {
      const float reach = std::ranges::min(ribbons_[column], {}, &Point::left).left;
      return style_.snapped(columns_[column].x - reach);
    });
    add_items();
    add_labels();
    return true;
  }
  return false;
}

float Drawing::text_width(const std::string& text, viz::FontStyle face) const {
  return style_.width(text, style_.small(), face);
}

/// From below: in each layer its edges, then its MLPs.
bool Drawing::place_layers(bool tight, bool drops_labels) {
  const Graph& graph = in_.graph;
  tight |= graph.layers > 24;
  turn_ = (tight ? 1 : 2) * u_;
  layers_.assign(graph.layers, {});
  std::vector<int> order(graph.edges.size());
  std::iota(order.begin(), order.end(), 0);
  // Short spans below long ones, so that strands to one query do not cross.
  std::ranges::stable_sort(order, {},
                           [&](int i) { return std::abs(graph.edges[i].query - graph.edges[i].key); });
  constexpr float kHairline = 1;
  for (const int i : order)
    layers_[graph.edges[i].layer].lanes.push_back(
        {i, std::max(px(graph.edges[i].value), kHairline), 0, graph.edges[i].query == graph.target});
  for (const TokenColumn& column : graph.columns)
    for (int i = 0; i < graph.layers; ++i)
      layers_[i].widest = std::max(layers_[i].widest, px(column.mlps[i]));
  const auto lane_height = [&](const Lane& lane) {
    const bool loop = graph.edges[lane.edge].query == graph.edges[lane.edge].key;
    return lane.width + (loop ? 2.5F : tight ? 0.4F : 0.75F) * u_ + (lane.labelled ? line_ : 0);
  };
  const auto turn = [&](const Layer& layer) { return layer.lanes.empty() ? 0 : turn_; };
  // The uppermost label is to the left of what is above its lane.
  const auto upper_label = [&](const Layer& layer) {
    return layer.lanes.empty() || !layer.lanes.back().labelled ? 0 : line_;
  };
  const auto mlp_height = [&](const Layer& layer) {
    return std::clamp(0.5F * layer.widest, (tight ? 0.5F : 1.5F) * u_, 12 * u_);
  };
  const auto height = [&](const Layer& layer) {
    float all = turn(layer) - upper_label(layer) + u_;
    for (const Lane& lane : layer.lanes) all += lane_height(lane);
    return all + std::max(upper_label(layer), turn(layer) + mlp_height(layer));
  };
  const auto all_layers = [&] {
    return std::accumulate(layers_.begin(), layers_.end(), 0.F,
                           [&](float all, const Layer& layer) { return all + height(layer); });
  };
  const float arrow = 4 * u_ + px(graph.columns[target_].rest.back());  // where ln_f's bias comes in
  const float bottom = area_.bottom() - below_, room = bottom - area_.y - above_ - arrow;
  for (auto weakest = std::ssize(graph.edges); drops_labels && --weakest >= 0 && all_layers() > room;)
    for (Lane& lane : layers_[graph.edges[weakest].layer].lanes)
      if (lane.edge == weakest && lane.labelled) lane.labelled = whole_ = false;
  const float spare = room - all_layers(), count = static_cast<float>(graph.layers);
  if (spare < 0) return false;
  // What is left goes to all layers alike, but no layer becomes hollow.
  const float each = std::min(spare / count, 6 * line_);
  float y = bottom - (spare - each * count) / 2;
  for (Layer& layer : layers_) {
    layer.bottom = y;
    layer.top = y - height(layer) - each;
    y -= 0.3F * each + (layer.lanes.empty() ? u_ : turn_);
    for (Lane& lane : layer.lanes) {
      // On whole pixels, or a hairline would be half as dark.
      lane.y = style_.snapped(y - lane.width) + lane.width / 2;
      y -= lane_height(lane);
    }
    layer.mlp_top = layer.top + 0.15F * each;
    layer.mlp_bottom = std::min(y + upper_label(layer) - turn(layer),
                                layer.mlp_top + std::max(mlp_height(layer), 1.3F * layer.widest + 2 * u_));
    y = layer.top;
  }
  end_ = y - arrow;
  return true;
}

/// Draws a column's ribbon from below: what it carries on the right of what edges bring.
void Drawing::trace(int index, float middle) {
  const Graph& graph = in_.graph;
  const TokenColumn& column = graph.columns[index];
  std::vector<Point>& ribbon = ribbons_[index];
  double value = column.stream[0];
  float left = middle - px(value) / 2, right = middle + px(value) / 2;
  ribbon = {{layers_[0].bottom, left, right, 0, value < 0}};
  const auto go_to = [&](float y, double next, bool from_right, float level) {
    const float by = px(next) - px(value);
    (from_right ? right : left) += from_right ? by : -by;
    ribbon.push_back({std::min(y, ribbon.back().y), left, right, level,
                      (std::abs(next) > std::abs(value) ? next : value) < 0});
    value = next;
  };
  int last =
      index == target_ ? graph.layers : 0;  // above the last layer with an edge, nothing of it is drawn
  for (const FlowEdge& edge : graph.edges)
    if (edge.key == column.position || edge.query == column.position) last = std::max(last, edge.layer + 1);
  for (int i = 0; i < last; ++i) {
    const Layer& layer = layers_[i];
    const Ref here{.layer = i, .other = column.position};
    const std::size_t first = ribbon.size() - 1;
    const auto level = [&](float y) {
      return static_cast<float>(i) + std::clamp((layer.bottom - y) / (layer.bottom - layer.top), 0.F, 1.F);
    };
    struct Event {
      float y = 0;
      const Lane* lane = nullptr;
      bool leaves = false;
    };
    std::vector<Event> events;
    for (const Lane& lane : layer.lanes) {
      const float radius = lane.width / 2 + turn_;
      if (graph.edges[lane.edge].key == column.position) events.push_back({lane.y + radius, &lane, true});
      if (graph.edges[lane.edge].query == column.position) events.push_back({lane.y - radius, &lane, false});
    }
    std::ranges::stable_sort(events, std::ranges::greater(), &Event::y);
    for (const auto& [y, lane, leaves] : events) {
      go_to(y, value, true, level(y));
      const Point before = ribbon.back();
      const double by = graph.edges[lane->edge].value;
      // A step: the strand takes over that part of the ribbon's width, or brings it.
      go_to(y, value + (leaves ? -by : by), leaves, level(y));
      if (leaves)
        ends_[lane->edge].key = {std::max(before.right, right) - lane->width / 2, before.y};
      else
        ends_[lane->edge].query = {std::min(before.left, left) + lane->width / 2, before.y};
    }
    if (i + 1 < last || index == target_ || px(column.stream[i + 1]) >= 1) {  // else its strands took it all
      // Up to the MLP the rest comes in or goes out.
      go_to(layer.mlp_bottom, value + column.rest[i], true, level(layer.mlp_bottom));
      const Point base = ribbon.back();
      const double from = value, by = column.stream[i + 1] - value;
      constexpr int kSteps = 10;
      for (int step = 1; step <= kSteps; ++step) {
        const float part = static_cast<float>(step) / kSteps, y = std::lerp(base.y, layer.mlp_top, part);
        go_to(y, from + by * static_cast<double>(viz::eased(part)), true, level(y));
        ribbon.back().base = base.right;
      }
      const float y = ribbon.back().y, wide = std::abs(right - base.right);
      go_to(layer.top, column.stream[i + 1], true, static_cast<float>(i + 1));
      if (wide >= 0.25F)
        items_.push_back({{{}, {std::min(base.right, right) - 0.5F * u_, y, wide + u_, base.y - y}, here},
                          Item::Kind::mlp,
                          index,
                          i});
    }
    const auto points = std::span(ribbon).subspan(first);
    const float x = std::ranges::min(points, {}, &Point::left).left - u_;
    const float w = std::ranges::max(points, {}, &Point::right).right + u_ - x;
    items_.insert(items_.begin(),
                  {{{}, {x, layer.top, w, layer.bottom - layer.top}, here}, Item::Kind::stream, index, i});
  }
  if (index == target_) go_to(end_ + 2 * u_, graph.logit, true, static_cast<float>(graph.layers));
}

/// `gaps`: several tokens without a ribbon have one label.
bool Drawing::place_columns(bool gaps) {
  const Graph& graph = in_.graph;
  stops_.clear();
  for (int position = 0; position <= graph.columns.back().position; ++position) {
    const int column = graph.column_of(position);
    if (column < 0 && gaps && !stops_.empty() && stops_.back().column < 0)
      ++stops_.back().count;
    else
      stops_.push_back({position, 1, column});
  }
  float longest = 0, needed = 0, idle = 0, weights = 0, rest = 0;
  for (const std::string& label : in_.edges) longest = std::max(longest, text_width(label));
  for (const double value : graph.columns[target_].rest) rest += px(value);
  const auto weight_of = [](const Stop& stop) { return stop.column >= 0 ? 1.F : 0.4F; };
  std::vector<float> widths;
  columns_.clear();
  for (const Stop& stop : stops_) {
    const std::string label = stop.count == 1 ? in_.tokens[stop.first] : std::to_string(stop.count) + " more";
    widths.push_back(upright_ ? line_ : text_width(label, viz::FontStyle::medium) + 2 * u_);
    if (stop.column >= 0) {
      const float left = std::ranges::min(ribbons_[stop.column], {}, &Point::left).left;
      const float right = std::ranges::max(ribbons_[stop.column], {}, &Point::right).right;
      columns_.push_back({0, end_, right - left, layers_[0].bottom - end_});
      widths.back() = std::max(widths.back(), right - left + 3 * u_);
    }
    needed += widths.back(), weights += weight_of(stop);
    if (stop.column < 0) idle += widths.back();
  }
  const float axis = text_width("L00") + 2 * u_, names = longest + 3 * u_;
  float panel = rest + 4 * u_ + text_width("MLP 00 +00.00");
  if (upright_) panel = std::max(panel, 3 * u_ + text_width("all tokens +00.00"));
  const float room = area_.w - axis - names - panel;
  if (needed > room || (!gaps && idle > 0.55F * room)) return false;
  // Spare width makes tokens breathe, up to a point; beyond it the drawing is in the middle.
  const float each = std::min((room - needed) / weights, 5 * style_.font_size);
  left_ = area_.x + (room - needed - each * weights) / 2;
  float x = left_ + axis;
  rest_left_ = 0;
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    Stop& stop = stops_[i];
    if (stop.column == target_) x += names;
    const float width = widths[i] + each * weight_of(stop);
    stop.x = x + width / 2;
    x += width;
    if (stop.column < 0) continue;
    columns_[stop.column].x = stop.x - columns_[stop.column].w / 2;
    rest_left_ = columns_[stop.column].right() + 3 * u_;
  }
  rest_right_ = rest_left_ + rest, right_ = x + panel;
  return true;
}

void Drawing::add_items() {
  const Graph& graph = in_.graph;
  // A ribbon on the right of all others, from which each layer's part of the rest leads to the target's.
  const std::vector<double>& rest = graph.columns[target_].rest;
  float width = rest_right_ - rest_left_, y = layers_[0].bottom;
  rest_.clear();
  for (int layer = 0; layer < std::ssize(rest); ++layer) {
    const float by = px(rest[layer]);
    const float top = layer < graph.layers ? layers_[layer].mlp_bottom + u_ : end_ + 3 * u_ + by;
    if (width >= 0.2F && y > top) rest_.push_back({rest_left_, top, width, y - top});
    y = top;
    const auto joined =
        std::ranges::find_if(ribbons_[target_], [&](const Point& point) { return point.y <= y - by / 2; });
    const viz::Point from{rest_left_ + width, y - by / 2}, to{joined->right, from.y};
    if (by >= 0.2F)
      items_.push_back({{{{{from, to}, by, rest[layer] < 0}}}, Item::Kind::rest, target_, layer});
    width -= by;
  }
  const auto first = std::ssize(items_);
  for (const Layer& layer : layers_) {
    for (const Lane& lane : layer.lanes) {
      const FlowEdge& edge = graph.edges[lane.edge];
      const auto& [key, query] = ends_[lane.edge];
      Item item{{.ref = {edge.layer, edge.head, edge.query, edge.key}},
                Item::Kind::edge,
                target_,
                edge.layer,
                lane.edge};
      if (edge.key == edge.query)  // a loop on the left
        add_arc(item.lines.emplace_back(layered::Line{{}, lane.width}).points,
                {query.x - lane.width / 2, lane.y}, u_ + lane.width / 2, kPi / 2, 1.5F * kPi);
      else
        item.lines = way(key, query, lane.y, turn_, lane.width, is_stub(edge), u_);
      for (layered::Line& line : item.lines) line.negative = edge.value < 0;
      items_.push_back(std::move(item));
    }
  }
  // The strongest are drawn last.
  std::stable_sort(items_.begin() + first, items_.end(),
                   [](const Item& a, const Item& b) { return a.lines[0].width < b.lines[0].width; });
}

// ---- labels ----

/// Where there is room for it.
bool Drawing::add(Label label) {
  const float gap = label.align == viz::Align::center && !label.upright ? u_ : 0;  // beside it
  const float h = line_,
              w = gap + std::min(text_width(label.text, label.face), label.upright ? below_ - 2 * u_ : 1e9F);
  const float part = label.align == viz::Align::left ? 0 : label.align == viz::Align::right ? 1 : 0.5F;
  label.rect = label.upright ? viz::Rect{label.at.x - 0.45F * h, label.at.y, 0.9F * h, w}
                             // letters are less high
                             : viz::Rect{label.at.x - part * w, label.at.y - h / 2, w, h};
  const auto overlaps = [&](const Label& other) { return other.rect.overlaps(label.rect); };
  if (std::ranges::any_of(labels_, overlaps) || !area_.inset(-0.5F).encloses(label.rect)) return false;
  labels_.push_back(std::move(label));
  return true;
}

void Drawing::add_labels() {
  const Graph& graph = in_.graph;
  labels_.clear();
  const float y = layers_[0].bottom + u_;
  for (const bool with_column : {true, false}) {
    for (const Stop& stop : stops_) {
      if ((stop.column >= 0) != with_column) continue;
      const auto face = with_column ? viz::FontStyle::medium : viz::FontStyle::regular;
      const std::string gap = upright_ ? "…" : std::to_string(stop.count) + " more";
      const bool one = stop.count == 1;
      whole_ &= add({one ? in_.tokens[stop.first] : gap,
                     {stop.x, y + (upright_ ? 0 : line_ / 2)},
                     viz::Align::center,
                     with_column,
                     face,
                     one ? stop.first : -1,
                     upright_});
    }
  }
  label_sources();
  for (const Layer& layer : layers_)
    for (const Lane& lane : layer.lanes)
      if (lane.labelled)
        whole_ &= add({in_.edges[lane.edge],
                       {ends_[lane.edge].query.x - turn_ - 1.5F * lane.width - 0.5F * u_,
                        lane.y - (lane.width + line_) / 2 + 1},
                       viz::Align::right});
  for (int i = 0; i < graph.layers; ++i)
    add({"L" + std::to_string(i),
         {left_, (layers_[i].bottom + layers_[i].top) / 2},
         viz::Align::left,
         false});
  // Names of MLPs, the strongest first: the target's beside the rest, others beside their ribbons.
  std::vector<const Item*> mlps;
  for (const Item& item : items_)
    if (item.kind == Item::Kind::mlp) mlps.push_back(&item);
  const auto value_of = [&](const Item* item) { return graph.columns[item->column].mlps[item->layer]; };
  std::ranges::stable_sort(mlps, std::ranges::greater(),
                           [&](const Item* item) { return std::abs(value_of(item)); });
  for (const Item* item : mlps) {
    if (std::abs(value_of(item)) < 0.02 * std::abs(graph.logit)) break;
    const bool own = item->column == target_;
    Label label{"MLP " + std::to_string(item->layer) + " " + signed_words(value_of(item)),
                {own ? rest_right_ + 2.5F * u_ : item->rect.right() + u_, 0}};
    const float right = label.at.x + text_width(label.text);
    for (const float by : {0.F, -0.5F, 0.5F, -1.F, 1.F}) {
      label.at.y = item->rect.center().y + by * line_;
      const bool open =
          own || std::ranges::none_of(items_, [&](const Item& other) {
            return other.rect.overlaps({label.at.x, label.at.y - line_ / 2, right - label.at.x, line_}) ||
                   layered::distance(other, label.at, line_) < line_ / 2 ||
                   layered::distance(other, {right, label.at.y}, line_) < line_ / 2;
          });
      if (open && add(label)) break;
    }
  }
}

/// What each token's embedding and MLPs come to, the largest first; those without room together, beside the
/// rest: with it, all numbers are the logit.
void Drawing::label_sources() {
  const Graph& graph = in_.graph;
  float x = rest_left_;
  for (const Label& label : labels_) x = std::max(x, label.rect.right() + 2 * u_);  // of tokens
  const float y = layers_[0].bottom + u_ + line_ / 2;
  const auto add_muted = [&](const std::string& words, double value, float at) {
    if (std::abs(value) >= 0.005)
      whole_ &= add({.text = words + signed_words(value), .at = {x, at}, .strong = false});
  };
  add_muted("rest ", graph.rest, y);
  double others = 0;
  std::vector<const TokenColumn*> columns;
  for (const TokenColumn& column : graph.columns) columns.push_back(&column), others += column.sources();
  std::ranges::stable_sort(columns, std::ranges::greater(),
                           [](const TokenColumn* column) { return std::abs(column->sources()); });
  bool has_numbers = false;
  for (const TokenColumn* column : columns) {
    const auto token = std::ranges::find(labels_, column->position, &Label::token);
    if (upright_ || token == labels_.end() || std::abs(column->sources()) < 0.01 * std::abs(graph.logit))
      continue;
    Label label{
        signed_words(column->sources()), {token->rect.center().x, y + line_}, viz::Align::center, false};
    if (label.at.x + text_width(label.text) / 2 + u_ > x || !add(std::move(label))) continue;
    others -= column->sources();
    has_numbers = true;
  }
  add_muted(has_numbers ? "other tokens " : "all tokens ", others, y + line_);
}

// ---- painting ----

/// In polygons of one colour each, which overlap a little so that no gap shows.
void Drawing::paint_ribbon(viz::Scene& scene, const ViewContext& c, int column, const ColorAt& color) const {
  constexpr float kStep = 4, kOverlap = 1;
  const viz::Theme& theme = *c.theme;
  viz::Segments hatching{{}, theme.surface, 1}, sides{{}, theme.field_line.with_alpha(180), 0.75F};
  std::vector<viz::FillPolygon> mlps;
  const std::vector<Point>& ribbon = ribbons_[column];
  for (std::size_t i = 1; i < ribbon.size(); ++i) {
    const Point &a = ribbon[i - 1], &b = ribbon[i];
    if (a.y <= b.y) continue;
    const int steps = std::max(1, static_cast<int>(std::ceil((a.y - b.y) / kStep)));
    const auto at = [&](float from, float to, int step) {
      return std::lerp(from, to, static_cast<float>(step) / static_cast<float>(steps));
    };
    for (int from = 0, to = 0; from < steps; from = to) {
      const viz::Color shown = color(column, at(a.level, b.level, from));
      for (to = from + 1; to < steps && color(column, at(a.level, b.level, to)) == shown;) ++to;
      const float y0 = at(a.y, b.y, from) + kOverlap, y1 = at(a.y, b.y, to);
      scene.add(viz::FillPolygon{{{at(a.left, b.left, from), y0},
                                  {at(a.left, b.left, to), y1},
                                  {at(a.right, b.right, to), y1},
                                  {at(a.right, b.right, from), y0}},
                                 shown});
    }
    // Strokes across what takes away from the logit, so that it differs without colour.
    const float step = 1.25F * u_;
    const bool takes = b.base && in_.graph.columns[column].mlps[static_cast<std::size_t>(a.level)] < 0;
    for (float y = std::floor(a.y / step) * step; (b.negative || takes) && y > b.y; y -= step)
      hatching.points.insert(hatching.points.end(),
                             {{takes ? *b.base : b.left - 1, y}, {takes ? b.right : b.right + 1, y}});
    for (const auto& [x0, x1] : {std::pair{a.left, b.left}, {a.right, b.right}})
      sides.points.insert(sides.points.end(), {{x0, a.y}, {x1, b.y}});
    if (b.base)
      mlps.push_back({{{*b.base, a.y + kOverlap}, {*b.base, b.y}, {b.right, b.y}, {a.right, a.y + kOverlap}},
                      mlp_color(theme, takes ? -1 : 1)});
  }
  scene.add(std::move(sides));
  for (viz::FillPolygon& mlp : mlps) scene.add(std::move(mlp));
  scene.add(std::move(hatching));
}

void Drawing::paint(Picture& picture, const ViewContext& c, const ColorAt& color) const {
  viz::Scene& scene = picture.scene;
  const viz::Theme& theme = *c.theme;
  for (const Layer& layer : layers_)
    for (const float y : {layer.bottom, layer.top})
      scene.add_line({left_, style_.snapped(y)}, {rest_right_, style_.snapped(y)}, theme.line.with_alpha(75),
                     0.75F);
  for (int column = 0; column < std::ssize(ribbons_); ++column) paint_ribbon(scene, c, column, color);
  for (const viz::Rect& rect : rest_) scene.add(viz::FillRect{rect, theme.field_line});
  // A gap in the ribbons that a strand crosses, so that it is seen to lead past them.
  for (const Item& item : items_)
    for (const layered::Line& line : item.lines)
      for (std::size_t i = 1; item.edge >= 0 && i < line.points.size(); ++i) {
        const viz::Point a = line.points[i - 1], b = line.points[i];
        const float x = std::min(a.x, b.x), half = line.width / 2 + 1.25F;
        if (a.y == b.y && std::abs(a.x - b.x) > 3 * u_)
          scene.add(viz::FillRect{{x, a.y - half, std::abs(a.x - b.x), 2 * half}, theme.surface});
      }
  for (const Label& label : labels_)
    if (label.align == viz::Align::right) scene.add(viz::FillRect{label.rect, theme.surface.with_alpha(200)});
  for (const Item& item : items_)
    layered::paint_lines(
        scene, item,
        item.edge < 0 ? theme.field_line : viz::sign_color(theme, item.lines[0].negative ? -1 : 1), c);
  picture.regions.push_back(
      layered::region_of_points(kDrawing, {left_, end_, right_ - left_, layers_[0].bottom - end_}));
  paint_labels(picture, c);
  paint_bars(picture, c, color);
}

void Drawing::paint_labels(Picture& picture, const ViewContext& c) const {
  for (const Label& label : labels_) {
    const viz::Point at = label.upright ? viz::Point{label.at.x, label.rect.bottom()} : label.at;
    viz::add_label(picture.scene, style_, label.text, at, style_.small(),
                   label.strong ? c.theme->text : c.theme->text_muted, label.face,
                   label.upright ? viz::Align::left : label.align, label.upright ? label.rect.h : 1e9F,
                   label.upright ? -kPi / 2 : 0);
    if (label.token < 0) continue;
    if (label.token == c.selection.key)
      picture.scene.add(viz::StrokeRect{label.rect.inset(-1), c.theme->accent, 1.5F, u_ / 2});
    picture.regions.push_back({.role = kToken, .id = label.token, .rect = label.rect});
  }
}

/// The ribbon's end is an arrow towards the bars of the next tokens.
void Drawing::paint_bars(Picture& picture, const ViewContext& c, const ColorAt& color) const {
  if (in_.bars.empty()) return;
  const Point& end = ribbons_[target_].back();
  const float middle = (end.left + end.right) / 2,
              tip = std::clamp(0.2F * (end.right - end.left), u_, 2.5F * u_);
  picture.scene.add(
      viz::FillPolygon{{{end.left, end.y + 0.4F}, {middle, end.y - tip}, {end.right, end.y + 0.4F}},
                       color(target_, end.level)});
  const float x = end.left, longest = std::min(0.12F * area_.w, 9 * style_.font_size);
  float y = end_ - above_ + line_ / 2;
  for (const GuessBar& bar : in_.bars) {
    const float length = std::max(1.F, longest * static_cast<float>(bar.probability / in_.longest_bar));
    picture.scene.add(viz::FillRect{
        {x, y - 0.3F * line_, length, 0.6F * line_}, bar.chosen ? c.theme->text : c.theme->bar, 1});
    if (bar.chosen)
      picture.scene.add(
          viz::FillPolygon{{{x - 2.5F * u_, y - u_}, {x - u_, y}, {x - 2.5F * u_, y + u_}}, c.theme->text});
    const std::string number = percent(bar.probability);
    const auto face = bar.chosen ? viz::FontStyle::bold : viz::FontStyle::regular;
    const float at = x + length + 1.5F * u_, width = text_width(bar.label, face);
    const float room = std::max(0.F, right_ - at - 1.5F * u_ - text_width(number));
    picture.whole &= width <= room;
    viz::add_label(picture.scene, style_, bar.label, {at, y}, style_.small(), c.theme->text, face,
                   viz::Align::left, room);
    viz::add_muted(picture.scene, style_, number, {at + std::min(room, width) + 1.5F * u_, y});
    picture.regions.push_back({.role = kGuess, .id = bar.id, .rect = {x, y - line_ / 2, right_ - x, line_}});
    y += line_;
  }
}

const Item* Drawing::at(viz::Point point) const {
  const int found = layered::shape_at(items_, point, 0.75F * u_);
  return found < 0 ? nullptr : &items_[found];
}

}  // namespace headscope::app::flow_picture
