#include "app/views/output/circuit_layout.h"
#include "app/views/output/circuit_paint.h"
#include "app/views/output/circuit_question.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace circuit_graph {

using namespace circuit_picture;
using model::StreamReader;

/// The edge that was clicked: its place in the circuit, by position after all places without.
const auto kChosen = gesture_option("circuit-edge", "Edge", "the edge whose exact effect is shown", -1, -1,
                                    1 << 30, "none", {.reset_on_prompt_change = true});
constexpr int kByPositionFrom = 1 << 28;
static_assert(kByPositionFrom > CircuitOf::kMostEdges);

/// The place that the option names; -1: none, or one of the other kind.
int place_of(int chosen, bool by_position) {
  if (chosen < 0 || by_position != (chosen >= kByPositionFrom)) return -1;
  return by_position ? chosen - kByPositionFrom : chosen;
}
SetOption choose_edge(const Circuit& circuit, int place) {
  return {&kChosen, place >= 0 && circuit.rows > 1 ? place + kByPositionFrom : place};
}

/// The circuit's edges, and what they keep of the metric.
struct Numbers {
  std::shared_ptr<const Circuit> circuit;
  EdgeList edges;                 ///< drawn
  EdgeList asked;                 ///< of which these are, or all
  std::optional<double> kept;     ///< the metric with the asked ones alone
  int chosen = -1;                ///< the chosen edge's place; -1: none
  std::optional<double> without;  ///< the metric without that edge
  double score(int place) const { return static_cast<double>(circuit->score(place)); }
};

/// Whether a pane is so low that the drawing takes the legend's room; tooltips say what it would.
bool is_low(const ViewContext& c) {
  return c.in_pane && below_title(c).h < 26 * c.font_size;
}

/// Where parts and edges are drawn: above as many lines of words as any circuit has.
viz::Rect drawing_area(const ViewContext& c, bool by_position) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit();
  viz::Rect area = below_title(c);
  const auto lines = [&](const std::string& longest) {
    return viz::wrap(style, longest, style.small(), viz::FontStyle::regular, area.w).size();
  };
  std::size_t below = lines(
      "100 edges between 50 parts keep 100 % of the difference in the metric: −12.34; all edges: −12.34; "
      "none: −12.34, with " +
      (cut_of(c) == CircuitCut::list_mean ? elsewhere_words(c) : "the second prompt's values") +
      " elsewhere; room for the strongest 100");
  if (!is_low(c)) {
    below += lines(
        "—— to queries —— to keys —— to values —— to MLPs, logits —— lowers the metric —— 12.3 in the "
        "metric");
    if (by_position) below += lines("—— attention, from key to query") - (area.w > 70 * c.font_size ? 1 : 0);
  }
  if (by_position) ++below;
  if ((c.in_pane && !is_low(c)) || c.options[kChosen] >= 0)  // a click must not move the drawing
    below += lines(
        "L10 H10 → L11 H11 q at 100 “·token”: estimate −12.34, exact −12.34: −12.34 with it, −12.34 without");
  area.y += u;
  area.h -= static_cast<float>(below) * line + 4 * u;
  return area;
}

/// As many of the asked edges as have room; all if even the fewest have none.
EdgeList edges_with_room(const ViewContext& c, const Circuit& circuit, const EdgeList& asked) {
  const viz::Rect area = drawing_area(c, circuit.rows > 1);
  const auto fits = [&](const EdgeList& some) { return lay_out(c, circuit, some, area).fits; };
  if (asked.empty() || fits(asked)) return asked;
  for (auto most = kEdges.steps.rbegin(); most != kEdges.steps.rend(); ++most) {
    EdgeList fewer = strongest_edges(circuit, static_cast<int>(*most));
    if (fewer.size() < asked.size() && fits(fewer)) return fewer;
  }
  return asked;
}

