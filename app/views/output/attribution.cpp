#include "app/run/analyses/attribution.h"
#include "app/run/analyses/best_found.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace attribution {

/// Roles of regions. cell: row: layer; col: a head, or after the heads attention's bias and the MLP. end:
/// col: a part outside the layers. row: id: a row of the list.
enum Role { kCell, kEnd, kRow };
enum class Listed { parts, layers, sources, neurons };

const auto kList = choice_option<Listed>(
    "attribution-list", "List", "cC", "what is listed next to the grid",
    {{"parts", "Parts", "All parts of the model, strongest first"},
     {"layers", "Layers", "Each layer's heads, bias and MLP together"},
     {"sources", "Sources", "The source tokens of the chosen head's part, strongest first"},
     {"neurons", "Neurons", "The neurons of the MLP's part in the chosen layer, strongest first"}});
const auto kFirstRow = first_row_option("first-contribution", true);

/// A part of the model, in the order of the pass.
struct Part {
  Ref ref;  ///< a head; or else `other` is its index
  std::string name;
  double value = 0;
  bool is_mlp = false;
};

/// A row of the list.
struct Row {
  Ref ref;
  std::string name;
  double value = 0;
  int id = -1;  ///< index of a part, position of a source, number of a neuron; -1: a layer
};

struct Numbers {
  std::shared_ptr<const Attribution> of;
  // What the list splits: the part of the chosen head, or of the chosen layer's MLP. Null: it is not listed,
  // or pending.
  std::shared_ptr<const SourceParts> sources;
  std::shared_ptr<const NeuronParts> neurons;
  std::vector<Part> parts;
  std::vector<Row> rows;
  double sum = 0;  ///< of the rows; NaN while they are pending

  const Part& cell(int layer, int col) const { return parts[2 + layer * (of->n_head() + 2) + col]; }
};

/// Nullopt until it is known which token's logit is attributed.
std::optional<AttributionOf> question_of(const ViewContext& c) {
  const auto tokens = logit_tokens(c);
  if (!tokens) return std::nullopt;
  return AttributionOf{std::max(0, c.selection.query), tokens->token, tokens->against};
}

void add_parts(Numbers& n) {
  const Attribution& a = *n.of;
  const auto add = [&](int layer, int head, std::string name, double value, bool is_mlp = false) {
    const auto index = static_cast<int>(n.parts.size());
    const Ref ref{.layer = layer, .head = head, .other = head < 0 ? index : -1};
    n.parts.push_back({ref, std::move(name), value, is_mlp});
  };
  add(-1, -1, "token embedding", a.token_embedding);
  add(-1, -1, "position embedding", a.position_embedding);
  for (int layer = 0; layer < a.layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    for (int head = 0; head < a.n_head(); ++head)
      add(layer, head, head_name(layer, head), a.head(layer, head));
    add(layer, -1, name + " bias", a.attention_bias[layer]);
    add(layer, -1, name + " MLP", a.mlps[layer], true);
  }
  add(-1, -1, "ln_f bias", a.final_bias);
  if (a.edited) add(-1, -1, "edits", a.edits);
}

