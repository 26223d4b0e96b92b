#include <array>
#include <numeric>

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/parts.h"
#include "model/kernels/kernels.h"
#include "viz/charts/function_plot.h"

namespace headscope::app::mlp {

/// Roles of regions. strip: id and row: a Vector, col: component. neuron: id: its index among the strongest.
/// curve: col: see viz::x_of_column.
enum Role { kStrip, kNeuron, kCurve };
const auto kNeurons = make_option<int>("neurons", "Neurons", "number of neurons listed, strongest first",
                                       {.default_value = 16, .low = 1, .high = 200, .keys = "wW"});

constexpr std::size_t kTokens = 3;  // in each direction, in the table

enum Vector { kInput, kBefore, kAfter, kOutput };
constexpr std::size_t kVectors = 4;

/// How a neuron moves tokens' logits here: the answer times `times`.
struct LogitEffect {
  std::shared_ptr<const NeuronTokens> tokens = nullptr;  ///< null: not known
  float times = 0;
  std::string why_missing = kComputing;

  /// The tokens whose logits it raises or lowers most, in descending order; none while pending.
  std::span<const model::Guess> pushed(bool up) const {
    if (!tokens) return {};
    return (times >= 0) == up ? tokens->up : tokens->down;
  }
  /// The neuron's direct contribution to a token's logit, without the final layer norm.
  double push(const model::Guess& token) const {
    return static_cast<double>(times) * static_cast<double>(token.logit);
  }
};

struct Numbers {
  std::shared_ptr<const BlockPass> block;
  std::array<std::span<const float>, kVectors> vectors;
  std::vector<int> order;            ///< the strongest neurons, by descending magnitude of their output
  std::vector<LogitEffect> effects;  ///< of these
};

/// `listed`: how many neurons to list, at most all; those of output 0 are left out, but for the first.
Numbers numbers_of(std::shared_ptr<const BlockPass> block, int listed) {
  Numbers n;
  n.vectors = {block->ln_2, block->mlp_pre, block->mlp_post, block->mlp_out};
  const auto post = n.vectors[kAfter];
  n.order.resize(post.size());
  std::iota(n.order.begin(), n.order.end(), 0);
  const auto strength = [&](int neuron) {
    const float v = std::abs(post[neuron]);
    return std::isnan(v) ? std::numeric_limits<float>::infinity() : v;
  };
  const auto stronger = [&](int a, int b) { return std::pair(-strength(a), a) < std::pair(-strength(b), b); };
  std::ranges::partial_sort(n.order, n.order.begin() + listed, stronger);
  n.order.resize(listed);
  // Edits of some neurons leave all others as they were: those are not listed in the order of their numbers.
  while (n.order.size() > 1 && strength(n.order.back()) == 0) n.order.pop_back();
  n.block = std::move(block);
  return n;
}

/// "GELU", as the configuration has it.
std::string activation_name(const model::Config& config) {
  return std::string(model::function_of(config.activation).shown);
}

viz::PlotPoint point_of(const Numbers& n, int neuron) {
  return {static_cast<double>(n.vectors[kBefore][neuron]), static_cast<double>(n.vectors[kAfter][neuron])};
}

/// The curve of the nonlinearity with all neurons on it, and dots for those that are listed.
viz::FunctionPlot plot_of(const model::Config& config, const Numbers& n, const viz::Theme& theme) {
  viz::FunctionPlot plot;
  const viz::ValueRange x = viz::value_range(viz::Matrix::row(n.vectors[kBefore])),
                        y = viz::value_range(viz::Matrix::row(n.vectors[kAfter]));
  const double margin_x = 0.04 * std::max(1e-6, static_cast<double>(x.high) - static_cast<double>(x.low));
  plot.x.low = std::min(-1.0, static_cast<double>(x.low) - margin_x);
  plot.x.high = std::max(1.0, static_cast<double>(x.high) + margin_x);
  constexpr int kCurvePoints = 200;
  std::vector<float> at(kCurvePoints + 1);
  for (int i = 0; i <= kCurvePoints; ++i)
    at[i] = static_cast<float>(plot.x.low + (plot.x.high - plot.x.low) * i / kCurvePoints);
  std::vector<float> of = at;
  model::activate(model::fastest_kernels().rows, config.activation, of);
  for (std::size_t i = 0; i < at.size(); ++i)
    plot.curve.push_back({static_cast<double>(at[i]), static_cast<double>(of[i])});
  const viz::ValueRange drawn = viz::united(y, viz::value_range(viz::Matrix::row(of)));
  const double margin_y = 0.05 * (static_cast<double>(drawn.high) - static_cast<double>(drawn.low));
  plot.y.low = static_cast<double>(drawn.low) - margin_y;
  plot.y.high = static_cast<double>(drawn.high) + margin_y;
  plot.curve_color = theme.text_muted;
  plot.dot_color = theme.bar;
  plot.point_color = theme.text_muted.with_alpha(150);
  for (int i = 0; i < std::ssize(n.vectors[kBefore]); ++i) plot.points.push_back(point_of(n, i));
  for (const int neuron : n.order) plot.dots.push_back(point_of(n, neuron));
  plot.x_title = "before";
  plot.y_title = "after " + activation_name(config) + "; dots: listed";
  return plot;
}

/// The selected layer's block on one side; null while pending.
std::shared_ptr<const BlockPass> block_of(const ViewContext& c, Side side, int position) {
  const auto pass = c.ask_on(side, PassOfToken{position});
  return pass ? std::shared_ptr<const BlockPass>(pass, &pass->blocks[c.selection.layer]) : nullptr;
}

/// Whether this is the difference of two models, whose weights differ.
bool is_between_models(const ViewContext& c) {
  return c.differs() && compares_models(*c.run);
}

LogitEffect logit_effect_of(const Content& it, const Numbers& n, int neuron) {
  const ViewContext& c = it.c;
  TokensOfNeuron question{c.selection.layer, neuron};
  float times = n.vectors[kAfter][neuron];
  if (is_between_models(c)) {
    const auto after = block_of(c, Side::run, c.chosen_query),
               before = block_of(c, Side::baseline, compared_query(c));
    if (!after || !before) return {};
    question = {c.selection.layer, neuron, after->mlp_post[neuron], before->mlp_post[neuron]};
    times = 1;
  }
  return {c.ask(question), times, it.why_missing(question)};
}

const ListRows kRows{kNeuron, first_row_option("first-neuron", true), "strongest neurons"};

/// Adds the token whose logit a neuron raises or lowers most, or second, or third, and its push.
void add_pushed(List& list, const ViewContext& c, const Numbers& n, bool up, std::size_t place) {
  const auto pushed = [&n, up, place](int row) -> const model::Guess* {
    const auto tokens = n.effects[row].pushed(up);
    return place < tokens.size() ? &tokens[place] : nullptr;
  };
  const auto unless_missing = [pushed](auto cell) {
    return [pushed, cell](int row) { return pushed(row) ? std::optional(cell(row)) : std::nullopt; };
  };
  const auto push =
      unless_missing([&n, pushed](int row) { return static_cast<float>(n.effects[row].push(*pushed(row))); });
  const auto label = [&c, pushed](int row) { return pushed(row) ? label_of(c, pushed(row)->id) : ""; };
  const std::string file = (up ? "up " : "down ") + std::to_string(place + 1) + " ";
  const float em = c.font_size;
  list.file(note_column(file + "id"), unless_missing([pushed](int row) { return pushed(row)->id; }));
  const char* heading = place > 0 ? "" : up ? "pushes up" : "pushes down";
  list.text(heading, (up ? 8 : 7) - 3 * static_cast<int>(place), label,
            // Not as the texts need, because they arrive one after the other.
            {.file = note_column(file + "token"), .least = 6.5F * em, .most = 8.5F * em, .enough = 7 * em})
      .detail = [push](int row) { return push(row) ? with_sign(double{*push(row)}, 2) : ""; };
  list.file(note_column(file + "push"), push);
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const std::string prefix = delta(c), file_prefix = difference_column_prefix(c);
  const auto value = [&n](Vector vector) {
    return [&n, vector](int row) { return n.vectors[vector][n.order[row]]; };
  };
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.order.size()));
  list->least_width = 25, list->good_width = 60, list->least_rows = 5;
  list->refers_to = [&c, &n](int row) { return Ref{.layer = c.selection.layer, .neuron = n.order[row]}; };
  list->file(note_column("rank"), [](int row) { return row + 1; });
  list->number("neuron", 10, n.order, {.file = key_column("neuron"), .digits = 0, .tip = false});
  list->number(prefix + "before", 6, value(kBefore), {.file = file_prefix + "before"});
  list->bar(prefix + "after", 9, value(kAfter),
            {.file = file_prefix + "after", .axis = true, .most = 14 * c.font_size, .is_signed = true});
  const auto adds = [&n](int row) {
    const LogitEffect& of = n.effects[row];
    return of.tokens ? std::abs(static_cast<double>(of.times)) * static_cast<double>(of.tokens->norm) : 0;
  };
  const float width = 3.6F * c.font_size;
  list->number("adds", 1, adds, {.least = width, .most = width, .blank = [&n](int row) {
                                   return n.effects[row].tokens == nullptr;
                                 }});
  for (const bool up : {true, false})
    for (std::size_t place = 0; place < kTokens; ++place) add_pushed(*list, c, n, up, place);
  if (c.differs()) list->table.row_names = "neurons that differ most";
  return list;
}

