#include "app/views/output/circuit_drawing.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::circuit_graph {

using namespace circuit_picture;
using model::StreamReader;

enum Role { kDrawing };

// The choices of circuits, with their names on the command line and in the view.
constexpr ChoiceOf<CircuitMethod> kCircuitMethods[] = {
    {CircuitMethod::integrated, "integrated", "Integrated",
     "Edge attribution patching with integrated gradients: the mean gradient along the path between the two "
     "runs' embeddings, along each edge, times the edge's change"},
    {CircuitMethod::attribution, "attribution", "Attribution",
     "Edge attribution patching: the metric's gradient along each edge times the edge's change"},
    {CircuitMethod::flow, "flow", "Information flow",
     "The share of what reaches the logits that came along each edge, without gradients"}};
/// What edges carry outside a circuit, unless it depends on the run.
constexpr ChoiceOf<CircuitCut> kCuts[] = {
    {CircuitCut::second, "second", "Second prompt", "What the same part wrote in the second prompt"},
    {CircuitCut::mean, "mean", "Mean", "What the part writes on average over the prompt's positions"},
    {CircuitCut::zero, "zero", "Zero", "Zeros"},
    {CircuitCut::list_mean, "list-mean", "List mean",
     "What the part writes on average over all positions of the open list of prompts"}};
static_assert(in_order(kCircuitMethods));

const auto kMethod = choice_option<CircuitMethod>("circuit-method", "Method", "cC",
                                                  "how much an edge between two parts of the model matters",
                                                  choices_of(kCircuitMethods), {.flag = "method"});
bool is_integrated(const Options& options) {
  return options[kMethod] == CircuitMethod::integrated;
}
const auto kElsewhere = choice_option<int>(
    "circuit-elsewhere", "Elsewhere", "wW", "what edges outside the circuit carry",
    choices_of(kCuts, {{"auto", "Auto",
                        "The second prompt if there is one, else the mean; zeros for a single token"}}),
    {.flag = "elsewhere", .advanced = true});
const auto kMetric =
    choice_option<Metric>("circuit-metric", "Metric", "hH", "the number that edges are ranked by",
                          choices_of(kGradientMetrics), {.flag = "metric", .default_value = 1});
const auto kEdges = number_option(
    "circuit-edges", "Edges", "xX", "maximum number of edges, strongest first; at least those of one path",
    30, 1, 1000,
    {.flag = "edges", .steps = {1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000}});
const auto kByPosition = switch_option("circuit-positions", "By position", "oO",
                                       "show each part separately at every position, in columns of tokens",
                                       false, {.advanced = true});

const auto kSteps = number_option(
    "circuit-steps", "Steps", "pP", "number of gradients between the two runs' embeddings", CircuitOf::kSteps,
    1, CircuitOf::kMostSteps,
    {.flag = "steps", .steps = {1, 2, 3, 5, 10, 20, 50}, .applies = is_integrated, .advanced = true});

/// What edges carry that are cut.
CircuitCut cut_of(const ViewContext& c) {
  if (const int chosen = c.options[kElsewhere]; chosen > 0) return kCuts[chosen - 1].value;
  return c.run ? CutOf::default_for(*c.run).cut : CircuitCut::mean;
}

/// The means of a list that such edges carry, which have to be known first. There must be a run.
MeansOverList means_of(const ViewContext& c) {
  return CutOf::means_over(over_list(c), c.config());
}

/// Nothing until it is known which tokens are measured.
std::optional<CircuitOf> question_of(const ViewContext& c) {
  const auto measured = measured_by(c, c.options[kMetric]);
  if (!measured) return std::nullopt;
  CircuitOf question{*measured, c.options[kMethod]};
  question.cut.cut = cut_of(c);
  if (question.cut.cut == CircuitCut::list_mean && c.run)
    question.cut.mean_over = mean_source(c, means_of(c));
  question.steps = is_integrated(c.options) ? c.options[kSteps] : CircuitOf::kSteps;
  question.by_position = c.options[kByPosition];
  return question;
}