/// `all`: also draws edges without room.
std::optional<Numbers> numbers_of(const ViewContext& c, bool all = false) {
  const auto question = question_of(c);
  const bool possible =
      c.run && question && !has_no_loss(*c.run, c.options[kMetric]) && question->cut.problem(*c.run).empty();
  auto circuit = possible ? c.ask(*question) : nullptr;
  if (!circuit || !circuit->whole) return std::nullopt;
  Numbers n;
  n.asked = strongest_edges(*circuit, c.options[kEdges]);
  n.edges = all ? n.asked : edges_with_room(c, *circuit, n.asked);
  CutMetricOf kept{circuit->metric, question->cut, circuit->rows, n.asked, false};
  if (const auto answer = c.ask(kept)) n.kept = answer->value;
  const int chosen = place_of(c.options[kChosen], circuit->rows > 1);
  if (std::ranges::binary_search(n.edges, chosen)) {
    n.chosen = chosen;
    kept.edges = {chosen};
    kept.all_others = true;
    if (const auto answer = c.ask(kept)) n.without = answer->value;
  }
  n.circuit = std::move(circuit);
  return n;
}

std::string metric_words(const ViewContext& c, const Circuit& circuit) {
  if (const auto* of = std::get_if<model::TokenLogit>(&circuit.metric))
    return "logit of " + logit_words(c, of->token, -1);
  if (const auto* of = std::get_if<model::LogitDifference>(&circuit.metric))
    return "logit of " + logit_words(c, of->token, of->against);
  if (const auto* of = std::get_if<model::LogProbability>(&circuit.metric))
    return "log₂ probability of " + logit_words(c, of->token, -1);
  return "mean loss of the prompt, bits";
}

Measured measured_of(const ViewContext& c, const Circuit& circuit) {
  const std::string_view name = name_of(kSaliencyMetrics, c.options[kMetric]);
  return std::visit(
      [&](const auto& of) -> Measured {
        Measured measured{name};
        if constexpr (requires { of.token; }) measured.position = of.position, measured.token = of.token;
        if constexpr (requires { of.against; }) measured.against = of.against;
        return measured;
      },
      circuit.metric);
}

std::string edge_name(const ViewContext& c, const Circuit& circuit, int place) {
  const int edge = place % circuit.graph.edge_count(), row = place / circuit.graph.edge_count();
  std::string name = name_of(circuit.graph.writer(circuit.graph.writer_of(edge))) + " → " +
                     name_of(circuit.graph.reader(circuit.graph.reader_of(edge)));
  if (circuit.rows > 1) name += " at " + token_name(c.run->tokens, row);
  return name;
}

std::string with_sign(double value) {
  return (value > 0 ? "+" : "") + viz::number(value, 4);
}

bool is_flow(const ViewContext& c) {
  return c.options[kMethod] == CircuitMethod::flow;
}

std::string title_of(const ViewContext& c, const Numbers& n) {
  return (is_flow(c) ? "Information flow to the prediction" : "Circuit: " + metric_words(c, *n.circuit));
}

/// "EAP-IG, 5 steps".
std::string method_words(const ViewContext& c) {
  return c.options[kMethod] == CircuitMethod::integrated ? "EAP-IG, " + counted(c.options[kSteps], "step")
                                                         : "EAP";
}

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  std::string words =
      named_tokens(c.options) > 0 ? "after " + token_name(c.run->tokens, c.selection.query) + ": " : "";
  words += "the strongest paths among " + grouped(n.circuit->edge_count()) + " edges; ";
  if (is_flow(c)) return words + "thickness: share of what arrives at the logits";
  return words + "thickness: what the edge keeps of the metric (" + method_words(c) + ")";
}

/// "30 edges between 14 parts keep 87 % of the metric's difference: 3.41; all edges: 3.92; none: 0.02, with
/// means elsewhere".
std::string kept_words(const ViewContext& c, const Numbers& n) {
  const auto count = std::ssize(n.asked);
  std::string words =
      counted(count, "edge") + " between " + counted(count_parts(*n.circuit, n.asked), "part");
  if (!n.kept) return words + ": computing what they keep…";
  const double part = faithfulness(*n.circuit, *n.kept);
  const auto shown = [&](double value) { return viz::number(value, 4); };
  words += count == 1 ? " keeps " : " keep ";
  if (std::isfinite(part)) words += viz::fixed_number(100 * part, 0) + " % of the difference in the ";
  words += (is_flow(c) ? metric_words(c, *n.circuit) : std::string("metric")) + ": " + shown(*n.kept) +
           "; all edges: " + shown(n.circuit->value) + "; none: " + shown(n.circuit->cut_value) + ", with " +
           elsewhere_words(c) + " elsewhere";
  if (const int uncut = CutOf{cut_of(c)}.uncut_positions(*c.run); uncut > 0)
    words += "; " + counted(uncut, "position") + " without a counterpart " + (uncut == 1 ? "is" : "are") +
             " not cut";
  if (count > c.options[kEdges]) words += "; no path has fewer edges of that strength";
  if (n.edges.size() < n.asked.size()) words += "; room for the strongest " + std::to_string(n.edges.size());
  return words;
}

