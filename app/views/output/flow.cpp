#include <numeric>

#include "app/run/analyses/logit_flow.h"
#include "app/views/output/flow_drawing.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app::flow {

using namespace flow_picture;

constexpr int kAutomatic = -1;
const auto kEdges = number_option(
    "flow-edges", "Edges", "wW",
    "the number of strongest attention edges drawn (auto: as many as have room for their names)", kAutomatic,
    0, 200, {.default_name = "auto", .steps = {0, 4, 8, 12, kAutomatic, 16, 24, 32, 48, 64, 100, 200}});
const auto kMinusMean =
    switch_option("flow-minus-mean", "Minus mean", "cC",
                  "subtract the mean of the vocabulary's logits, which does not change the prediction", false,
                  {.applies = [](const Options& options) { return options[kSubtractedToken].empty(); }});
/// Nullopt until it is known which token's logit it is.
std::optional<LogitFlowOf> question_of(const ViewContext& c) {
  auto measured = measured_logit(c);
  if (!measured) return std::nullopt;
  if (c.options[kMinusMean] && measured->metric == Metric::logit)
    measured->metric = Metric::difference, measured->other = TokenRef::mean();
  return LogitFlowOf{*measured};
}

/// The best guesses after the target, and the chosen token if it is not among them.
std::vector<GuessBar> bars_of(const ViewContext& c, const LogitFlow& flow) {
  constexpr int kCount = 5;
  const auto next = c.ask(NextAfter{flow.measured.position});
  if (!next || next->logits.empty()) return {};
  const double total = model::log_sum_exp(next->logits);
  std::vector<int> ids;
  for (const model::Guess& guess : model::largest_logits(next->logits, kCount)) ids.push_back(guess.id);
  if (std::ranges::find(ids, flow.measured.token.id()) == ids.end()) ids.back() = flow.measured.token.id();
  std::vector<GuessBar> bars;
  for (const int id : ids)
    bars.push_back({id, label_of(c, id), std::exp(static_cast<double>(next->logits[id]) - total),
                    id == flow.measured.token.id()});
  return bars;
}

/// All of one side of a comparison.
struct Numbers {
  std::shared_ptr<const LogitFlow> flow = {};
  std::vector<std::string> labels;  ///< of the tokens of its side
  std::vector<FlowEdge> edges;      ///< as many as are wanted, strongest first
  std::shared_ptr<const FlowLens> lens;
  std::vector<GuessBar> bars;
  double most_probable =
      0;  ///< the largest probability of the token along the target's ribbon, and of a guess

  /// The probability of the token at the input of a layer; NaN: not known.
  double probability(int position, int layer) const {
    return lens ? lens->at(position, layer).next_probability : NAN;
  }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const LogitFlow> flow) {
  Numbers n;
  n.flow = std::move(flow);
  n.labels = c.run->tokens.labels;
  constexpr int kMost = 24;
  n.edges = leading_edges(*n.flow, c.options[kEdges] == kAutomatic ? kMost : c.options[kEdges]);
  FlowLensOf lens{n.flow->measured.token.id(), {}};
  for (const TokenColumn& column : graph_with(*n.flow, n.edges).columns)
    lens.positions.push_back(column.position);
  n.lens = c.ask(lens);
  n.bars = bars_of(c, *n.flow);
  for (const GuessBar& bar : n.bars) n.most_probable = std::max(n.most_probable, bar.probability);
  for (int layer = 0; n.lens && layer <= n.flow->layers; ++layer)
    n.most_probable = std::max(n.most_probable, n.probability(n.flow->measured.position, layer));
  return n;
}

/// The other side of a comparison; nothing if there is none, or if the query has no counterpart there.
std::optional<ViewContext> other_side(const ViewContext& c) {
  ViewContext other = c;
  int& query = other.selection.query;
  const bool is_second = c.side == Side::baseline;
  query = is_second ? own_position(*c.asked, query) : c.run ? compared_query(c) : -1;
  if (query < 0) return std::nullopt;
  other.side = is_second ? Side::run : Side::baseline;
  if (!is_second) other.asked = c.run;
  other.run = is_second ? c.asked : c.run->baseline;
  return other;
}

/// How to read the numbers: what they hold fixed, and what they do not say.
constexpr const char* kReading[] = {"patterns and layer norm scales held fixed",
                                    "each MLP is a source of its own",
                                    "a contribution is not the effect of removing a head"};

/// "; edits +1.53": they are part of the rest and of what the embeddings add. Scaling adds nothing.
std::string words_of_edits(const LogitFlow& flow) {
  if (!flow.edited) return "";
  double sum = flow.final_edits;
  for (const std::vector<double>* edits : {&flow.input_edits, &flow.key_edits, &flow.query_edits})
    sum = std::accumulate(edits->begin(), edits->end(), sum);
  return sum == 0 ? "" : "; edits " + signed_words(sum);
}

