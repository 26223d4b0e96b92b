#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/run/analyses/logit_flow.h"
#include "app/views/output/flow_legend.h"
#include "app/views/output/flow_paint.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/file_rows.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/landmarks.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "model/pass/statistics.h"
#include "viz/scene/colormap.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

using namespace flow_picture;

constexpr int kAutomatic = -1;
const auto kEdges = make_option<int>(
    "flow-edges", "Edges",
    "the number of strongest attention edges drawn (auto: as many as have room for their names)",
    {.default_value = kAutomatic,
     .default_name = "auto",
     .low = 0,
     .high = 200,
     .steps = {0, 4, 8, 12, kAutomatic, 16, 24, 32, 48, 64, 100, 200},
     .keys = "uU"});
const auto kLeast =
    number_option("flow-least", "From", "tT", "smallest edge drawn, as a percentage of the logit", 0, 0, 100,
                  {0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100});
const auto kMinusMean = applying_if(
    [](const Options& options) { return options[kAgainstRank] == 0; },
    switch_option("flow-minus-mean", "Minus mean", "cC",
                  "subtract the mean of the vocabulary's logits, which does not change the prediction"));
const auto kTogether = switch_option("flow-together", "Heads together", "lL",
                                     "one edge for all heads of a layer with the same query and key");
const auto kColor = choice_option<RibbonColor>(
    "flow-color", "Colour", "xX", "what the ribbons' colours show, by the logit lens",
    {{"token", "Token", "The probability of the chosen token at each layer"},
     {"top", "Best guess", "The probability of each place's own best guess"}});
const auto kFirst = choice_option<FirstToken>(
    "flow-first", "First token", "vV", "how attention to the first token is drawn",
    {{"stubs", "Stubs", "Short stubs at both ends: most heads rest on the first token"},
     {"edges", "Edges", "Like all others"},
     {"hidden", "Hidden", "Not drawn: it is part of the rest"}});

bool is_low(const ViewContext& c) {
  return c.height < 36 * c.font_size;
}
/// Guesses shown: fewer where there is little room.
int bar_count(const ViewContext& c) {
  return is_low(c) ? 3 : 5;
}

// ---- the numbers ----

/// Nullopt until it is known which token's logit it is.
std::optional<LogitFlowOf> question_of(const ViewContext& c) {
  const int against = c.options[kAgainstRank];
  const auto token = guess_of_rank(c, c.options[kLogitRank] - 1);
  const auto other = against > 0 ? guess_of_rank(c, against - 1) : TokenChoice{};
  if (!token || !other) return std::nullopt;
  return LogitFlowOf{std::max(0, c.selection.query), *token, *other, !c.options[kTogether],
                     c.options[kMinusMean] && against == 0};
}

/// Null until there is a whole answer.
std::shared_ptr<const LogitFlow> flow_of(const ViewContext& c) {
  const auto question = c.run ? question_of(c) : std::nullopt;
  auto flow = question ? c.ask(*question) : nullptr;
  return flow && flow->positions > 0 ? flow : nullptr;
}

std::string signed_words(double value) {
  return (value >= 0 ? "+" : "") + viz::fixed_number(value, 2);
}

std::string edge_name(const FlowEdge& edge) {
  return edge.head < 0 ? "L" + std::to_string(edge.layer) : head_name(edge.layer, edge.head);
}

bool is_automatic(const ViewContext& c) {
  return c.options[kEdges] == kAutomatic;
}
bool is_compact(const ViewContext& c) {
  return c.width < 42 * c.font_size;
}

GraphOptions graph_options(const ViewContext& c, const LogitFlow& flow, int edges) {
  return {edges, c.options[kLeast] / 100 * std::abs(flow.logit), c.options[kFirst]};
}

enum class LabelStyle {
  full,    ///< "L5 H1 +0.28"
  narrow,  ///< "H1 +0.28": the axis names the layer
  names,   ///< "H1"
};

std::string edge_label(const FlowEdge& edge, LabelStyle labels) {
  const std::string number = signed_words(edge.value);
  if (labels == LabelStyle::full) return edge_name(edge) + " " + number;
  if (edge.head < 0) return number;
  const std::string head = "H" + std::to_string(edge.head);
  return labels == LabelStyle::narrow ? head + " " + number : head;
}