std::string chosen_words(const ViewContext& c, const Numbers& n) {
  if (n.chosen < 0) return "";
  const double score = n.score(n.chosen);
  std::string words = edge_name(c, *n.circuit, n.chosen) + ": ";
  words += is_flow(c) ? "share " + percent(score) : "estimate " + with_sign(score);
  if (!n.without) return words + ", exact: computing…";
  return words + ", exact " + with_sign(n.circuit->value - *n.without) + ": " +
         viz::number(n.circuit->value, 4) + " with it, " + viz::number(*n.without, 4) + " without";
}

std::vector<Sample> samples_of(const ViewContext& c, const Layout& layout) {
  const float usual = 0.8F * style_of(c).unit();
  const viz::Color plain = c.theme->text_muted;
  std::vector<Sample> samples;
  const auto has = [&](StreamReader::Kind reads) {
    return std::ranges::any_of(layout.links, [&](const Link& link) { return link.reads == reads; });
  };
  for (const auto& [reads, words] : {std::pair(StreamReader::Kind::q, "to queries"),
                                     {StreamReader::Kind::k, "to keys"},
                                     {StreamReader::Kind::v, "to values"}})
    if (has(reads)) samples.push_back({words, color_of(c, reads), usual});
  samples.push_back({has(StreamReader::Kind::mlp) ? "to MLPs, logits" : "to logits", plain, usual});
  if (std::ranges::any_of(layout.links, [](const Link& link) { return link.score < 0; }))
    samples.push_back({"lowers the metric", plain, usual, true});
  samples.push_back({is_flow(c) ? percent(layout.strongest) + " of the flow"
                                : viz::number(layout.strongest, 2) + " in the metric",
                     plain, layout.thickest});
  if (!layout.passages.empty()) samples.push_back({"attention, from key to query", plain});
  return samples;
}

/// The lines of words under the drawing.
std::vector<std::string> notes_of(const ViewContext& c, const Numbers& n, float width) {
  const viz::Style style = style_of(c);
  std::vector<std::string> lines;
  for (const std::string& words : {kept_words(c, n), chosen_words(c, n)}) {
    if (words.empty()) continue;
    const auto wrapped = viz::wrap(style, words, style.small(), viz::FontStyle::regular, width);
    lines.insert(lines.end(), wrapped.begin(), wrapped.end());
  }
  return lines;
}

/// The drawing, and the words below it.
struct Drawing {
  Layout layout;
  std::vector<std::string> notes;
  std::vector<Sample> samples;
  viz::Rect area;
  float columns_y = 0, legend_y = 0, notes_y = 0;  ///< middles of first lines
};

Drawing draw(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small()), u = style.unit();
  Drawing d;
  d.area = drawing_area(c, n.circuit->rows > 1);
  d.layout = lay_out(c, *n.circuit, n.edges, d.area);
  d.notes = notes_of(c, n, d.area.w);
  if (!is_low(c)) d.samples = samples_of(c, d.layout);
  float y = d.area.bottom() + 2 * u + line / 2;
  d.columns_y = y;
  if (n.circuit->rows > 1) y += line + u;
  d.legend_y = y;
  d.notes_y =
      y + line * static_cast<float>(paint_legend(nullptr, c, d.samples, {d.area.x, y}, d.area.right()));
  return d;
}