void add_rows(const ViewContext& c, Numbers& n) {
  const Attribution& a = *n.of;
  const auto add_strongest = [&](const std::vector<double>& values, const auto& ref, const auto& name) {
    for (const int i : strongest_first(values)) n.rows.push_back({ref(i), name(i), values[i], i});
  };
  const auto part_ref = [&](int i) { return n.parts[i].ref; };
  const auto part_name = [&](int i) { return n.parts[i].name; };
  n.sum = a.sum();
  switch (c.options[kList]) {
    case Listed::parts: {
      std::vector<double> values;
      for (const Part& part : n.parts) values.push_back(part.value);
      add_strongest(values, part_ref, part_name);
      break;
    }
    case Listed::layers:
      for (int i = 0; i < std::ssize(n.parts); ++i) {
        const auto& [ref, name, value, is_mlp] = n.parts[i];
        if (ref.layer < 0) n.rows.push_back({ref, name, value, i});
        if (ref.head == 0)
          n.rows.push_back({{.layer = ref.layer}, "L" + std::to_string(ref.layer), a.layer(ref.layer)});
      }
      break;
    case Listed::sources:
      n.sum = n.sources ? n.sources->sum() : std::numeric_limits<double>::quiet_NaN();
      if (n.sources)
        add_strongest(
            n.sources->parts, [](int key) { return Ref{.key = key}; },
            [&](int key) { return c.run->tokens.labels[key]; });
      break;
    case Listed::neurons:
      n.sum = n.neurons ? n.neurons->sum() : std::numeric_limits<double>::quiet_NaN();
      if (n.neurons)
        add_strongest(
            n.neurons->parts, [&](int neuron) { return Ref{.layer = c.selection.layer, .neuron = neuron}; },
            [](int neuron) { return std::to_string(neuron); });
      break;
  }
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Attribution> of) {
  const Selection& at = c.selection;
  Numbers n;
  n.of = std::move(of);
  if (c.options[kList] == Listed::sources)
    n.sources = c.ask(SourcesOf{at.layer, at.head, at.query, n.of->token, n.of->against});
  if (c.options[kList] == Listed::neurons)
    n.neurons = c.ask(NeuronsOf{at.layer, at.query, n.of->token, n.of->against});
  add_parts(n);
  add_rows(c, n);
  return n;
}

/// Whether source tokens that only the baseline has contributed.
bool shows_unmatched(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference && compares_different_inputs(*c.run) && n.sources &&
         n.sources->unmatched != 0;
}

/// What a part's number is called.
std::string quantity_of(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference || n.of->against >= 0 ? "difference" : "logit";
}

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  return "after " + token_name(c.run->tokens, c.selection.query) + "; sum of parts " +
         viz::fixed_number(a.sum(), 4) + "; " + quantity_of(c, n) + " " + viz::fixed_number(a.logit, 4) +
         "; rounding error " + viz::number(a.rounding_error(), 2) +
         (c.side == Side::difference ? "" : "; ln_f scale " + viz::number(a.scale, 4));
}

/// Lists the neurons of a layer's MLP.
ViewActions neurons_shown(const ViewContext& c, int layer) {
  return {SelectHead{layer, c.selection.head}, SetOption{&kList, static_cast<int>(Listed::neurons)}};
}

ViewActions choose(const ViewContext& c, const Numbers& n, const Ref& ref) {
  if (ref.other >= 0 && n.parts[ref.other].is_mlp) return neurons_shown(c, ref.layer);
  ViewActions actions = choice_of(ref, c);
  // The list keeps to what was clicked: a head has no neurons.
  if (ref.head >= 0 && c.options[kList] == Listed::neurons)
    actions.emplace_back(SetOption{&kList, static_cast<int>(Listed::sources)});
  return actions;
}