Poster poster_of(const ViewContext& c, const LogitFlow& flow, int edges, LabelStyle style) {
  Poster poster;
  poster.graph = graph_of(flow, graph_options(c, flow, edges));
  poster.first = c.options[kFirst];
  poster.tokens = c.run->tokens.labels;
  const bool compact = is_compact(c);
  for (const FlowEdge& edge : poster.graph.edges) poster.edges.push_back(edge_label(edge, style));
  for (const Column& column : poster.graph.columns) {
    std::vector<std::string>& labels = poster.mlps.emplace_back();
    for (int layer = 0; layer < flow.layers; ++layer)
      labels.push_back((compact ? "MLP " : "MLP " + std::to_string(layer) + " ") +
                       signed_words(column.mlps[layer]));
  }
  poster.rest = "rest " + signed_words(poster.graph.rest);
  poster.panel = (compact ? 4 : 9) * c.font_size;
  return poster;
}

std::shared_ptr<const FlowLens> lens_of(const ViewContext& c, const LogitFlow& flow, const Graph& graph) {
  FlowLensOf question{flow.token, {}};
  for (const Column& column : graph.columns) question.positions.push_back(column.position);
  return c.ask(question);
}

/// The best guesses after the target, and the chosen token if it is not among them.
std::vector<GuessBar> bars_of(const ViewContext& c, const LogitFlow& flow, int count) {
  const auto next = c.ask(NextAfter{flow.position});
  if (!next || next->logits.empty()) return {};
  const double total = model::log_sum_exp(next->logits);
  std::vector<int> ids;
  for (const model::Guess& guess : model::largest_logits(next->logits, count)) ids.push_back(guess.id);
  if (std::ranges::find(ids, flow.token) == ids.end()) ids.back() = flow.token;
  std::vector<GuessBar> bars;
  for (const int id : ids)
    bars.push_back(
        {id, label_of(c, id), std::exp(static_cast<double>(next->logits[id]) - total), id == flow.token});
  return bars;
}

// ---- the drawing ----

struct Shown {
  std::shared_ptr<const LogitFlow> flow;
  std::shared_ptr<const FlowLens> lens;
  Poster poster;
  Layout layout;
  std::vector<GuessBar> bars;
  Legend legend;
  Confidence confidence;
  double longest_bar = 1;  ///< probability
  int wanted = 0;          ///< edges
  bool all_edges = true;   ///< false: there was no room for all that are wanted
};

/// How to read the numbers: what they hold fixed, and what they do not say.
constexpr std::array<std::string_view, 3> kReading{"patterns and layer norm scales held fixed",
                                                   "each MLP is a source of its own",
                                                   "a contribution is not the effect of removing a head"};

/// "24 of 4,920 edges", "no room for 200: 166 of 4,920 edges".
std::string edges_words(const ViewContext& c, const Shown& s) {
  const std::string words = s.all_edges || is_automatic(c) ? "" : "no room for " + grouped(s.wanted) + ": ";
  return words + grouped(std::ssize(s.poster.graph.edges)) + " of " + grouped(s.flow->edge_count) + " edges";
}

Legend legend_of(const ViewContext& c, const Shown& s) {
  using enum Legend::Sample;
  const LogitFlow& flow = *s.flow;
  Legend legend;
  legend.entries = {{width, ""},
                    {adds, "adds"},
                    {takes, "takes away"},
                    {mlp, "MLP (hatched: takes away)"},
                    {rest, flow.edited ? "rest: not drawn, biases, edits (sum of sizes)"
                                       : "rest: not drawn, biases (sum of sizes)"}};
  legend.entries.push_back({scale,
                            c.options[kColor] == RibbonColor::token
                                ? "probability of “" + label_of(c, flow.token) + "” by the logit lens"
                                : "probability of the best guess by the logit lens",
                            true});
  legend.scale = viz::linear_scale(0.25);  // as wide as any; the lens is known only later
  legend.scale.values_above = true;
  legend.entries.push_back({none, edges_words(c, s), true});
  if (flow.edge_magnitude > 0)
    legend.entries.push_back(
        {none, percent(s.poster.graph.magnitude / flow.edge_magnitude) + " of the width of all edges"});
  if (!c.note_in_caption)
    for (const std::string_view words : kReading) legend.entries.push_back({none, std::string(words), true});
  legend.wrap(below_title(c).w, style_of(c), c.in_pane && is_low(c));
  return legend;
}