/// A row for each listed neuron, the strongest first.
Table table(const ViewContext& c, const Numbers& n, const List& list) {
  Table result = list.exported(difference_column_prefix(c) + "after");
  result.about("layer", c.selection.layer);
  add_query_facts(result, c);
  result.fact("norm of all neurons before", norm_of(n.vectors[kBefore]));
  result.fact("norm of all neurons after", norm_of(n.vectors[kAfter]));
  result.fact("norm of the input", norm_of(n.vectors[kInput]));
  result.fact("norm of the output", norm_of(n.vectors[kOutput]));
  return result;
}

void add_pushes(Facts& facts, const ViewContext& c, const LogitEffect& of) {
  std::string copied;
  for (const bool up : {true, false}) {
    std::string words;
    for (const model::Guess& token : of.pushed(up)) {
      const std::string label = label_of(c, token.id);
      words += (words.empty() ? "“" : ", “") + label + "” " + with_sign(of.push(token), 2);
      copied += label + "\t" + plain(static_cast<float>(of.push(token))) + "\n";
    }
    if (of.tokens) facts.tip((up ? "pushes up " : "pushes down ") + words);
  }
  facts.copy("its tokens and pushes", copied);
}

std::unique_ptr<Strips> strips_of(const ViewContext& c, const Numbers& n) {
  using model::Site;
  const std::string f = activation_name(c.config());
  const std::array<std::pair<std::string, Site>, kVectors> vectors{
      {{"ln_2, normalized", Site::ln2_normalized},
       {"before " + f, Site::mlp_pre},
       {"after " + f, Site::mlp_post},
       {"mlp_out", Site::mlp_out}}};
  std::vector<NamedStrip> strips;
  for (std::size_t i = 0; i < kVectors; ++i) {
    const auto& [name, site] = vectors[i];
    const bool edited = is_edited_at(c, {site, c.selection.layer}, c.selection.query);
    strips.push_back({.id = static_cast<int>(i),
                      .name = delta(c) + name + (edited ? ", edited" : ""),
                      .shape = grouped(std::ssize(n.vectors[i])),
                      .detail = "norm " + viz::number(norm_of(n.vectors[i]), 4),
                      .color = c.theme->text,
                      .values = n.vectors[i],
                      .scale = strip_scale(n.vectors[i])});
  }
  auto made = std::make_unique<Strips>(kStrip, std::move(strips));
  made->refers_to = [&c](const NamedStrip& strip, int component) {
    const bool is_neuron = strip.id == kBefore || strip.id == kAfter;
    return is_neuron ? Ref{.layer = c.selection.layer, .neuron = component} : Ref{};
  };
  return made;
}