/// With as many digits as the drawing has, or two if these say nothing.
std::string rounded(double value) {
  return value == 0 || std::abs(value) >= 0.01 ? viz::fixed_number(value, 2) : viz::number(value, 2);
}
void say(Facts& facts, std::string label, double value, Fact::Location location = Fact::Location::both) {
  facts.number(std::move(label), value, location).value = rounded(value);
}

/// The drawing of a flow. Both sides of a comparison have the same scales.
class Flow final : public Box {
 public:
  Flow(const Numbers& here, const Numbers* there, const ViewContext& c)
      : n_(here),
        there_(there),
        c_(c),
        all_(graph_with(*n_.flow, n_.edges)),
        automatic_(c.options[kEdges] == kAutomatic) {
    const double most = std::max(n_.most_probable, there ? there->most_probable : 0);
    for (const double end : {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0})
      if (colors_ = viz::linear_scale(end); most <= end) break;
    for (const Numbers* side : {&n_, there_})
      for (int i = 0; side && side->lens && i < std::ssize(side->lens->readings); ++i)
        colors_.values_above |= side->lens->readings[i].guesses.next_probability > colors_.high;
  }

  Wish width(const ViewContext& c) const override { return {16 * c.font_size, 66 * c.font_size}; }
  Wish height(const ViewContext& c, float width) const override {
    const auto edges = static_cast<float>(wanted(c, width, n_)), layers = static_cast<float>(n_.flow->layers);
    return {14 * c.font_size, (12 + 1.25F * edges + 1.5F * layers) * c.font_size};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    wanted_ = wanted(c, area.w, n_);
    drawing_ = drawing_in(c, area, n_);
    if (there_) {
      const auto other = drawing_in(c, area, *there_);
      if (other->fits() && other->scale() < drawing_->scale())
        drawing_ = drawing_in(c, area, n_, other->scale());
    }
    return drawing_->fits();
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    picture.exact_widths = true;
    picture.whole &=
        drawing_->whole() && ((automatic_ && !c.printed) || std::ssize(graph().edges) == wanted_);
    drawing_->paint(picture, c, [&](int column, float level) {
      const int position = drawing_->graph().columns[column].position;
      const int layer = std::clamp(static_cast<int>(level), 0, n_.flow->layers - 1);
      const double low = n_.probability(position, layer), high = n_.probability(position, layer + 1);
      const auto part = static_cast<double>(level - static_cast<float>(layer));
      return std::isnan(low) ? c.theme->field_line : colors_.color(*c.theme, low + (high - low) * part);
    });
  }
  std::string note() const override {
    const auto drawn = std::ssize(drawing_->graph().edges);
    return automatic_ || drawn == wanted_ ? "" : "room for " + counted(drawn, "edge");
  }

  std::vector<Swatch> looks(const ViewContext& c) const {
    const float u = style_of(c).unit(), thin = 0.4F * u;
    const viz::Theme& theme = *c.theme;
    const double scale = drawing_ ? drawing_->scale() : 1;
    double part = 0.01;
    for (const double step : {0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0})
      if (scale * step <= static_cast<double>(2.5F * u)) part = step;
    using layered::line_swatch;
    std::vector<Swatch> looks{
        line_swatch("this thickness = " + plain(part) + " in the logit", theme.bar,
                    static_cast<float>(scale * part)),
        line_swatch("adds", viz::sign_color(theme, 1), thin),
        line_swatch("takes away", viz::sign_color(theme, -1), thin, layered::dashes_of_negative(thin, u)),
        line_swatch("MLP (hatched: takes away)", mlp_color(theme, 1), 2 * u),
        line_swatch("rest: not drawn (width: sum of sizes; number: net)", theme.field_line, u)};
    const auto add = [&](std::string words) { looks.push_back({.words = std::move(words)}); };
    if (c.min_stroke_width > 0)
      add("thinnest lines: " + viz::number(static_cast<double>(c.min_stroke_width) / scale, 2) + " or less");
    if (std::ranges::any_of(n_.edges, is_stub)) add("stubs: attention to the first token");
    add("probability of “" + label_of(c_, n_.flow->measured.token.id()) + "” by the logit lens");
    looks.back().scale = colors_;
    const double all = n_.flow->edge_magnitude;
    add(grouped(std::ssize(graph().edges)) + " of " + grouped(n_.flow->edge_count) + " edges" +
        (all > 0 ? ", " + percent(graph().magnitude / all) + " of their thickness" : ""));
    if (c.printed) std::ranges::move(words(c), std::back_inserter(looks));
    return looks;
  }
  /// What a legend says besides, where there is room.
  std::vector<Swatch> words(const ViewContext& c) const {
    std::vector<Swatch> words{Swatch{"at tokens: their embeddings and MLPs"}};
    for (const char* const reading : kReading)
      if (!c.note_in_caption) words.push_back({reading});
    return words;
  }