/// Whether all edges to the target have their names, without which the picture does not say which heads
/// matter.
bool names_edges(const Shown& s) {
  const int target = s.poster.graph.target;
  return std::ranges::count(s.layout.labels, Label::Of::edge, &Label::of) ==
         std::ranges::count(s.poster.graph.edges, target, &FlowEdge::query);
}

/// One side of a comparison without regard to the other; `max_scale`: see `lay_out`.
std::optional<Shown> shown_alone(const ViewContext& c,
                                 double max_scale = std::numeric_limits<double>::infinity()) {
  Shown s;
  s.flow = flow_of(c);
  if (!s.flow) return std::nullopt;
  constexpr int kMost = 24, kMostIfCompact = 12, kFew = 3;  // edges without a chosen number
  s.wanted = !is_automatic(c) ? c.options[kEdges] : is_compact(c) ? kMostIfCompact : kMost;
  // About the tokens of all edges that are wanted, whatever there is room for: resizing asks nothing new.
  s.lens =
      lens_of(c, *s.flow, graph_of(*s.flow, graph_options(c, *s.flow, is_automatic(c) ? kMost : s.wanted)));
  s.bars = bars_of(c, *s.flow, bar_count(c));
  s.longest_bar = most_probable(s.bars);
  const viz::Style style = style_of(c);
  const auto try_edges = [&](int edges, LabelStyle labels, bool keeps_edges = false) {
    s.poster = poster_of(c, *s.flow, edges, labels);
    s.poster.keeps_edges = keeps_edges;
    viz::Rect area = below_title(c);
    s.legend = legend_of(c, s);
    area.h -= legend_height(s.legend, style) + 2 * style.unit();
    s.layout = lay_out(s.poster, area, guesses_height(c, bar_count(c)), style, max_scale);
    return s.layout.fits;
  };
  // Where there is little room, fewer edges are drawn; the legend says how many. A chosen number holds while
  // there is room for its strands, with or without names and numbers.
  const LabelStyle labels = is_compact(c) ? LabelStyle::narrow : LabelStyle::full;
  for (int edges = s.wanted;; edges = edges * 5 / 6) {
    const bool fits = try_edges(edges, labels) ||
                      (!is_automatic(c) &&
                       (try_edges(edges, LabelStyle::names) || try_edges(edges, LabelStyle::names, true)));
    const bool is_enough = !is_automatic(c) || edges <= kFew || names_edges(s);
    if ((fits && is_enough) || edges == 0) break;
    s.all_edges = false;
  }
  s.confidence = confidence_of(s.lens.get(), c.options[kColor], s.poster.graph);
  return s;
}

/// The other side of a comparison; nothing if there is none, or if the query has no counterpart there.
std::optional<ViewContext> other_side(const ViewContext& c) {
  ViewContext other = c;
  if (c.side == Side::baseline) {
    const auto here = std::ranges::find(c.asked->aligned, c.selection.query);
    if (here == c.asked->aligned.end()) return std::nullopt;
    other.side = Side::run;
    other.run = c.asked;
    other.selection.query = static_cast<int>(here - c.asked->aligned.begin());
    return other;
  }
  const int there = compared_query(c);
  if (there < 0) return std::nullopt;
  other.side = Side::baseline;
  other.asked = c.run;
  other.run = c.run->baseline;
  other.selection.query = there;
  return other;
}

/// Both sides of a comparison have the same scales, of widths, colours and bars, so that they can be
/// compared.
std::optional<Shown> shown(const ViewContext& c) {
  auto s = shown_alone(c);
  const auto other = s ? other_side(c) : std::nullopt;
  if (other) {
    const auto there = shown_alone(*other);
    if (!there) {
      const auto question = question_of(*other);
      const bool is_pending = !question || other->failure(*question).empty();
      if (is_pending) return std::nullopt;
    } else {
      if (there->layout.fits && there->layout.scale < s->layout.scale)
        s = shown_alone(c, there->layout.scale);
      s->confidence.high = std::max(s->confidence.high, there->confidence.high);
      s->longest_bar = std::max(s->longest_bar, there->longest_bar);
    }
  }
  if (s) s->legend.scale = scale_of(s->confidence);
  return s;
}