/// The row of the listed neuron that is nearest to a column of the plot.
int nearest_row(const Numbers& n, const viz::FunctionPlot& plot, int column) {
  const double x = viz::x_of_column(plot, column);
  const auto distance = [&](int neuron) {
    return std::abs(static_cast<double>(n.vectors[kBefore][neuron]) - x);
  };
  return static_cast<int>(std::ranges::min_element(n.order, {}, distance) - n.order.begin());
}

/// The nonlinearity, with all neurons and the listed ones. A place on it is about the nearest listed neuron.
BoxPtr curve_of(const ViewContext& c, const Numbers& n, const viz::FunctionPlot& plot) {
  const auto nearest = [&c, &n, &plot](const viz::Region&, int, int column) {
    return Ref{.layer = c.selection.layer, .neuron = n.order[nearest_row(n, plot, column)]};
  };
  const auto frame = [&n, &plot](viz::Scene& scene, const ViewContext& now, const Picture& picture,
                                 const Ref& ref) {
    const auto region = std::ranges::find(picture.regions, kCurve, &viz::Region::role);
    if (region == picture.regions.end() || ref.neuron < 0) return;
    const viz::Point at = viz::place_in_plot(plot, region->rect, point_of(n, ref.neuron));
    const float r = viz::plot_dot_radius(style_of(now));
    scene.add(viz::StrokeRect{viz::Rect::around(at, r), now.theme->text, 2, r});
  };
  return custom(
      {12, 16, 20},
      [](float width) {
        return Wish{6.5F, 0.8F * width, 1.1F * width};
      },
      [&plot](Picture& picture, const ViewContext& now, viz::Rect area) {
        const viz::Style style = style_of(now);
        viz::paint_function_plot(picture, plot, viz::plot_frame(plot, area, style), style);
      },
      {.role = kCurve, .refers_to = nearest, .frame = frame});
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto pass = it.need(PassOfToken{c.chosen_query});
  if (it.lacks_counterpart() || !pass) return;
  Numbers made =
      numbers_of({pass, &pass->blocks[c.selection.layer]}, std::min(c.options[kNeurons], c.config().n_inner));
  for (const int neuron : made.order) made.effects.push_back(logit_effect_of(it, made, neuron));
  const Numbers& n = it.keep(std::move(made));
  const model::Config& config = c.config();
  it.title = "MLP of layer " + std::to_string(c.selection.layer) + " at " +
             token_name(c.run->tokens, c.selection.query);
  it.same = are_zero({n.vectors.begin(), n.vectors.end()});
  it.subtitle = grouped(config.n_embd) + " → " + grouped(config.n_inner) + " → " + grouped(config.n_embd);
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    if (ref.neuron < 0) return;
    facts.value("neuron", std::to_string(ref.neuron), Fact::Location::menu);
    if (const auto row = std::ranges::find(n.order, ref.neuron); row != n.order.end())
      add_pushes(facts, c, n.effects[row - n.order.begin()]);
  };
  auto list = list_of(c, n);
  it.table = [&c, &n, &rows = *list] { return table(c, n, rows); };
  BoxPtr curve;
  if (!c.differs()) {  // differences are not on a curve
    viz::FunctionPlot made_plot = plot_of(config, n, *c.theme);
    made_plot.role = kCurve;
    const viz::FunctionPlot& plot = it.keep(std::move(made_plot));
    curve = may_be_left_out(curve_of(c, n, plot), "the curve");
    it.facts = [&n, &plot, &rows = *list](Facts& facts, const ViewContext&, const Spot& at) {
      if (at.region.role == kCurve) rows.say_row(facts, nearest_row(n, plot, at.hit.col));
    };
  }
  std::string pushes = std::string(delta(c)) + "(after × W_out[neuron] · W_U[token]), without ln_f" +
                       (is_between_models(c) ? ", each with its own model's weights" : "");
  const auto missing = std::ranges::find(n.effects, nullptr, &LogitEffect::tokens);
  if (missing != n.effects.end()) pushes = missing->why_missing;
  it.body = rows(boxes(BoxPtr(strips_of(c, n)), beside(boxes(std::move(curve), BoxPtr(std::move(list)))),
                       notes({"pushes: " + pushes})));
}

View view() {
  View view = make_view("mlp", "MLP", declare,
                        "the strongest neurons of a layer's MLP at one token, before and after GELU, and the "
                        "tokens they push up or down");
  view.part = Part::mlp;
  view.options = {&kNeurons, &kRows.first};
  view.needs = Capability::weights | Capability::mlp;
  view.landmarks = {{"neurons", kNeuron}};
  return view;
}

}  // namespace headscope::app::mlp
