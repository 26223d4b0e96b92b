#include "app/views/output/flow_layout.h"

#include <numbers>

#include "app/views/output/flow_bands.h"
#include "app/views/parts/parts.h"
#include "viz/scene/easing.h"

namespace headscope::app::flow_picture {
namespace {

constexpr int kWedgeSteps = 10;
/// The tokens from left to right: those with a column, those without, and several without as one gap.
struct Stop {
  int first = 0;  // position
  int count = 1;
  int column = -1;
  float width = 0;
  float x = 0;  // left
};

/// A ribbon while it is drawn from below: what it carries, and its edges relative to its column.
struct Ribbon {
  double value = 0;
  float left = 0, right = 0;
};

class Builder {
 public:
  Builder(const Poster& poster, const viz::Rect& area, float above, const viz::Style& style)
      : p_(poster), g_(poster.graph), area_(area), above_(above), style_(style) {}

  Layout build(std::optional<double> scale) {
    const float em = style_.font_size;
    if (area_.w < 16 * em || area_.h < above_ + 8 * em) return {};
    double most = 1e-9;
    for (const TokenColumn& column : g_.columns)
      for (const double v : column.stream) most = std::max(most, std::abs(v));
    most = std::max(most, std::abs(g_.logit));
    const bool is_narrow = area_.w < 40 * em;  // has fewer tokens with a column
    float widest = std::min((is_narrow ? 0.16F : 0.12F) * area_.w, 0.3F * area_.h);
    // Strands leave room for their labels.
    if (g_.magnitude > 0)
      widest = std::min(widest, 0.22F * area_.h * static_cast<float>(most / g_.magnitude));
    if (scale) widest = static_cast<float>(*scale * most);
    // Thinner strands make room, but widths have to be told apart: from some point on, fewer edges are
    // better, unless their number was chosen. Names are worth a little of the width.
    const int attempts = scale ? 1 : g_.edges.empty() || p_.keeps_edges ? 14 : 5;
    constexpr int kForNames = 3;
    Layout best;
    std::ptrdiff_t most_names = 0;
    for (int attempt = 0; attempt < attempts; ++attempt, widest *= 0.8F) {
      if (best.fits && attempt >= kForNames) break;
      if (!try_width(widest, most)) continue;
      const auto names = std::ranges::count(out_.labels, Label::Of::edge, &Label::of);
      if (!best.fits || names > most_names) {
        out_.thinned = best.fits;
        best = std::move(out_);
        most_names = names;
      }
      if (names_fit_) break;
    }
    return best;
  }

 private:
  /// `widest`: the width of what carries `most`. Returns whether everything but some names fits.
  bool try_width(float widest, double most) {
    out_ = {};
    ends_.clear();
    out_.scale = static_cast<double>(widest) / most;
    if (!place_tokens_below() || !place_bands()) return false;
    trace_ribbons();
    if (!place_columns()) return false;
    finish();
    return out_.fits = true;
  }
  float px(double value) const { return static_cast<float>(std::abs(value) * out_.scale); }
  float u() const { return style_.unit(); }
  float line() const { return style_.line(style_.small()); }
  float turn() const { return turn_; }  // inner radius of a strand's turns
  int target() const { return g_.column_of(g_.target); }
  const FlowEdge& edge(int index) const { return g_.edges[index]; }
  // ---- vertically ----