  std::optional<Ref> ref_at(const Spot& at) const override {
    const viz::Region& region = at.region;
    if (region.role == kToken) return Ref{.query = region.id};
    if (region.role == kGuess) return Ref{.token = region.id};
    const Item* item = drawing_->at(at.cell().center());
    return item == nullptr ? std::nullopt : std::optional(item->ref);
  }
  void frame(viz::Scene& scene, const ViewContext& c, const Picture& picture, const Ref& ref) const override {
    for (const viz::Region& region : picture.regions)
      if ((region.role == kToken &&
           (region.id == ref.query || region.id == ref.key || region.id == ref.other)) ||
          (region.role == kGuess && region.id == ref.token))
        scene.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 1});
  }
  void add_facts(Facts& facts, const ViewContext& c, const Spot& at) const override {
    const viz::Region& region = at.region;
    const Graph& graph = drawing_->graph();
    if (region.role == kToken) {
      const int index = graph.column_of(region.id);
      if (index < 0) return facts.say("none of the edges drawn");
      say(facts, "its embedding", graph.columns[index].embedding);
      say(facts, "its MLPs", graph.columns[index].mlp);
    } else if (region.role == kGuess) {
      facts.say(percent(std::ranges::find(n_.bars, region.id, &GuessBar::id)->probability));
    } else if (const Item* item = drawing_->at(at.cell().center())) {
      if (item->lines.empty()) facts.overlay.add(viz::StrokeRect{item->rect, c.theme->text, 1, 1});
      layered::paint_lines(facts.overlay, *item, c.theme->text, c);
      if (item->kind == Item::Kind::stream)
        say_stream(facts, *item);
      else
        say_item(facts, *item);
    }
  }

 private:
  const Graph& graph() const { return drawing_ ? drawing_->graph() : all_; }
  static bool is_narrow(const ViewContext& c, float width) { return width < 40 * c.font_size; }
  /// Edges that are drawn if they have room.
  int wanted(const ViewContext& c, float width, const Numbers& n) const {
    const int all = static_cast<int>(std::ssize(n.edges));
    return automatic_ && is_narrow(c, width) ? std::min(12, all) : all;
  }
  /// As many of the edges as have room.
  std::unique_ptr<const Drawing> drawing_in(const ViewContext& c, viz::Rect area, const Numbers& n,
                                            std::optional<double> scale = {}) const {
    for (int count = wanted(c, area.w, n);; count -= std::max(1, count / 10)) {
      Input input{graph_with(*n.flow, {n.edges.begin(), n.edges.begin() + count}), n.labels};
      for (const FlowEdge& edge : input.graph.edges)
        input.edges.push_back(
            (is_narrow(c, area.w) ? "H" + std::to_string(edge.head) : head_name(edge.layer, edge.head)) +
            " " + signed_words(edge.value));
      input.names_all = automatic_ && count > 3;
      input.bars = n.bars;
      for (const Numbers* side : {&n_, there_})
        if (side && !side->bars.empty())
          input.longest_bar = std::max(input.longest_bar, side->bars[0].probability);
      auto drawing = std::make_unique<const Drawing>(std::move(input), area, c, scale);
      if (drawing->fits() || count == 0) return drawing;
    }
  }

  void say_stream(Facts& facts, const Item& item) const {
    const TokenColumn& column = drawing_->graph().columns[item.column];
    constexpr auto kTip = Fact::Location::tooltip;
    say(facts, token_name(c_.run->tokens, column.position) + " into layer " + std::to_string(item.layer),
        column.stream[item.layer]);
    say(facts, "into the next layer", column.stream[item.layer + 1], kTip);
    say(facts, "edges in that are drawn", column.arrived[item.layer], kTip);
    say(facts, "edges out that are drawn", column.sent[item.layer], kTip);
    say(facts, "MLP " + std::to_string(item.layer), column.mlps[item.layer], kTip);
    say(facts, "rest", column.rest[item.layer], kTip);
    if (!n_.lens) return;
    const model::PositionStatistics& lens = n_.lens->at(column.position, item.layer);
    const model::Guess& best = lens.top.front();
    facts.say("lens: “" + label_of(c_, n_.flow->measured.token.id()) + "” " + percent(lens.next_probability) +
                  ", best “" + label_of(c_, best.id) + "” " + percent(best.probability),
              kTip);
  }
  /// What adds to the logit.
  void say_item(Facts& facts, const Item& item) const {
    const Graph& graph = drawing_->graph();
    const TokenColumn& column = graph.columns[item.column];
    const bool mlp = item.kind == Item::Kind::mlp, rest = item.kind == Item::Kind::rest;
    const double value = mlp    ? column.mlps[item.layer]
                         : rest ? column.rest[item.layer]
                                : graph.edges[item.edge].value;
    const std::string layer = std::to_string(item.layer);
    if (mlp) facts.say("MLP " + layer + " at " + token_name(c_.run->tokens, column.position));
    if (rest) facts.say("rest in layer " + layer + ": edges that are not drawn, biases and edits");
    facts.say(
        (value < 0 ? "takes " + rounded(-value) + " from the " : "adds " + rounded(value) + " to the ") +
        (n_.flow->measured.metric == Metric::logit ? "logit" : "difference"));
    facts.number("contribution", value, Fact::Location::menu);
    if (n_.flow->logit != 0)
      facts.say(viz::fixed_number(100 * value / n_.flow->logit, 1) + " % of the logit");
    if (!mlp) return;
    // How its number relates to the one that Attribution shows.
    const double direct = column.position == graph.target ? n_.flow->direct_mlps[item.layer] : 0;
    facts.tip(rounded(direct) + " directly, as in Attribution, and " + rounded(value - direct) +
              " through later attention" + (n_.flow->edited ? " and edits" : ""));
  }

  const Numbers& n_;
  const Numbers* there_;  ///< the other side; null: none
  const ViewContext& c_;
  Graph all_;  ///< with all edges that are wanted
  bool automatic_;
  viz::ColorScale colors_;
  int wanted_ = 0;
  std::unique_ptr<const Drawing> drawing_;
};