/// The edge that was clicked: its place in the circuit.
const auto kChosen = gesture_option("circuit-edge", "Edge", "the edge whose exact effect is shown", -1, -1,
                                    1 << 30, "none", {.reset_on_prompt_change = true});

/// The circuit's edges, and what they keep of the metric.
struct Numbers {
  std::shared_ptr<const Circuit> circuit;
  EdgeList edges;                 ///< those that are asked for
  Patterns patterns;              ///< by position: of the heads that they lead to, as far as they are known
  std::optional<double> kept;     ///< the metric with these alone
  int chosen = -1;                ///< the chosen edge's place; -1: none
  std::optional<double> without;  ///< the metric without that edge
  double score(int place) const { return static_cast<double>(circuit->score(place)); }
};

Numbers numbers_of(const ViewContext& c, const CircuitOf& question, std::shared_ptr<const Circuit> circuit) {
  Numbers n{std::move(circuit), {}, {}, {}, -1, {}};
  n.edges = strongest_edges(*n.circuit, c.options[kEdges]);
  for (const int place : n.edges) {
    const StreamReader reader = edge_at(*n.circuit, place).to;
    if (n.circuit->rows == 1 || !reader.is_head()) continue;
    if (auto pattern = c.ask(PatternOf{reader.layer, reader.head}))
      n.patterns[{reader.layer, reader.head}] = std::move(pattern);
  }
  CutMetricOf kept{n.circuit->measured, question.cut, n.circuit->rows, n.edges, false};
  if (const auto answer = c.ask(kept)) n.kept = *answer;
  const int chosen = c.options[kChosen];
  if (!std::ranges::binary_search(n.edges, chosen)) return n;
  n.chosen = chosen;
  kept.edges = {chosen};
  kept.all_others = true;
  if (const auto answer = c.ask(kept)) n.without = *answer;
  return n;
}

std::string edge_name(const ViewContext& c, const Circuit& circuit, int place) {
  const auto [row, from, to] = edge_at(circuit, place);
  return name_of(from) + " → " + name_of(to) +
         (circuit.rows > 1 ? " at " + token_name(c.run->tokens, row) : "");
}

bool is_flow(const ViewContext& c) {
  return c.options[kMethod] == CircuitMethod::flow;
}

/// "30 of 3,628 edges, between 14 parts, keep 87 % of the difference in the metric: 3.41; all edges: …".
std::string kept_words(const ViewContext& c, const Numbers& n) {
  const auto count = std::ssize(n.edges);
  std::string words = std::to_string(count) + " of " + counted(n.circuit->edge_count(), "edge") +
                      ", between " + counted(count_parts(*n.circuit, n.edges), "part");
  if (!n.kept) return words + ": computing what they keep…";
  const CircuitCut cut = cut_of(c);
  const double part = faithfulness(*n.circuit, *n.kept);
  const auto shown = [&](double value) { return viz::number(value, 4); };
  words += count == 1 ? ", keeps " : ", keep ";
  if (std::isfinite(part)) words += viz::fixed_number(100 * part, 0) + " % of the difference in the ";
  words += (is_flow(c) ? metric_words(c, n.circuit->measured) : std::string("metric")) + ": " +
           shown(*n.kept) + "; all edges: " + shown(n.circuit->value) +
           "; none: " + shown(n.circuit->cut_value) + "; cut edges: " +
           (cut == CircuitCut::second ? "second prompt's values"
            : cut == CircuitCut::mean ? "means over the prompt"
            : cut == CircuitCut::zero ? "zeros"
                                      : mean_words(c, mean_source(c, means_of(c))));
  if (const int uncut = CutOf{cut}.uncut_positions(*c.run); uncut > 0)
    words += "; not cut: " + counted(uncut, "position") + " without a counterpart";
  if (count > c.options[kEdges]) words += "; no path has fewer edges of that strength";
  return words;
}