  /// Whether labels are upright, and the height that they need.
  bool place_tokens_below() {
    axis_w_ = style_.width("L00", style_.small()) + 2 * u();
    rest_w_ = 0;
    for (const double v : g_.columns[target()].rest) rest_w_ += px(v);
    double sources = 0;
    for (const TokenColumn& column : g_.columns) sources += std::abs(column.sources());
    panel_ = std::max(rest_w_ + 5.5F * u() + std::max(p_.panel, widest(p_.mlps[target()])),
                      3.5F * u() + std::max(style_.width(p_.all + signed_words(sources), style_.small()),
                                            style_.width(p_.rest, style_.small())));
    label_gap_ = widest(p_.edges) + 3 * u();
    const float room = area_.w - axis_w_ - panel_ - label_gap_;
    // From the most legible to the narrowest.
    for (const auto& [upright, gaps] :
         {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
      make_stops(upright, gaps);
      float needed = 0, idle = 0;
      for (const Stop& stop : stops_) {
        needed += stop.width;
        if (stop.column < 0) idle += stop.width;
      }
      if (needed > room || (!gaps && idle > 0.55F * room)) continue;
      upright_ = upright;
      tokens_h_ = 2 * line() + u();  // of the rest's words, too
      if (upright) tokens_h_ = std::max(tokens_h_, std::min(7 * style_.font_size, longest_token()) + 2 * u());
      return true;
    }
    return false;
  }

  float longest_token() const {
    float longest = 0;
    for (const Stop& stop : stops_)
      longest = std::max(longest, style_.width(label_of(stop), style_.small(), viz::FontStyle::medium));
    return longest;
  }
  std::string label_of(const Stop& stop) const {
    if (stop.count > 1) return std::to_string(stop.count) + " more";
    return p_.tokens[stop.first];
  }
  float widest(const std::vector<std::string>& labels) const {
    float widest = 0;
    for (const std::string& text : labels) widest = std::max(widest, style_.width(text, style_.small()));
    return widest;
  }
  /// The widest that a column's ribbon gets, roughly: its largest flow and what leaves or enters there.
  float ribbon_width(const TokenColumn& column) const {
    double most = 0;
    for (const double v : column.stream) most = std::max(most, std::abs(v));
    double side = 0;
    for (const double v : column.arrived) side += std::abs(v);
    return px(most) + (column.position == g_.target ? px(side) : 0);
  }

  void make_stops(bool upright, bool gaps) {
    stops_.clear();
    const int last = g_.columns.back().position;
    for (int position = 0; position <= last; ++position) {
      Stop stop{position, 1, g_.column_of(position), 0, 0};
      if (stop.column < 0 && gaps && !stops_.empty() && stops_.back().column < 0) {
        ++stops_.back().count;
        continue;
      }
      stops_.push_back(stop);
    }
    for (Stop& stop : stops_) {
      const float text =
          upright ? line()
                  : style_.width(label_of(stop), style_.small(),
                                 stop.column >= 0 ? viz::FontStyle::medium : viz::FontStyle::regular);
      stop.width = upright ? text : text + 2 * u();
      if (stop.column >= 0)
        stop.width = std::max(stop.width, ribbon_width(g_.columns[stop.column]) + 3 * u());
    }
  }

  bool place_bands() {
    const float bottom = area_.bottom() - tokens_h_;
    const float end_h = 4 * u() + px(g_.columns[target()].rest.back());  // where ln_f's bias comes in
    Bands bands =
        lay_out_bands(g_, p_.first, out_.scale, bottom, area_.y + above_ + end_h, style_, p_.keeps_edges);
    if (bands.layers.empty()) return false;
    bands_ = std::move(bands.layers);
    turn_ = bands.turn;
    out_.all_labels = names_fit_ = bands.all_labels;
    for (const Band& band : bands_) out_.levels.push_back(band.bottom);
    out_.levels.push_back(bands_.back().top);
    out_.end = bands_.back().top - end_h;
    out_.plot = {area_.x, bands_.back().top, area_.w, bands_.front().bottom - bands_.back().top};
    return true;
  }

  // ---- ribbons ----

  /// Adds a stretch up to `y` at which the ribbon carries `value`; `from_right`: which edge moves.
  void go_to(Ribbon& ribbon, std::vector<Slice>& slices, int column, float& at, float y, double value,
             bool from_right, float level0, float level1) const {
    const float by = px(value) - px(ribbon.value);
    Slice slice{column,      at,           ribbon.left,      ribbon.right, y,
                ribbon.left, ribbon.right, ribbon.value < 0, level0,       level1};
    (from_right ? slice.right1 : slice.left1) += from_right ? by : -by;
    if (px(ribbon.value) < px(value)) slice.negative = value < 0;
    slices.push_back(slice);
    ribbon = {value, slice.left1, slice.right1};
    at = y;
  }

  void trace_ribbons() {
    for (int column = 0; column < std::ssize(g_.columns); ++column) trace_ribbon(column);
  }

  struct Event {
    float y = 0;
    int edge = 0;
    bool leaves = false;
    float width = 0;
  };
  std::vector<Event> events_of(const Band& band, int position) const {
    std::vector<Event> events;
    for (const Lane& lane : band.lanes) {
      const float radius = lane.width / 2 + turn();
      if (edge(lane.edge).key == position) events.push_back({lane.y + radius, lane.edge, true, lane.width});
      if (edge(lane.edge).query == position)
        events.push_back({lane.y - radius, lane.edge, false, lane.width});
    }
    std::ranges::stable_sort(events, std::ranges::greater(), &Event::y);
    return events;
  }

  /// The number of layers in which a column has something to show: above them nothing of it is drawn.
  int last_layer_of(const TokenColumn& column) const {
    if (column.position == g_.target) return g_.layers;
    int last = 0;
    for (const FlowEdge& edge : g_.edges)
      if (edge.key == column.position || edge.query == column.position) last = std::max(last, edge.layer + 1);
    return last;
  }

  void trace_ribbon(int index) {
    const TokenColumn& column = g_.columns[index];
    std::vector<Slice>& slices = out_.slices;
    Ribbon ribbon{column.stream[0], -px(column.stream[0]) / 2, px(column.stream[0]) / 2};
    float at = bands_.front().bottom;
    if (ends_.size() < g_.edges.size()) ends_.resize(g_.edges.size());
    for (int layer = 0; layer < last_layer_of(column); ++layer) {
      const Band& band = bands_[layer];
      const auto level_at = [&](float y) {
        return static_cast<float>(layer) +
               std::clamp((band.bottom - y) / std::max(1.F, band.height()), 0.F, 1.F);
      };
      double value = ribbon.value;
      for (const Event& event : events_of(band, column.position)) {
        const double by = edge(event.edge).value;
        const float y = std::min(event.y, at);
        go_to(ribbon, slices, index, at, y, value, true, level_at(at), level_at(y));
        const Ribbon before = ribbon;
        value += event.leaves ? -by : by;
        // A step: the strand takes over that part of the ribbon's width, or brings it.
        go_to(ribbon, slices, index, at, y, value, event.leaves, level_at(y), level_at(y));
        slices.pop_back();
        Ends& ends = ends_[event.edge];
        if (event.leaves) {
          const bool shrinks = ribbon.right < before.right;
          ends.key_x = (shrinks ? before.right : ribbon.right) - event.width / 2;
          ends.key_edge = std::max(before.right, ribbon.right);
          ends.key_y = y;
        } else {
          const bool grows = ribbon.left < before.left;
          ends.query_x = (grows ? ribbon.left : before.left) + event.width / 2;
          ends.query_edge = std::min(before.left, ribbon.left);
          ends.query_y = y;
        }
      }
      const bool ends_here = layer + 1 == last_layer_of(column) && index != target();
      if (ends_here && px(column.stream[layer + 1]) < 1) break;  // the last strand took the rest of it
      // Up to the MLP's wedge the rest comes in or goes out.
      value += column.rest[layer];
      const float wedge_bottom = std::min(band.wedge_bottom, at);
      go_to(ribbon, slices, index, at, wedge_bottom, value, true, level_at(at), level_at(wedge_bottom));
      add_wedge(index, layer, ribbon, wedge_bottom, band.wedge_top);
      const double before = value, after = column.stream[layer + 1];
      for (int step = 1; step <= kWedgeSteps; ++step) {
        const float part = static_cast<float>(step) / kWedgeSteps;
        const float y = std::min(at, wedge_bottom + part * (band.wedge_top - wedge_bottom));
        value =
            step == kWedgeSteps ? after : before + (after - before) * static_cast<double>(viz::eased(part));
        go_to(ribbon, slices, index, at, y, value, true, level_at(at), level_at(y));
      }
      go_to(ribbon, slices, index, at, band.top, value, true, level_at(at), static_cast<float>(layer + 1));
    }
    if (index != target()) return;
    const auto top = static_cast<float>(g_.layers);
    go_to(ribbon, slices, index, at, out_.end + 2 * u(), g_.logit, true, top, top);
  }

  void add_wedge(int column, int layer, const Ribbon& ribbon, float y0, float y1) {
    const double value = g_.columns[column].mlps[layer];
    const float by = px(ribbon.value + value) - px(ribbon.value);
    if (std::abs(by) < 0.25F || y1 >= y0) return;
    Wedge wedge{column, layer, {}, value < 0, {}};
    for (int step = 0; step <= kWedgeSteps; ++step) {
      const float part = static_cast<float>(step) / kWedgeSteps, moved = by * viz::eased(part);
      // What is added lies inside the ribbon, what is taken away outside.
      wedge.sides.push_back({ribbon.right, ribbon.right + moved, y0 + part * (y1 - y0)});
    }
    wedge.rect = {std::min(ribbon.right, ribbon.right + by), y1, std::abs(by), y0 - y1};
    out_.wedges.push_back(std::move(wedge));
  }

  // ---- horizontally ----

  bool place_columns() {
    std::vector<std::pair<float, float>> extent(g_.columns.size(), {0.F, 0.F});
    for (const Slice& slice : out_.slices) {
      auto& [left, right] = extent[slice.column];
      left = std::min({left, slice.left0, slice.left1});
      right = std::max({right, slice.right0, slice.right1});
    }
    float needed = 0, weights = 0;
    for (Stop& stop : stops_) {
      if (stop.column >= 0) {
        const auto [left, right] = extent[stop.column];
        stop.width = std::max(stop.width, right - left + 3 * u());
      }
      needed += stop.width;
      weights += weight_of(stop);
    }
    const float room = area_.w - axis_w_ - panel_ - label_gap_;
    if (needed > room) return false;
    // Spare width makes tokens breathe, up to a point; beyond it the drawing is in the middle.
    const float each = std::min((room - needed) / std::max(1.F, weights), 5 * style_.font_size);
    const float margin = (room - needed - each * weights) / 2;
    float x = area_.x + axis_w_ + margin;
    out_.plot.x = area_.x + margin;
    out_.columns.resize(g_.columns.size());
    for (Stop& stop : stops_) {
      if (stop.column == target()) x += label_gap_;
      stop.width += each * weight_of(stop);
      stop.x = x;
      x += stop.width;
      if (stop.column < 0) continue;
      const auto [left, right] = extent[stop.column];
      const float shift = style_.snapped(stop.x + stop.width / 2 - (left + right) / 2);
      shift_of_.resize(g_.columns.size());
      shift_of_[stop.column] = shift;
      out_.columns[stop.column] = {shift + left, out_.end, right - left, out_.levels.front() - out_.end};
    }
    out_.plot.w = x + panel_ - out_.plot.x;
    out_.rest.x = x;
    for (Slice& slice : out_.slices) {
      const float shift = shift_of_[slice.column];
      for (float* edge_x : {&slice.left0, &slice.right0, &slice.left1, &slice.right1}) *edge_x += shift;
    }
    for (Wedge& wedge : out_.wedges) {
      wedge.rect.x += shift_of_[wedge.column];
      for (Wedge::Side& side : wedge.sides)
        side.from += shift_of_[wedge.column], side.to += shift_of_[wedge.column];
    }
    return true;
  }
  static float weight_of(const Stop& stop) { return stop.column >= 0 ? 1 : 0.4F; }

  // ---- strands ----

  void add_strand(const Lane& lane) {
    const FlowEdge& of = edge(lane.edge);
    const Ends& ends = ends_[lane.edge];
    Strand strand{lane.edge, of.layer, lane.width, of.value < 0, {}, {}, {}};
    if (of.key == of.query) {  // a loop on the left
      make_loop(strand, {shift_of_[g_.column_of(of.query)] + ends.query_edge, lane.y}, style_);
    } else {
      strand.ends = {{shift_of_[g_.column_of(of.key)] + ends.key_x, ends.key_y},
                     {shift_of_[g_.column_of(of.query)] + ends.query_x, ends.query_y}};
      make_way(strand, lane.y, turn(), lane.stub, style_);
    }
    out_.strands.push_back(std::move(strand));
  }

  void add_rest() {
    const TokenColumn& column = g_.columns[target()];
    const viz::Rect& place = out_.columns[target()];
    float left = place.right();  // right of all ribbons: edits may let the target see later tokens
    for (const viz::Rect& other : out_.columns) left = std::max(left, other.right());
    left += 3 * u();
    out_.rest = {left, out_.end + 2 * u(), rest_w_, out_.levels.front() - out_.end - 2 * u()};
    float width = rest_w_, at = out_.levels.front();
    for (int layer = 0; layer <= g_.layers; ++layer) {
      const float by = px(column.rest[layer]);
      const float y = layer < g_.layers ? bands_[layer].wedge_bottom + u() : out_.end + 3 * u() + by;
      out_.rest_slices.push_back({-1, at, left, left + width, y, left, left + width, false, 0, 0});
      at = y, width -= by;
      if (by < 0.2F) continue;
      // A short strand to the ribbon.
      float edge_x = place.right();
      for (const Slice& slice : out_.slices)
        if (slice.column == target() && slice.y1 <= y && y <= slice.y0) edge_x = slice.right1;
      Strand strand{-1, layer, by, column.rest[layer] < 0, {}, {}, {}};
      strand.lines.push_back({{left + width + by, y - by / 2}, {edge_x, y - by / 2}});
      out_.strands.push_back(std::move(strand));
    }
  }

  // ---- labels ----

  bool is_free(const viz::Rect& rect) const {
    return std::ranges::none_of(out_.labels, [&](const Label& label) { return label.rect.overlaps(rect); });
  }
  /// Whether no ribbon, no other wedge and no strand is there.
  bool is_open(const viz::Rect& rect, const Wedge& of) const {
    const auto is_there = [&](float left, float right, float top, float bottom) {
      return viz::Rect{left, top, right - left, bottom - top}.overlaps(rect);
    };
    return std::ranges::none_of(out_.slices,
                                [&](const Slice& s) {
                                  return is_there(std::min(s.left0, s.left1), std::max(s.right0, s.right1),
                                                  s.y1, s.y0);
                                }) &&
           std::ranges::none_of(
               out_.wedges, [&](const Wedge& wedge) { return &wedge != &of && wedge.rect.overlaps(rect); }) &&
           std::ranges::none_of(out_.strands, [&](const Strand& strand) { return crosses(strand, rect); });
  }
  bool add_label(Label label, viz::FontStyle face = viz::FontStyle::regular) {
    const float w =
        std::min(style_.width(label.text, style_.small(), face), label.room > 0 ? label.room : 1e9F);
    const float h = line();
    if (label.angle != 0) {                                            // upright, its end at `at`
      label.rect = {label.at.x - 0.45F * h, label.at.y, 0.9F * h, w};  // letters are less high than lines
    } else {
      const float x = label.align == viz::Align::left    ? label.at.x
                      : label.align == viz::Align::right ? label.at.x - w
                                                         : label.at.x - w / 2;
      label.rect = {x, label.at.y - h / 2, w, h};
    }
    if (!area_.inset(-0.5F).encloses(label.rect) || !is_free(label.rect)) return false;
    out_.labels.push_back(std::move(label));
    return true;
  }

  void label_tokens() {
    const float y = out_.levels.front() + u() + line() / 2;
    for (const bool with_column : {true, false}) {
      for (const Stop& stop : stops_) {
        if ((stop.column >= 0) != with_column) continue;
        Label label{stop.count > 1 ? Label::Of::gap : Label::Of::token, stop.first, stop.column,
                    label_of(stop)};
        label.align = viz::Align::center;
        label.at = {stop.x + stop.width / 2, y};
        if (stop.column >= 0)
          label.at.x = std::clamp(label.at.x, out_.columns[stop.column].x, out_.columns[stop.column].right());
        if (upright_) {
          label.angle = -std::numbers::pi_v<float> / 2;
          label.at.y = out_.levels.front() + u();
          label.room = tokens_h_ - 2 * u();
        }
        if (stop.count > 1 && upright_) label.text = "…";
        out_.all_labels &=
            add_label(std::move(label), with_column ? viz::FontStyle::medium : viz::FontStyle::regular);
      }
    }
  }
  /// All layers, or every second, fifth, ... one.
  void label_layers() {
    const auto middle = [&](int layer) { return (bands_[layer].bottom + bands_[layer].top) / 2; };
    const auto fits = [&](int step) {
      for (int layer = step; layer < g_.layers; layer += step)
        if (middle(layer - step) - middle(layer) < line()) return false;
      return true;
    };
    int step = 1;
    for (float least = 2; !fits(step); ++least) step = viz::label_step(1, least);
    for (int layer = 0; layer < g_.layers; layer += step)
      if (add_label({Label::Of::layer, layer, -1, "L" + std::to_string(layer), {out_.plot.x, middle(layer)}}))
        out_.labels.back().rect.w += 2 * u();  // an MLP's name keeps its distance
  }
  void label_edges() {
    for (const Band& band : bands_) {
      for (const Lane& lane : band.lanes) {
        if (!lane.labelled) continue;
        const Ends& ends = ends_[lane.edge];
        const float x = shift_of_[target()] + ends.query_edge - turn() - lane.width - 0.5F * u();
        Label label{Label::Of::edge,
                    lane.edge,
                    -1,
                    p_.edges[lane.edge],
                    {x, lane.y - lane.width / 2 - line() / 2 + 1}};
        label.align = viz::Align::right;
        out_.all_labels &= add_label(std::move(label));
      }
    }
  }
  /// The strongest first, as far as there is room beside the wedge.
  void label_mlps() {
    std::vector<const Wedge*> wedges;
    for (const Wedge& wedge : out_.wedges) wedges.push_back(&wedge);
    const auto value_of = [&](const Wedge* wedge) {
      return std::abs(g_.columns[wedge->column].mlps[wedge->layer]);
    };
    std::ranges::stable_sort(wedges, std::ranges::greater(), value_of);
    bool has_room = true;
    for (const Wedge* wedge : wedges) {
      const bool own = wedge->column == target();
      const double part = value_of(wedge) / std::max(1e-9, std::abs(g_.logit));
      if (part < 0.02 && px(value_of(wedge)) < (own ? 1.5F : 2 * u())) continue;
      if (!own && !has_room) continue;
      // At other tokens: none smaller than one without room.
      has_room &= label_mlp(*wedge, p_.mlps[wedge->column][wedge->layer], own) || own;
    }
  }
  bool label_mlp(const Wedge& wedge, const std::string& text, bool own) {
    Label label{Label::Of::mlp, wedge.layer, wedge.column, text};
    const float width = style_.width(label.text, style_.small()), gap = 1.5F * u();
    const float middle = wedge.rect.center().y;
    float left = wedge.rect.x;  // of the ribbon
    for (const Slice& slice : out_.slices)
      if (slice.column == wedge.column && slice.y1 <= wedge.rect.bottom() && wedge.rect.y <= slice.y0)
        left = std::min({left, slice.left0, slice.left1});
    for (const float by : {0.F, -0.5F, 0.5F, -1.F, 1.F})
      for (const float x :
           {own ? out_.rest.right() + 2.5F * u() : wedge.rect.right() + gap, left - gap - width}) {
        if (own && x < out_.rest.x) continue;
        label.at = {x, middle + by * line()};
        if ((own || is_open({x, label.at.y - line() / 2, width, line()}, wedge)) && add_label(label))
          return true;
      }
    return false;
  }

  /// What each token's embedding and MLPs come to, the largest first; those without room together, beside the
  /// rest: with it, all numbers are the logit.
  void label_sources() {
    float x = out_.rest.x;
    for (const Label& label : out_.labels) x = std::max(x, label.rect.right() + 2 * u());  // of tokens
    const float y = out_.levels.front() + u() + line() / 2;
    if (std::abs(g_.rest) >= 0.005) out_.all_labels &= add_label({Label::Of::rest, 0, -1, p_.rest, {x, y}});
    double others = 0;
    std::vector<Label> labels;
    for (const Label& label : out_.labels)
      if (label.of == Label::Of::token && label.column >= 0) labels.push_back(label);
    const auto value_of = [&](const Label& label) { return g_.columns[label.column].sources(); };
    for (const TokenColumn& column : g_.columns) others += column.sources();
    std::ranges::stable_sort(labels, std::ranges::greater(),
                             [&](const Label& label) { return std::abs(value_of(label)); });
    bool any = false;
    for (Label& label : labels) {
      if (upright_ || std::abs(value_of(label)) < 0.01 * std::abs(g_.logit)) continue;
      const double value = value_of(label);
      label.of = Label::Of::source;
      label.text = signed_words(value);
      label.at.y = y + line();
      const float half = style_.width(label.text, style_.small()) / 2 + u();
      if (label.at.x + half > x || !is_free({label.at.x - half, y + line() / 2, 2 * half, line()}) ||
          !add_label(label))
        continue;
      others -= value;
      any = true;
    }
    if (std::abs(others) >= 0.005)
      out_.all_labels &= add_label(
          {Label::Of::others, 0, -1, (any ? p_.others : p_.all) + signed_words(others), {x, y + line()}});
  }

  void finish() {
    for (const Band& band : bands_)
      for (const Lane& lane : band.lanes) add_strand(lane);
    std::ranges::stable_sort(out_.strands, {}, &Strand::width);
    add_rest();
    label_tokens();
    label_sources();
    label_edges();
    label_layers();  // where labels are narrow, they tell whose MLP it is
    label_mlps();
  }

  struct Ends {
    float key_x = 0, key_y = 0, key_edge = 0;
    float query_x = 0, query_y = 0, query_edge = 0;
  };

  const Poster& p_;
  const Graph& g_;
  const viz::Rect area_;
  const float above_;
  const viz::Style& style_;
  Layout out_;
  bool upright_ = false;
  bool names_fit_ = true;  // of edges
  float turn_ = 0;
  float axis_w_ = 0, panel_ = 0, label_gap_ = 0, tokens_h_ = 0, rest_w_ = 0;
  std::vector<Stop> stops_;
  std::vector<Band> bands_;
  std::vector<Ends> ends_;       // relative to their columns
  std::vector<float> shift_of_;  // x of each column
};

}  // namespace

Layout lay_out(const Poster& poster, const viz::Rect& area, float above, const viz::Style& style,
               std::optional<double> scale) {
  return Builder(poster, area, above, style).build(scale);
}

std::string signed_words(double value) {
  return (value >= 0 ? "+" : "") + viz::fixed_number(value, 2);
}

}  // namespace headscope::app::flow_picture