Picture build(const ViewContext& c) {
  if (!c.run) {
    static_cast<void>(question_of(c) ? c.ask(*question_of(c)) : nullptr);
    return *waiting(c);
  }
  const auto question = question_of(c);
  if (!question) return message(c, kComputing);
  const auto s = shown(c);
  if (auto words = waiting(c, *question, s.has_value())) return *words;
  if (!s->layout.fits) return too_small(c, "for the flow");
  Picture picture = blank(c);
  picture.exact_widths = true;
  const std::string subtitle = "after " + token_name(c.run->tokens, s->flow->position) + ": " +
                               (s->flow->against == -1 ? "logit " : "difference ") +
                               viz::fixed_number(s->flow->logit, 2);
  paint_title(picture, c, "Flow to the logit of " + logit_words(c, s->flow->token, s->flow->against),
              subtitle);
  const Confidence& confidence = s->confidence;
  paint_flow(picture, c, s->poster, s->layout, confidence);
  paint_guesses(picture, c, s->layout, s->poster.graph.column_of(s->flow->position), s->bars, s->longest_bar,
                confidence);
  const viz::Rect below = below_title(c);
  const viz::Style style = style_of(c);
  paint_legend(picture, c, s->legend, s->layout.scale,
               {below.x, below.bottom() - legend_height(s->legend, style)});
  drop_covered_regions(picture.regions);
  picture.whole = picture.whole && s->layout.all_labels && !s->layout.thinned && s->all_edges &&
                  !(c.in_pane && is_low(c));
  return picture;
}

// ---- the mouse ----

/// With as many digits as the drawing has, or two if these say nothing.
std::string rounded(double value) {
  return value == 0 || std::abs(value) >= 0.01 ? viz::fixed_number(value, 2) : viz::number(value, 2);
}

std::string share_words(const LogitFlow& flow, double value) {
  return flow.logit != 0 ? viz::fixed_number(100 * value / flow.logit, 1) + " % of the logit" : "";
}

void say_part(Facts& facts, const LogitFlow& flow, double value) {
  const std::string sum = flow.against == -1 ? "logit" : "difference";
  facts.say(value < 0 ? "takes " + rounded(-value) + " from the " + sum
                      : "adds " + rounded(value) + " to the " + sum);
  facts.number("contribution", value, Fact::Location::menu);
  facts.say(share_words(flow, value));
}

/// A number that the menu copies with all its digits.
void say_number(Facts& facts, std::string label, double value,
                Fact::Location location = Fact::Location::both) {
  facts.said.push_back(
      {.label = std::move(label), .value = rounded(value), .copied = plain(value), .location = location});
}

/// How an MLP's number relates to the one that Attribution shows, which counts only what goes directly.
std::string direct_words(const LogitFlow& flow, int position, int layer) {
  const std::string later = flow.edited ? "through later attention and edits" : "through later attention";
  if (position != flow.position) return "all " + later + ", which Attribution does not count";
  const double direct = flow.direct_mlps[layer], all = flow.mlps[flow.at(layer, position)];
  return rounded(direct) + " directly, as in Attribution, and " + rounded(all - direct) + " " + later;
}