/// What the chosen edge does, or the strongest one.
std::string edge_words(const ViewContext& c, const Numbers& n) {
  const auto strength = [&n](int place) { return std::abs(n.score(place)); };
  const int place = n.chosen < 0 ? *std::ranges::max_element(n.edges, {}, strength) : n.chosen;
  const double score = n.score(place);
  std::string words = edge_name(c, *n.circuit, place) + ": ";
  words += is_flow(c) ? "share " + percent(score) : "estimate " + with_sign(score, 4);
  if (n.chosen < 0) return "strongest: " + words;
  if (!n.without) return words + ", exact: computing…";
  return words + ", exact " + with_sign(n.circuit->value - *n.without, 4) + ": " +
         viz::number(n.circuit->value, 4) + " with it, " + viz::number(*n.without, 4) + " without";
}

std::vector<Swatch> looks_of(const ViewContext& c, bool of_flow, const Graph& graph) {
  const float u = style_of(c).unit(), usual = 0.8F * u;
  const viz::Color color = c.theme->text_muted;
  const std::vector<Link>& links = graph.links;
  const auto strongest = std::abs(static_cast<double>(links.back().score));
  std::vector<Swatch> looks{layered::line_swatch(
      of_flow ? percent(strongest) + " of the flow" : viz::number(strongest, 2) + " in the metric", color,
      kThickest * u)};
  if (std::ranges::any_of(links, [](const Link& link) { return link.score < 0; }))
    looks.push_back(layered::line_swatch("lowers it", color, usual, layered::dashes_of_negative(usual, u)));
  for (const auto& [reads, words] : {std::pair(StreamReader::Kind::q, "to queries"),
                                     {StreamReader::Kind::k, "to keys"},
                                     {StreamReader::Kind::v, "to values"},
                                     {StreamReader::Kind::logits, "to MLPs, logits"}})
    if (std::ranges::find(links, reads, &Link::reads) != links.end())
      looks.push_back(layered::line_swatch(words, color_of(*c.theme, reads), usual));
  if (!graph.passages.empty())
    looks.push_back(
        layered::line_swatch("attention, from key to query", color, 0.4F * u, {0.4F * u, 0.75F * u}));
  return looks;
}

/// The drawing of as many of the strongest edges as have room.
class Circuits final : public Box {
 public:
  explicit Circuits(const Numbers& numbers) : n_(numbers), all_(*n_.circuit, n_.edges, n_.patterns) {}

  const Graph& all() const { return all_; }

  Wish width(const ViewContext& c) const override { return {16 * c.font_size, 66 * c.font_size}; }
  Wish height(const ViewContext& c, float) const override {
    constexpr float kLevel = 3.1F, kGood = 36;  // ems
    return {8 * c.font_size, std::max(kGood, kLevel * static_cast<float>(all_.levels)) * c.font_size};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    const auto fits = [&](int count) {
      drawn_.emplace(*n_.circuit, strongest_edges(*n_.circuit, count), n_.patterns);
      return drawn_->place(c, area);
    };
    const auto counts = std::views::iota(1, static_cast<int>(std::ssize(n_.edges)) + 1);
    if (fits(counts.back())) return true;
    const auto too_many = std::ranges::partition_point(counts, fits);
    return too_many != counts.begin() && fits(*too_many - 1);
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    drawn_->paint(picture, c, n_.chosen);
    picture.regions.push_back(layered::region_of_points(kDrawing, drawn_->area));
    picture.whole &= drawn_->links.size() == n_.edges.size();
  }
  /// "11 of 30 edges drawn; ", the strongest ones; empty: all are drawn.
  std::string count_words() const {
    const std::size_t count = drawn_->links.size(), all = n_.edges.size();
    return count == all ? "" : std::to_string(count) + " of " + std::to_string(all) + " edges drawn; ";
  }

