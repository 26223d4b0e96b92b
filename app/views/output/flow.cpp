#include <array>
#include <numeric>

#include "app/run/analyses/logit_flow.h"
#include "app/views/output/flow_graph.h"
#include "app/views/output/flow_paint.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app {

View flow_view();  // its captions

namespace flow {

using namespace flow_picture;

constexpr int kAutomatic = -1;
const auto kEdges = make_option<int>(
    "flow-edges", "Edges",
    "the number of strongest attention edges drawn (auto: as many as have room for their names)",
    {.phrase = "at most {edge}",
     .default_value = kAutomatic,
     .default_name = "auto",
     .low = 0,
     .high = 200,
     .steps = {0, 4, 8, 12, kAutomatic, 16, 24, 32, 48, 64, 100, 200},
     .keys = "wW"});
const auto kLeast = number_option(
    "flow-least", "From", "tT", "smallest edge drawn, as a percentage of the logit",
    "edges of at least {} % of the logit", 0, 0, 100, {0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100});
const auto kMinusMean =
    switch_option("flow-minus-mean", "Minus mean", "cC",
                  "subtract the mean of the vocabulary's logits, which does not change the prediction",
                  "logits minus their mean", false,
                  {.applies = [](const Options& options) { return options[kSubtractedToken].empty(); }});
const auto kTogether = switch_option("flow-together", "Heads together", "hH",
                                     "one edge for all heads of a layer with the same query and key",
                                     "each layer's heads together");
const auto kColor = choice_option<RibbonColor>(
    "flow-color", "Colour", "xX", "what the ribbons' colours show, by the logit lens",
    {{"token", "Token", "The probability of the chosen token at each layer"},
     {"top", "Best guess", "The probability of each place's own best guess", "coloured by best guess"}});
const auto kFirst = choice_option<FirstToken>(
    "flow-first", "First token", "vV", "how attention to the first token is drawn",
    {{"stubs", "Stubs", "Short stubs at both ends: most heads rest on the first token"},
     {"edges", "Edges", "Like all others", "with edges from the first token"},
     {"hidden", "Hidden", "Not drawn: it is part of the rest", "without the first token"}});

bool is_low(const ViewContext& c) {
  return c.height < 36 * c.font_size;
}
/// Guesses shown: fewer where there is little room.
int bar_count(const ViewContext& c) {
  return is_low(c) ? 3 : 5;
}

/// Nullopt until it is known which token's logit it is.
std::optional<LogitFlowOf> question_of(const ViewContext& c) {
  const auto tokens = logit_tokens(c);
  if (!tokens) return std::nullopt;
  return LogitFlowOf{std::max(0, c.selection.query), tokens->token, tokens->against, !c.options[kTogether],
                     c.options[kMinusMean] && !tokens->subtracts()};
}

std::shared_ptr<const LogitFlow> flow_of(const ViewContext& c) {
  const auto question = c.run ? question_of(c) : std::nullopt;
  auto flow = question ? c.ask(*question) : nullptr;
  return flow && flow->positions > 0 ? flow : nullptr;
}

/// "; edits add +1.53": they are part of the rest and of what the embeddings add. Scaling adds nothing.
std::string words_of_edits(const LogitFlow& flow) {
  if (!flow.edited) return "";
  double sum = flow.final_edits;
  for (const std::vector<double>* edits : {&flow.input_edits, &flow.key_edits, &flow.query_edits})
    sum = std::accumulate(edits->begin(), edits->end(), sum);
  return sum == 0 ? "; edits scale what is carried"
                  : "; edits add " + signed_words(sum) + ", part of the rest";
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

Poster poster_of(const ViewContext& c, const LogitFlow& flow, std::vector<FlowEdge> edges, LabelStyle style) {
  Poster poster;
  poster.graph = graph_with(flow, std::move(edges));
  poster.first = c.options[kFirst];
  poster.tokens = c.run->tokens.labels;
  const bool compact = is_compact(c);
  for (const FlowEdge& edge : poster.graph.edges) poster.edges.push_back(edge_label(edge, style));
  for (const TokenColumn& column : poster.graph.columns) {
    std::vector<std::string>& labels = poster.mlps.emplace_back();
    for (int layer = 0; layer < flow.layers; ++layer)
      labels.push_back((compact ? "MLP " : "MLP " + std::to_string(layer) + " ") +
                       signed_words(column.mlps[layer]));
  }
  poster.rest = "rest " + signed_words(poster.graph.rest);
  poster.others = compact ? "others " : "other tokens ";
  poster.all = compact ? "tokens " : "tokens and MLPs ";
  poster.panel = (compact ? 4 : 9) * c.font_size;
  return poster;
}

std::shared_ptr<const FlowLens> lens_of(const ViewContext& c, const LogitFlow& flow, const Graph& graph) {
  FlowLensOf question{flow.token, {}};
  for (const TokenColumn& column : graph.columns) question.positions.push_back(column.position);
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

struct Shown {
  std::shared_ptr<const LogitFlow> flow;
  std::shared_ptr<const FlowLens> lens;
  Poster poster;
  Layout layout;
  std::vector<GuessBar> bars;
  Legend legend;
  Confidence confidence;
  double bar_scale = std::numeric_limits<double>::infinity();  ///< logical pixels for a probability of 1
  int wanted = 0;                                              ///< edges
  bool all_edges = true;  ///< false: there was no room for all that are wanted
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
  const Graph& graph = s.poster.graph;
  Legend legend;
  legend.entries = {{width, "", true},
                    {adds, "adds", true},
                    {takes, "takes away", true},
                    {mlp, "MLP (hatched: takes away)", true},
                    {rest, "rest: all that is not drawn (width: sum of sizes; number: net)", true}};
  if (c.in_pane && is_low(c)) legend.entries.back().words = "not drawn";
  if (c.least_line > 0 && !graph.edges.empty()) {
    legend.least = std::numeric_limits<double>::infinity();
    for (const FlowEdge& edge : graph.edges) legend.least = std::min(legend.least, std::abs(edge.value));
    legend.entries.insert(legend.entries.begin() + 1, {.sample = thinnest, .words = "", .follows = true});
  }
  if (c.options[kFirst] == FirstToken::stubs && std::ranges::any_of(graph.edges, is_stub))
    legend.entries.push_back({stub, "attention to the first token: stubs", true});
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
        {.words = percent(graph.magnitude / flow.edge_magnitude) + " of the width of all edges",
         .follows = true});
  if (is_compact(c)) legend.entries.push_back({none, "tokens: embeddings and MLPs", true});
  if (!c.note_in_caption)
    for (const std::string_view words : kReading) legend.entries.push_back({none, std::string(words), true});
  legend.wrap(below_title(c).w, style_of(c), c.in_pane && is_low(c));
  // A pane is for the drawing: what of the legend leaves too little of it is left out, from the end.
  constexpr float kDrawing = 14;  // ems
  while (c.in_pane && legend.lines.size() > 2 &&
         legend_height(legend, style_of(c)) > below_title(c).h - kDrawing * c.font_size)
    legend.lines.pop_back();
  return legend;
}

/// Whether all edges to the target have their names, without which the picture does not say which heads
/// matter.
bool names_edges(const Shown& s) {
  const int target = s.poster.graph.target;
  return std::ranges::count(s.layout.labels, Label::Of::edge, &Label::of) ==
         std::ranges::count(s.poster.graph.edges, target, &FlowEdge::query);
}

/// Whether the target's strongest MLPs and the rest have their numbers, which a chosen number of edges must
/// not push out.
bool says_sources(const Shown& s) {
  const Graph& graph = s.poster.graph;
  const int target = graph.column_of(graph.target);
  const std::vector<double>& mlps = graph.columns[target].mlps;
  const auto strongest = std::ranges::max_element(mlps, {}, [](double v) { return std::abs(v); });
  const auto labelled = [&](Label::Of of, int index, int column) {
    return std::ranges::any_of(s.layout.labels, [&](const Label& label) {
      return label.of == of && label.index == index && label.column == column;
    });
  };
  return (std::abs(*strongest) < 0.02 * std::abs(graph.logit) ||
          labelled(Label::Of::mlp, static_cast<int>(strongest - mlps.begin()), target)) &&
         (std::abs(graph.rest) < 0.005 || labelled(Label::Of::rest, 0, -1));
}

/// One side of a comparison without regard to the other; `scale`: see `lay_out`.
std::optional<Shown> shown_alone(const ViewContext& c, std::optional<double> scale = {}) {
  Shown s;
  s.flow = flow_of(c);
  if (!s.flow) return std::nullopt;
  constexpr int kMost = 24, kMostIfCompact = 12, kFew = 3;  // edges without a chosen number
  s.wanted = !is_automatic(c) ? c.options[kEdges] : is_compact(c) ? kMostIfCompact : kMost;
  const std::vector<FlowEdge> all =
      leading_edges(*s.flow, graph_options(c, *s.flow, is_automatic(c) ? kMost : s.wanted));
  // About the tokens of all edges that are wanted, whatever there is room for: resizing asks nothing new.
  s.lens = lens_of(c, *s.flow, graph_with(*s.flow, all));
  s.bars = bars_of(c, *s.flow, bar_count(c));
  const viz::Style style = style_of(c);
  const auto try_edges = [&](int edges, LabelStyle labels, bool keeps_edges = false) {
    s.poster = poster_of(c, *s.flow, {all.begin(), all.begin() + edges}, labels);
    s.poster.keeps_edges = keeps_edges;
    viz::Rect area = below_title(c);
    s.legend = legend_of(c, s);
    area.h -= legend_height(s.legend, style) + 2 * style.unit();
    s.layout = lay_out(s.poster, area, guesses_height(c, bar_count(c)), style, scale);
    return s.layout.fits;
  };
  // Where there is little room, fewer edges are drawn; the legend says how many. A chosen number holds while
  // there is room for its strands and for the numbers of the sources, with or without names and numbers.
  const LabelStyle labels = is_compact(c) ? LabelStyle::narrow : LabelStyle::full;
  const int wanted = std::min(s.wanted, static_cast<int>(all.size()));
  bool says_all = true;
  const auto has_room = [&](int edges) {
    if (is_automatic(c)) return try_edges(edges, labels) && (edges <= kFew || names_edges(s));
    const auto holds = [&](LabelStyle of, bool keeps_edges) {
      return try_edges(edges, of, keeps_edges) && (!says_all || says_sources(s));
    };
    return holds(labels, false) || holds(LabelStyle::names, false) ||
           (edges == wanted && holds(LabelStyle::names, true));
  };
  for (const bool all_sources : {true, false}) {
    says_all = all_sources;
    s.all_edges = has_room(wanted);
    if (s.all_edges) break;
    int most = 0;  // edges for which there is room
    for (int high = wanted; high - most > 1;) {
      const int middle = (most + high) / 2;
      (has_room(middle) ? most : high) = middle;
    }
    if (has_room(most)) break;
  }
  s.confidence = confidence_of(s.lens.get(), c.options[kColor], s.poster.graph);
  if (s.layout.fits) s.bar_scale = scale_of_bars(c, s.layout, s.poster.graph, s.bars);
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

/// Large enough for every layer's strands, and for a legend that takes more lines where it is narrow.
viz::Point figure_size(const ViewContext& c) {
  const float layers = c.run ? static_cast<float>(c.run->run->config.n_layer) : 1;
  const float em = c.font_size, legend = is_compact(c) ? 6 * em : 0;
  return {66 * em, legend + std::clamp((16 + 5 * layers) * em, 46 * em, 160 * em)};
}

/// The height for which the scale of two compared figures is made. Each has a page of its own, which grows
/// until all has room and loses lines to its caption: the scale depends on neither.
float common_height(const ViewContext& c, const ViewContext& other) {
  if (c.in_pane) return c.height;
  const auto captions = [](const ViewContext& of) {
    return caption_height(caption(flow_view(), of), of.width, of);
  };
  const float least = std::min(c.height, c.height + captions(c) - captions(other));
  const viz::Point size = figure_size(c);
  float height = 0.85F * size.y * std::max(1.F, c.width / size.x);
  while (height > least) height *= 0.8F;
  return height;
}

/// Both sides of a comparison have the same scales, of widths, colours and bars, so that they can be
/// compared.
std::optional<Shown> shown(const ViewContext& c) {
  const auto other = c.run ? other_side(c) : std::nullopt;
  if (!other) return shown_alone(c);
  const auto at_height = [](ViewContext of, float height) {
    of.height = height;
    return shown_alone(of);
  };
  const float height = common_height(c, *other);
  auto here = at_height(c, height), there = at_height(*other, height);
  if (!here) return std::nullopt;
  if (!there) {
    const auto question = question_of(*other);
    const bool is_pending = !question || other->failure(*question).empty();
    return is_pending ? std::nullopt : shown_alone(c);
  }
  if (height != c.height && !(here->layout.fits && there->layout.fits))
    here = shown_alone(c), there = at_height(*other, c.height);
  if (!here->layout.fits || !there->layout.fits) return shown_alone(c);
  auto s = shown_alone(c, std::min(here->layout.scale, there->layout.scale));
  if (!s->layout.fits) {
    s = shown_alone(c);
    s->all_edges = false;  // a larger page has room for the scale
  }
  // In the common layout, of narrow panes, the guesses' names may have less room than in each side's own.
  s->bar_scale = (is_compact(c) ? 0.75 : 1) * std::min(here->bar_scale, there->bar_scale);
  s->confidence.high = std::max(here->confidence.high, there->confidence.high);
  return s;
}

Picture build(const ViewContext& c) {
  const auto question = question_of(c);
  if (auto words = waiting_for_run(c, question)) return *words;
  if (!question) return message(c, kComputing);
  auto s = shown(c);
  if (auto words = waiting(c, *question, s.has_value())) return *words;
  if (!s->layout.fits) return too_small(c, "for the flow");
  Picture picture = blank(c);
  picture.exact_widths = true;
  s->legend.scale = scale_of(s->confidence);
  const std::string subtitle = "after " + token_name(c.run->tokens, s->flow->position) + ": " +
                               (s->flow->against == -1 ? "logit " : "difference ") +
                               viz::fixed_number(s->flow->logit, 2) + words_of_edits(*s->flow);
  paint_title(picture, c, "Flow to the logit of " + logit_words(c, s->flow->token, s->flow->against),
              subtitle);
  const Confidence& confidence = s->confidence;
  paint_flow(picture, c, s->poster, s->layout, confidence);
  paint_guesses(picture, c, s->layout, s->poster.graph.column_of(s->flow->position), s->bars, s->bar_scale,
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
  const auto column_at = [&](int index) -> const TokenColumn& { return graph.columns[index]; };
  if (region.role != kEdge) facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
  if (region.role == kEdge && region.id < std::ssize(graph.edges)) {
    const FlowEdge& edge = graph.edges[region.id];
    for (const Strand& strand : s->layout.strands)
      if (strand.edge == region.id) paint_strand(facts.overlay, c, strand, c.theme->text);
    facts.say(edge_name(edge) + (edge.head < 0 ? ", all heads" : "") + ": from " + name(edge.key) + " to " +
              name(edge.query));
    say_part(facts, flow, edge.value);
    facts.commands.push_back({"Show " + edge_name(edge) + " at query " + name(edge.query), opened(c, edge)});
  } else if (region.role == kStream) {
    const TokenColumn& column = column_at(region.id / (graph.layers + 1));
    const int layer = region.id % (graph.layers + 1);
    facts.say(name(column.position) + " into layer " + std::to_string(layer));
    say_number(facts, layer == 0 ? "flow: its embedding" : "flow", column.stream[layer]);
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
    if (layer < graph.layers)
      say_number(facts, "MLP " + std::to_string(layer), column.mlps[layer], Fact::Location::tooltip);
    say_number(facts, "rest", column.rest[layer], Fact::Location::tooltip);
    facts.commands.push_back(choose_query(c, column.position));
    add_choice_of_key(facts.commands, c, column.position, c.selection.query);
  } else if (region.role == kMlp) {
    const TokenColumn& column = column_at(region.id / graph.layers);
    const int layer = region.id % graph.layers;
    facts.say("MLP " + std::to_string(layer) + " at " + name(column.position));
    say_part(facts, flow, column.mlps[layer]);
    facts.say(direct_words(flow, column.position, layer), Fact::Location::tooltip);
  } else if (region.role == kRest) {
    const TokenColumn& column = column_at(graph.column_of(flow.position));
    facts.say("rest in layer " + std::to_string(region.id) + ": edges that are not drawn, biases and edits");
    say_part(facts, flow, column.rest[region.id]);
  } else if (region.role == kToken) {
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
  if (region.role == kGuess)
    return {SetOption{&kMeasuredToken, GivenToken{GivenToken::By::id, "", region.id}}};
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

Table table(const ViewContext& c) {
  const auto flow = flow_of(c);
  return flow ? table_of(c, *flow) : Table{};
}

}  // namespace flow

View flow_view() {
  using namespace flow;
  View view = make_view(Group::output, "flow", "Flow",
                        "a logit as the sum of what embeddings, MLPs and biases add to it, and the attention "
                        "edges that carry it",
                        build, facts, table);
  view.options = {&kMeasuredToken, &kSubtractedToken, &kMinusMean, &kEdges,
                  &kLeast,         &kTogether,        &kColor,     &kFirst};
  add_gestures(view, click, layers_by_lines);
  view.figure_size = figure_size;
  view.caption = {.prompt = true, .head = false, .query = true};
  for (const std::string_view words : kReading)
    view.caption.note += (view.caption.note.empty() ? "attention " : "; ") + std::string(words);
  view.landmarks = {landmark("streams", kStream), landmark("edges", kEdge), landmark("token labels", kToken),
                    landmark("guesses", kGuess)};
  return view;
}

}  // namespace headscope::app