/// Names a part and says its fraction of the sum.
void say_part(Facts& facts, const ViewContext& c, const Numbers& n, const Ref& ref) {
  if (ref.key >= 0 || ref.neuron >= 0) return;
  const Part* part = ref.other >= 0  ? &n.parts[ref.other]
                     : ref.head >= 0 ? &n.cell(ref.layer, ref.head)
                                     : nullptr;
  if (ref.other >= 0) facts.say(part->name);
  const double value = part != nullptr ? part->value : n.of->layer(ref.layer);
  if (n.of->sum() != 0) facts.say(viz::fixed_number(100 * value / n.of->sum(), 1) + " % of the sum");
  if (part != nullptr && part->is_mlp)
    facts.commands.push_back({"Show neurons of " + part->name, neurons_shown(c, ref.layer)});
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "rows", .keys = ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const Listed listed = c.options[kList];
  const auto [layer, head, query, key] = c.selection;
  const std::string layer_name = "L" + std::to_string(layer);
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(n.rows.size()));
  List& list = *made;
  list.refers_to = [&](int row) { return n.rows[row].ref; };
  if (listed == Listed::sources)
    list.number("", 5, [&](int row) { return n.rows[row].id; }, {.color = c.theme->text_muted, .digits = 0});
  list.text(listed == Listed::sources   ? head_name(layer, head) + " from"
            : listed == Listed::neurons ? layer_name + " neuron"
            : listed == Listed::layers  ? "layer"
                                        : "part",
            9, [&](int row) { return n.rows[row].name; });
  const int named = list.last();
  if (n.sources)
    list.number(delta(c) + std::string("weight"), 6,
                [&](int row) { return n.sources->weights[n.rows[row].id]; },
                {.digits = 4, .scientific = 0.001});
  if (n.neurons)
    list.number(delta(c) + std::string("activation"), 6,
                [&](int row) { return n.neurons->activations[n.rows[row].id]; }, {.digits = 3});
  list.bar(quantity_of(c, n), 8, [&](int row) { return n.rows[row].value; },
           {.digits = 4, .most = 20 * c.font_size, .is_signed = true});
  const int values = list.table.strength = list.last();
  const auto footer = [&](std::string words, double value) {
    list.add_footer(named, std::move(words), values, viz::fixed_number(value, 4), c.theme->text_muted);
  };
  if (shows_unmatched(c, n)) footer("only in the " + second_name(*c.run), n.sources->unmatched);
  if (n.neurons) footer("output bias", n.neurons->bias);
  if (n.sources && n.sources->edited) footer("edits of its output", n.sources->edits);
  if (n.neurons && n.neurons->edited) footer("edits of its output", n.neurons->edits);
  list.add_footer(named, "sum", values, std::isnan(n.sum) ? kComputing : viz::fixed_number(n.sum, 4));
  if (listed != Listed::layers)
    list.table.row_names = listed == Listed::sources   ? "sources"
                           : listed == Listed::neurons ? "neurons"
                                                       : "parts";
  const Ref chosen = listed == Listed::sources  ? Ref{.key = key}
                     : listed == Listed::layers ? Ref{.layer = layer}
                                                : Ref{.layer = layer, .head = head};
  const auto marked = std::ranges::find(n.rows, chosen, &Row::ref);
  if (marked != n.rows.end()) list.table.marked = static_cast<int>(marked - n.rows.begin());
  if (listed == Listed::sources) list.table.mark = c.theme->key;
  return made;
}

/// The largest magnitude of MLPs, or of heads and attention's biases.
double magnitude_of(const Numbers& n, bool of_mlps) {
  double largest = 0;
  for (const Part& part : n.parts)
    if (part.ref.layer >= 0 && part.is_mlp == of_mlps && std::isfinite(part.value))
      largest = std::max(largest, std::abs(part.value));
  return largest;
}

/// The parts in the layers, and what else adds to the logit. An MLP may add many times what any head does:
/// MLPs have bars, so that nobody compares the colour of an MLP with that of a head.
BoxPtr grid_of(const ViewContext& c, const Numbers& n) {
  const int mlp = n.of->n_head() + 1;
  std::vector<float> cells;
  std::string ends;
  for (const auto& [ref, name, value, is_mlp] : n.parts) {
    if (ref.layer >= 0)
      cells.push_back(static_cast<float>(value));
    else
      ends += (ends.empty() ? "outside the layers: " : ", ") + name + " " + viz::fixed_number(value, 3);
  }
  const std::string logit = delta(c) + std::string("logit of ");
  auto grid = grid_of_heads(c, kCell, std::move(cells), logit + "heads and bias", "", {"bias", "MLP"});
  grid->bars_from = mlp;
  grid->full_bar = std::max(magnitude_of(n, true), kRounding);
  const double colored = magnitude_of(n, false);
  grid->map.cells.scale =
      c.side == Side::difference ? scale_of_differences(colored) : viz::diverging_scale(colored);
  if (c.options[kList] == Listed::neurons) grid->chosen_col = mlp;
  grid->quantity.clear();
  grid->refers_to = [&](int layer, int col) { return n.cell(layer, col).ref; };
  grid->cell_facts = [&](Facts& facts, int layer, int col) {
    facts.number(quantity_of(c, n), n.cell(layer, col).value);
  };
  const std::string bars = "bars: " + logit + "MLPs, full bar " + viz::number(grid->full_bar, 3);
  return rows(boxes(std::move(grid), notes({bars, ends})));
}