  std::optional<Ref> ref_at(const Spot& at) const override {
    constexpr float kReach = 16;  // of the mouse, in logical pixels
    if (const int node = node_at(at); node >= 0) return drawn_->nodes[node].ref;
    const int link = layered::shape_at(drawn_->links, at.cell().center(), kReach);
    return link < 0 ? std::nullopt : std::optional(drawn_->links[link].ref);
  }
  void add_facts(Facts& facts, const ViewContext& c, const Spot& at) const override {
    if (const int node = node_at(at); node >= 0) return say_node(facts, c, node);
    const auto ref = ref_at(at);
    if (ref) say_link(facts, c, *std::ranges::find(drawn_->links, ref->other, &Link::place));
  }

 private:
  int node_at(const Spot& at) const { return layered::shape_at(drawn_->nodes, at.cell().center(), 0); }
  /// A link under the mouse: wider, in its own colour.
  static void mark(viz::Scene& scene, const ViewContext& c, const Link& link) {
    Link wider = link;
    wider.lines[0].width += 0.6F * style_of(c).unit();
    layered::paint_lines(scene, wider, color_of(*c.theme, link.reads), c);
  }

  /// What a part's edges in the circuit carry.
  void say_node(Facts& facts, const ViewContext& c, int index) const {
    const Graph& graph = (*drawn_);
    if (!graph.nodes[index].is_head()) facts.say(graph.nodes[index].name());
    for (const bool in : {true, false}) {
      double sum = 0;
      int count = 0;
      for (const Link& link : graph.links) {
        if ((in ? link.to : link.from) != index) continue;
        sum += n_.score(link.place), ++count;
        mark(facts.overlay, c, link);
      }
      if (count > 0)
        facts.value("through " + counted(count, "edge") + (in ? " in" : " out"),
                    is_flow(c) ? percent(sum) : with_sign(sum, 4));
    }
  }

  void say_link(Facts& facts, const ViewContext& c, const Link& link) const {
    mark(facts.overlay, c, link);
    facts.say(edge_name(c, *n_.circuit, link.place));
    const double score = n_.score(link.place);
    facts.number(is_flow(c) ? "share" : "estimate", score).value = is_flow(c) ? percent(score) : exact(score);
    if (link.place == n_.chosen && n_.without)
      facts.number("exact", n_.circuit->value - *n_.without);
    else
      facts.commands.push_back({"Show the exact effect", {SetOption{&kChosen, link.place}}});
    for (const int end : {link.from, link.to})
      if (const Node& node = drawn_->nodes[end]; node.is_head())
        facts.commands.push_back({"Show " + node.name(), {SelectHead{node.part->layer, node.part->head}}});
  }

  const Numbers& n_;
  Graph all_;  ///< of all edges that are asked for
  std::optional<Graph> drawn_;
};

/// A row for each edge, the strongest first.
Table table(const ViewContext& c, const Numbers& n) {
  const Circuit& circuit = *n.circuit;
  const std::string unit = is_in_bits(c.options[kMetric]) ? "bits" : "";
  EdgeList edges = n.edges;
  std::ranges::stable_sort(edges, std::ranges::greater(),
                           [&](int place) { return std::abs(circuit.score(place)); });
  List list(c, kDrawing, static_cast<int>(std::ssize(edges)));
  list.file("from", [&](int row) { return name_of(edge_at(circuit, edges[row]).from); });
  list.file("to", [&](int row) { return name_of(edge_at(circuit, edges[row]).to); });
  if (circuit.rows > 1) {
    const auto position = [&](int row) { return edge_at(circuit, edges[row]).row; };
    list.file(key_column("position"), position);
    list.file(note_column("token"), [&](int row) { return c.run->tokens.labels[position(row)]; });
  }
  list.file({"score", is_flow(c) ? "" : unit}, [&](int row) { return circuit.score(edges[row]); });
  Table result = list.exported("score");
  add_measured(result, c, circuit.measured);
  const CircuitCut cut = cut_of(c);
  result.fact("method", name_of(kCircuitMethods, c.options[kMethod]));
  if (is_integrated(c.options)) result.about("steps", c.options[kSteps]);
  result.fact("elsewhere", name_of(kCuts, cut));
  result.fact("uncut positions", CutOf{cut}.uncut_positions(*c.run));
  result.fact("parts", count_parts(circuit, n.edges));
  result.fact("all edges", circuit.edge_count());
  result.fact("value", circuit.value, unit);
  result.fact("value without edges", circuit.cut_value, unit);
  if (n.kept) {
    result.fact("value of circuit", *n.kept, unit);
    result.fact("faithfulness", faithfulness(circuit, *n.kept));
  }
  return result;
}