/// Edges open their head, streams select key and layer, guesses are measured.
ViewActions choose(const ViewContext& c, const Ref& ref) {
  if (ref.token >= 0) return {SetOption{&kMeasuredToken, TokenRef::of(ref.token)}};
  if (ref.layer < 0) return choice_of(ref, c);
  const bool stream = ref.other >= 0;
  ViewActions actions =
      choice_of(stream ? Ref{.layer = ref.layer, .head = c.selection.head, .key = ref.other} : ref, c);
  if (!stream) actions.emplace_back(ShowPart{Part::attention});
  return actions;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto flow = it.need(question_of(c));
  if (!it.message.empty()) return;
  it.table = [&c, flow] { return table_of(c, *flow); };
  if (c.fonts == nullptr) return;  // only a picture needs the lens
  const Numbers& n = it.keep(numbers_of(c, flow));
  const Numbers* there = nullptr;
  if (const auto side = other_side(c)) {
    const auto asked = question_of(*side);
    const auto other = asked ? side->ask(*asked) : nullptr;
    if (other)
      there = &it.keep(numbers_of(*side, other));
    else if (!asked || side->failure(*asked).empty())
      it.message = kComputing;
  }
  it.title = "Flow to the " + metric_words(c, flow->measured);
  it.subtitle = "after " + token_name(c.run->tokens, flow->measured.position) + "; " +
                (flow->measured.metric == Metric::logit ? "logit " : "difference ") +
                viz::fixed_number(flow->logit, 2) + words_of_edits(*flow) + "; temperature 1";
  it.choose = choose;
  it.on = arrows({1, 0});
  auto drawing = std::make_unique<Flow>(n, there, c);
  const Flow& drawn = *drawing;
  auto legend = swatches([&drawn](const ViewContext& page) { return drawn.looks(page); });
  auto words = swatches([&drawn](const ViewContext& page) { return drawn.words(page); });
  it.place_facts = [&c](Facts& facts, const Ref& ref) {
    if (ref.other >= 0) add_choice_of_key(facts.commands, c, ref.other, c.selection.query);
  };
  it.body = rows(boxes(std::move(drawing), may_be_left_out(std::move(legend), "the legend", 2),
                       c.printed ? nullptr : may_be_left_out(std::move(words), "the notes")));
}

View view() {
  View view = make_view("flow", "Flow", declare,
                        "a logit as the sum of what embeddings, MLPs and biases add to it, and the attention "
                        "edges that carry it");
  view.options = {&kMeasuredToken, &kSubtractedToken, &kMinusMean, &kEdges};
  for (const char* const words : kReading)
    view.caption.note += (view.caption.note.empty() ? "" : "; ") + std::string(words);
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::flow