ViewActions opened(const ViewContext& c, const FlowEdge& edge) {
  return {SelectHead{edge.layer, edge.head < 0 ? c.selection.head : edge.head}, SelectQuery{edge.query},
          SelectKey{edge.key}, ShowPart{Part::attention}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto s = shown(c);
  if (!s || !s->layout.fits) return facts;
  const LogitFlow& flow = *s->flow;
  const Graph& graph = s->poster.graph;
  const viz::Region& region = region_of(picture, hit);
  const auto name = [&](int position) { return token_name(c.run->tokens, position); };
  const auto column_at = [&](int index) -> const Column& { return graph.columns[index]; };
  if (region.role == kEdge && region.id < std::ssize(graph.edges)) {
    const FlowEdge& edge = graph.edges[region.id];
    for (const Strand& strand : s->layout.strands)
      if (strand.edge == region.id) paint_strand(facts.overlay, c, strand, c.theme->text);
    facts.say(edge_name(edge) + (edge.head < 0 ? ", all heads" : "") + ": from " + name(edge.key) + " to " +
              name(edge.query));
    say_part(facts, flow, edge.value);
    facts.commands.push_back({"Show " + edge_name(edge) + " at query " + name(edge.query), opened(c, edge)});
  } else if (region.role == kStream) {
    const Column& column = column_at(region.id / (graph.layers + 1));
    const int layer = region.id % (graph.layers + 1);
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
    facts.say(name(column.position) + " into layer " + std::to_string(layer));
    say_number(facts, "flow", column.stream[layer]);
    say_number(facts, "into the next layer", column.stream[layer + 1], Fact::Location::tooltip);
    if (s->lens) {
      const auto row = static_cast<std::size_t>(s->confidence.rows[region.id / (graph.layers + 1)]);
      const std::size_t i =
          row * static_cast<std::size_t>(graph.layers + 1) + static_cast<std::size_t>(layer);
      facts.say("lens: “" + label_of(c, flow.token) + "” " + percent(s->lens->of_token[i]) + ", best “" +
                    label_of(c, s->lens->top[i]) + "” " + percent(s->lens->of_top[i]),
                Fact::Location::tooltip);
    }
    say_number(facts, "edges in that are drawn", column.arrived[layer], Fact::Location::tooltip);
    say_number(facts, "edges out that are drawn", column.sent[layer], Fact::Location::tooltip);
    say_number(facts, "rest", column.rest[layer], Fact::Location::tooltip);
    facts.commands.push_back(choose_query(c, column.position));
    add_choice_of_key(facts.commands, c, column.position, c.selection.query);
  } else if (region.role == kMlp) {
    const Column& column = column_at(region.id / graph.layers);
    const int layer = region.id % graph.layers;
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
    facts.say("MLP " + std::to_string(layer) + " at " + name(column.position));
    say_part(facts, flow, column.mlps[layer]);
    facts.say(direct_words(flow, column.position, layer), Fact::Location::tooltip);
  } else if (region.role == kRest) {
    const Column& column = column_at(graph.column_of(flow.position));
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
    facts.say("rest in layer " + std::to_string(region.id) + ": edges that are not drawn, biases and edits");
    say_part(facts, flow, column.rest[region.id]);
  } else if (region.role == kToken) {
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
    facts.say(name(region.id));
    if (const int index = graph.column_of(region.id); index >= 0) {
      say_number(facts, "its embedding", column_at(index).embedding);
      say_number(facts, "its MLPs", column_at(index).mlp);
      facts.say(share_words(flow, column_at(index).sources()));
    } else {
      facts.say("none of the edges drawn");
    }
    facts.commands.push_back(choose_query(c, region.id));
    add_choice_of_key(facts.commands, c, region.id, c.selection.query);
  } else if (region.role == kGuess) {
    facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
    for (const GuessBar& bar : s->bars)
      if (bar.id == region.id) facts.say("“" + bar.label + "” " + percent(bar.probability));
    add_copies_of_token(facts, c, region.id);
  }
  return facts;
}

/// Edges open their head, streams select key and layer, tokens the query, guesses the token.
ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto flow = flow_of(c);
  if (!flow) return {};
  if (region.role == kToken) return {SelectQuery{region.id}};
  if (region.role == kGuess) {
    const auto next = c.ask(NextAfter{flow->position});
    if (!next) return {};
    const auto best = model::largest_logits(next->logits, static_cast<int>(kLogitRank.high));
    const auto found = std::ranges::find(best, region.id, &model::Guess::id);
    if (found == best.end()) return {};
    return {SetOption{&kLogitRank, static_cast<int>(found - best.begin()) + 1}};
  }
  const auto s = shown(c);
  if (!s) return {};
  const Graph& graph = s->poster.graph;
  if (region.role == kEdge && region.id < std::ssize(graph.edges)) return opened(c, graph.edges[region.id]);
  const bool mlp = region.role == kMlp;
  if (!mlp && region.role != kStream) return {};
  const int per_column = graph.layers + (mlp ? 0 : 1);
  const int position = graph.columns[region.id / per_column].position;
  ViewActions actions{SelectHead{region.id % per_column, c.selection.head}};
  if (may_see(c, c.selection.query, position)) actions.push_back(clicked_key(c, position));
  return actions;
}