/// Why the run has no such circuit; empty: it has one, as far as it is known.
std::string refuse(const ViewContext& c) {
  const auto question = c.run ? question_of(c) : std::nullopt;
  return question ? question->cut.problem(*c.run) : "";
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto question = question_of(c);
  if (c.run && cut_of(c) == CircuitCut::list_mean && !has_list_means(it, means_of(c))) return;
  it.message = refuse(c);
  const auto circuit = it.message.empty() ? it.need(question) : nullptr;
  if (!circuit) return;
  const Numbers& n = it.keep(numbers_of(c, *question, circuit));
  it.table = [&c, &n] { return table(c, n); };
  if (n.edges.empty()) {
    it.message = "no edge has an effect with these options";
    return;
  }
  it.title =
      is_flow(c) ? "Information flow to the prediction" : "Circuit: " + metric_words(c, circuit->measured);
  if (token_count(c.options[kMetric]) > 0)
    it.subtitle = "after " + token_name(c.run->tokens, c.selection.query) + "; ";
  it.subtitle += "width: ";
  it.subtitle += is_flow(c) ? "share at the logits" : is_integrated(c.options) ? "EAP-IG" : "EAP";
  if (is_integrated(c.options) && !c.in_pane) it.subtitle += ", " + counted(c.options[kSteps], "step");
  it.choose = [&n](const ViewContext& now, const Ref& ref) {
    if (ref.other < 0) return choice_of(ref, now);
    return ViewActions{SetOption{&kChosen, ref.other == n.chosen ? -1 : ref.other}};
  };
  auto drawing = std::make_unique<Circuits>(n);
  // Ems: a page's height in which the drawing can spare the legend's room; a line, which has its place before
  // an edge is chosen, so that a click moves nothing.
  constexpr float kWithLegend = 23, kLine = 1.2F;
  auto edge = custom({0, 60}, {kLine, kLine, kLine},
                     [words = edge_words(c, n), hints = n.chosen < 0, &drawn = *drawing](
                         Picture& picture, const ViewContext& page, viz::Rect area) {
                       const char* hint = hints && page.in_pane ? "; click an edge: exact effect" : "";
                       viz::add_muted(picture.scene, style_of(page), drawn.count_words() + words + hint,
                                      {area.x, area.center().y}, viz::Align::left, area.w);
                     });
  auto legend = swatches(
      [&c, &all = drawing->all()](const ViewContext& page) { return looks_of(page, is_flow(c), all); },
      kWithLegend);
  it.body = rows(boxes(std::move(drawing), std::move(edge),
                       may_be_left_out(std::move(legend), "the legend", 2), notes({kept_words(c, n)})));
}

View view() {
  View view = make_view(
      "circuit_graph", "Circuit graph", declare,
      "the heads, MLPs and embeddings that make a prediction, and the strongest edges between them");
  view.options = {&kMethod, &kElsewhere,  &kMetric, &kMeasuredToken, &kOtherToken,
                  &kEdges,  &kByPosition, &kSteps,  &kChosen};
  view.metric = &kMetric;
  view.refuse = refuse;
  view.on_baseline = [](const ViewContext& c) { return cut_of(c) == CircuitCut::second; };
  view.list_mean = {&kElsewhere, static_cast<int>(std::size(kCuts))};
  view.landmarks = {{"edges", kDrawing}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::circuit_graph