/// Rows of the kind "part" add up to the logit but for the rounding error. Those of the kinds "source" and
/// "neuron" add up to the part that is listed, those of the kind "layer" are sums of parts.
Table table(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  const std::string what = difference_column_prefix(c);
  const auto& [sources, neurons] = std::tie(n.sources, n.neurons);
  const auto [layer, head, query, chosen] = c.selection;
  Table result{"kind", "part", key_column("layer"), key_column("head"), what + "logit"};
  result.ranked_by = what + "logit";
  if (sources) result.add_columns({key_column("source"), note_column("source token"), what + "weight"});
  if (neurons) result.add_columns({key_column("neuron"), what + "activation"});
  const auto known = [](bool is_known, int index) { return is_known ? std::optional(index) : std::nullopt; };
  for (const auto& [ref, name, value, is_mlp] : n.parts)
    add_row(result, "part", name, known(ref.layer >= 0, ref.layer), known(ref.head >= 0, ref.head), value);
  for (const Row& row : n.rows)
    if (row.id < 0) add_row(result, "layer", row.name, row.ref.layer, std::nullopt, row.value);
  if (sources) {
    const std::string name = head_name(layer, head);
    for (int key = 0; key < std::ssize(sources->parts); ++key)
      add_row(result, "source", name, layer, head, sources->parts[key], key, c.run->tokens.labels[key],
              sources->weights[key]);
    if (sources->edited)
      add_row(result, "source", "edits of the output of " + name, layer, head, sources->edits);
    if (shows_unmatched(c, n)) result.fact("only in the " + second_name(*c.run), sources->unmatched);
  }
  if (neurons) {
    const std::string name = "L" + std::to_string(layer) + " MLP";
    for (int neuron = 0; neuron < std::ssize(neurons->parts); ++neuron)
      add_row(result, "neuron", name, layer, std::nullopt, neurons->parts[neuron], neuron,
              neurons->activations[neuron]);
    add_row(result, "neuron", "output bias of " + name, layer, std::nullopt, neurons->bias);
    if (neurons->edited)
      add_row(result, "neuron", "edits of the output of " + name, layer, std::nullopt, neurons->edits);
  }
  add_measured(result, c, {a.against < 0 ? "logit" : "difference", query, a.token, a.against});
  result.fact("value", a.logit);
  result.fact("sum", a.sum());
  result.fact("rounding error", a.rounding_error());
  if (c.side != Side::difference) result.fact("ln_f scale", a.scale);  // each side has its own
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto of = it.need(question_of(c));
  if (it.lacks_counterpart() || !of) return;
  const Numbers& n = it.keep(numbers_of(c, of));
  it.title = "Logit of " + logit_words(c, of->token, of->against);
  it.subtitle = subtitle_of(c, n);
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_part(facts, c, n, ref); };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return choose(now, n, ref); };
  it.table = [&] { return table(c, n); };
  it.body = beside(boxes(grid_of(c, n), may_be_left_out(list_of(c, n), "the list")));
}

}  // namespace attribution

View attribution_view() {
  using namespace attribution;
  View view =
      make_view(Group::output, "attribution", "Attribution",
                "what each head, MLP, bias and embedding adds to a logit or logit difference", declare);
  view.audience = Audience::research;
  view.options = {&kMeasuredToken, &kSubtractedToken, &kList, &kFirstRow};
  view.has_list = true;
  view.shows_difference = true;
  view.needs = Capability::weights | Capability::mlp;
  view.caption = {true, true, true};
  view.landmarks = {
      landmark("grid", kCell),
      {"head", [](const ViewContext& c,
                  const Picture& p) { return around_cells(p, kCell, c.selection.layer, c.selection.head); }},
      landmark("list", kRow)};
  return view;
}

}  // namespace headscope::app