Picture build(const ViewContext& c) {
  const auto question = question_of(c);
  if (auto words = waiting_for_run(c, question)) return *words;
  if (!question) return message(c, kComputing);
  if (has_no_loss(*c.run, c.options[kMetric])) return message(c, kNoLoss);
  if (question->cut.cut == CircuitCut::list_mean)
    if (auto words = waiting_for_means(c, means_of(c))) return *words;
  if (const std::string problem = question->cut.problem(*c.run); !problem.empty()) return message(c, problem);
  const auto n = numbers_of(c);
  if (auto words = waiting(c, *question, n.has_value())) return *words;
  if (n->edges.empty()) return message(c, "no edge on a path from the embeddings to the logits matters");
  const Drawing d = draw(c, *n);
  const viz::Style style = style_of(c);
  if (d.area.w < 16 * c.font_size || !d.layout.fits) return too_small(c, "for the circuit");
  Picture picture = blank(c);
  paint_title(picture, c, title_of(c, *n), subtitle_of(c, *n));
  paint_bands(picture, c, d.layout);
  paint_passages(picture, c, d.layout);
  for (const Link& link : d.layout.links)
    paint_link(picture.scene, c, link, link.place == n->chosen ? c.theme->accent : color_of(c, link.reads));
  picture.regions.push_back(edges_region(d.layout));
  paint_nodes(picture, c, d.layout);
  if (n->circuit->rows > 1) paint_columns(picture, c, d.layout, d.columns_y);
  paint_legend(&picture, c, d.samples, {d.area.x, d.legend_y}, d.area.right());
  float y = d.notes_y;
  const float line = style.line(style.small());
  for (const std::string& note : d.notes) {
    if (y + line / 2 > c.height) {
      picture.whole = false;
      break;
    }
    viz::add_muted(picture.scene, style, note, {d.area.x, y}, viz::Align::left, d.area.w);
    y += line;
  }
  return picture;
}

/// The link in a cell of the edges' region; null: none.
const Link* link_in(const Layout& layout, const Picture& picture, const viz::Hit& hit) {
  const int link = nearest_link(layout, region_of(picture, hit).cell_rect(hit.row, hit.col).center());
  return link < 0 ? nullptr : &layout.links[link];
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind != Gesture::Kind::click) return {};
  const auto n = numbers_of(c);
  if (!n) return {};
  const Layout layout = draw(c, *n).layout;
  const viz::Region* const region = hit == nullptr ? nullptr : &region_of(picture, *hit);
  if (region == nullptr || region->role == kEdge) {
    const Link* const link = region == nullptr ? nullptr : link_in(layout, picture, *hit);
    const int place = link == nullptr || link->place == n->chosen ? -1 : link->place;
    return place == n->chosen ? ViewActions{} : ViewActions{choose_edge(*n->circuit, place)};
  }
  if (region->id >= std::ssize(layout.nodes)) return {};
  const Node& node = layout.nodes[region->id];
  ViewActions actions;
  if (node.kind == Node::Kind::head) actions.push_back(SelectHead{node.layer, node.head});
  if (n->circuit->rows > 1 && node.row <= c.selection.query) actions.push_back(clicked_key(c, node.row));
  return actions;
}

std::string worth(const ViewContext& c, double score) {
  return is_flow(c) ? percent(score) : with_sign(score);
}

/// What a part's edges in the circuit carry.
void say_node(Facts& facts, const ViewContext& c, const Numbers& n, const Layout& layout, int index) {
  const Node& node = layout.nodes[index];
  facts.say(node.label + (n.circuit->rows > 1 ? " at " + token_name(c.run->tokens, node.row) : ""));
  double in = 0, out = 0;
  int ins = 0, outs = 0;
  for (const Link& link : layout.links) {
    if (link.to == index) in += n.score(link.place), ++ins;
    if (link.from == index) out += n.score(link.place), ++outs;
    if (link.to == index || link.from == index) paint_hovered(facts.overlay, c, link);
  }
  if (ins > 0) facts.value("through " + counted(ins, "edge") + " in", worth(c, in));
  if (outs > 0) facts.value("through " + counted(outs, "edge") + " out", worth(c, out));
  if (node.kind == Node::Kind::head)
    facts.commands.push_back({"Show " + node.label, {SelectHead{node.layer, node.head}}});
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  if (!n) return facts;
  const viz::Region& region = region_of(picture, hit);
  const Layout layout = draw(c, *n).layout;
  if (region.role == kNode) {
    if (region.id < std::ssize(layout.nodes)) say_node(facts, c, *n, layout, region.id);
    return facts;
  }
  const Link* const link = link_in(layout, picture, hit);
  if (link == nullptr) return facts;
  paint_hovered(facts.overlay, c, *link);
  facts.say(edge_name(c, *n->circuit, link->place));
  const double score = n->score(link->place);
  facts.said.push_back({.label = is_flow(c) ? "share" : "estimate",
                        .value = is_flow(c) ? percent(score) : exact(score),
                        .copied = plain(score)});
  if (link->place == n->chosen && n->without) {
    const double effect = n->circuit->value - *n->without;
    facts.said.push_back({.label = "exact", .value = exact(effect), .copied = plain(effect)});
  } else {
    facts.commands.push_back({"Show the exact effect", {choose_edge(*n->circuit, link->place)}});
  }
  for (const int end : {link->from, link->to}) {
    const Node& node = layout.nodes[end];
    if (node.kind == Node::Kind::head)
      facts.commands.push_back({"Show " + node.label, {SelectHead{node.layer, node.head}}});
  }
  return facts;
}