// ---- the table ----

/// One row for each edge and each source; the sources add up to the logit. Sorted by magnitude after the
/// first.
Table table(const ViewContext& c) {
  Table result;
  const auto flow = flow_of(c);
  if (!flow) return result;
  const LogitFlow& f = *flow;
  result.header = {"kind",       "part",        "layer",    "head",         "from position",
                   "from token", "to position", "to token", "contribution", "share"};
  struct Row {
    std::string kind, part;
    int layer = -1, head = -1, from = -1, to = -1;
    double value = 0;
  };
  std::vector<Row> rows;
  double kept = 0;
  for (const FlowEdge& edge : f.edges) {
    rows.push_back({"edge", "attention", edge.layer, edge.head, edge.key, edge.query, edge.value});
    kept += edge.value;
  }
  double all = 0;
  for (const double v : f.arrived) all += v;
  if (std::ssize(f.edges) < f.edge_count)
    rows.push_back(
        {"other edges", grouped(f.edge_count - std::ssize(f.edges)) + " edges", -1, -1, -1, -1, all - kept});
  const auto source = [&](std::string part, int layer, int position, double value) {
    rows.push_back({"source", std::move(part), layer, -1, position, -1, value});
  };
  for (int position = 0; position < f.positions; ++position) {
    source("token embedding", -1, position, f.token_embedding[position]);
    source("position embedding", -1, position, f.position_embedding[position]);
    for (int layer = 0; layer < f.layers; ++layer) {
      const std::size_t i = f.at(layer, position);
      source("MLP", layer, position, f.mlps[i]);
      source("bias", layer, position, f.key_biases[i] + f.query_biases[i]);
      if (f.edited) source("edits", layer, position, f.input_edits[i] + f.key_edits[i] + f.query_edits[i]);
    }
  }
  source("ln_f bias", -1, f.position, f.final_bias);
  if (f.edited) source("edits after the layers", -1, f.position, f.final_edits);
  source("rounding error", -1, -1, f.rounding_error());
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) { return std::abs(row.value); });
  rows.insert(rows.begin(),
              {"logit", "logit of " + logit_words(c, f.token, f.against), -1, -1, -1, f.position, f.logit});
  const auto known = [](int index) { return index >= 0 ? std::optional(index) : std::nullopt; };
  const auto token = [&](int position) {
    return position >= 0 ? c.run->tokens.labels[position] : std::string();
  };
  for (const Row& row : rows)
    add_row(result, row.kind, row.part, known(row.layer), known(row.head), known(row.from), token(row.from),
            known(row.to), token(row.to), row.value, f.logit != 0 ? row.value / f.logit : NAN);
  return result;
}

/// Large enough for every layer's strands.
viz::Point figure_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  return {66 * c.font_size, std::clamp((16 + 5 * layers) * c.font_size, 46 * c.font_size, 160 * c.font_size)};
}

}  // namespace

View flow_view() {
  View view = make_view(Group::output, "flow", "Flow",
                        "a logit as the sum of what embeddings, MLPs and biases add to it, and the attention "
                        "edges that carry it",
                        build, facts, table);
  view.options = {&kLogitRank, &kAgainstRank, &kMinusMean, &kEdges, &kLeast, &kTogether, &kColor, &kFirst};
  add_gestures<click, layers_by_lines>(view);
  view.figure_size = figure_size;
  view.caption = {.prompt = true, .head = false, .query = true};
  for (const std::string_view words : kReading)
    view.caption.note += (view.caption.note.empty() ? "attention " : "; ") + std::string(words);
  view.landmarks = {landmark<kStream>("streams"), landmark<kEdge>("edges"), landmark<kToken>("token labels"),
                    landmark<kGuess>("guesses")};
  return view;
}

}  // namespace headscope::app