/// A row for each edge, the strongest first.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c, true);
  if (!n) return {};
  const Circuit& circuit = *n->circuit;
  const std::string unit = is_in_bits(c.options[kMetric]) ? "bits" : "";
  const bool by_position = circuit.rows > 1;
  Table result{"from", "to", Column("score", is_flow(c) ? "" : unit)};
  result.ranked_by = "score";
  if (by_position)
    result.columns.insert(result.columns.end() - 1, {key_column("position"), note_column("token")});
  EdgeList edges = n->edges;
  std::ranges::stable_sort(edges, std::ranges::greater(),
                           [&](int place) { return std::abs(circuit.score(place)); });
  for (const int place : edges) {
    const int edge = place % circuit.graph.edge_count(), row = place / circuit.graph.edge_count();
    TableRow cells;
    add_cells(cells, name_of(circuit.graph.writer(circuit.graph.writer_of(edge))),
              name_of(circuit.graph.reader(circuit.graph.reader_of(edge))));
    if (by_position) add_cells(cells, row, c.run->tokens.labels[row]);
    add_cells(cells, circuit.score(place));
    result.add(std::move(cells));
  }
  add_measured(result, c, measured_of(c, circuit));
  const CircuitCut cut = cut_of(c);
  result.fact("method", name_of(kCircuitMethods, c.options[kMethod]));
  if (c.options[kMethod] == CircuitMethod::integrated) result.about("steps", c.options[kSteps]);
  result.fact("elsewhere", name_of(kCircuitElsewhere, elsewhere_of(cut)));
  result.fact("uncut positions", CutOf{cut}.uncut_positions(*c.run));
  result.fact("parts", count_parts(circuit, n->edges));
  result.fact("all edges", circuit.edge_count());
  result.fact("value", circuit.value, unit);
  result.fact("value without edges", circuit.cut_value, unit);
  if (n->kept) {
    result.fact("value of circuit", *n->kept, unit);
    result.fact("faithfulness", faithfulness(circuit, *n->kept));
  }
  return result;
}

/// The shape of a printed figure: as high as the levels need.
float print_shape(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return 0.7F;
  const viz::Style style = style_of(c);
  const float words = 6 * style.line(style.small()), height = needed_height(c, *n->circuit, n->edges);
  return std::clamp((1.4F * height + words) / std::max(c.width, 1.F), 0.5F, 1.4F);
}

std::string refuse(const ViewContext& c) {
  if (c.run && has_no_loss(*c.run, c.options[kMetric])) return kNoLoss;
  const auto question = c.run ? question_of(c) : std::nullopt;
  return question ? question->cut.problem(*c.run) : "";
}

}  // namespace circuit_graph

View circuit_graph_view() {
  using namespace circuit_graph;
  View view =
      make_view(Group::output, "circuit_graph", "Circuit graph",
                "the heads, MLPs and embeddings that make a prediction, and the strongest edges between them",
                build, facts, table);
  view.options = {&kMethod, &kElsewhere,  &kMetric, &kMeasuredToken, &kOtherToken,
                  &kEdges,  &kByPosition, &kSteps,  &kChosen};
  view.named_tokens = named_tokens;
  view.with_other_token = &kMetric;
  view.with_other_token_value = static_cast<int>(GradientMetric::difference);
  view.on = on;
  view.refuse = refuse;
  view.print_shape = print_shape;
  view.on_baseline = [](const ViewContext& c) { return cut_of(c) == CircuitCut::second; };
  view.caption = {.prompt = true, .query = true};
  view.list_mean = &kElsewhere;
  view.list_mean_value = static_cast<int>(CircuitElsewhere::list_mean);
  view.landmarks = {landmark("parts", kNode), landmark("edges", kEdge)};
  return view;
}

}  // namespace headscope::app
