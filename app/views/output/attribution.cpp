#include "app/run/analyses/attribution.h"
#include "app/ascii.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::attribution {

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

/// A row of the table: a part of the model, or what the list splits one into.
struct Row {
  const char* kind = "part";
  std::string name;
  Ref ref;  ///< of a part that is no head, `other` is its index
  double value = 0;
  int id = -1;     ///< position of a source, number of a neuron; -1: neither
  float size = 0;  ///< the source's weight, the neuron's activation
};

struct Numbers {
  std::shared_ptr<const Attribution> of;
  std::vector<Row> rows = {};    ///< the parts in the order of the pass, then what is split, if it is known
  int parts = 0;                 ///< rows that are parts
  std::vector<int> listed = {};  ///< rows
  double sum = 0;                ///< of the list; NaN while it is pending
  double unmatched = 0;          ///< see SourceParts

  int cols() const { return of->n_head() + 2; }  ///< a layer's heads, its bias and its MLP
  int part(int layer, int col) const { return 2 + layer * cols() + col; }
  bool is_mlp(int part) const { return rows[part].ref.layer >= 0 && (part - 2) % cols() == cols() - 1; }
};

/// Nullopt until it is known which token's logit is attributed.
std::optional<AttributionOf> question_of(const ViewContext& c) {
  const auto measured = measured_logit(c);
  return measured ? std::optional(AttributionOf{*measured}) : std::nullopt;
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Attribution> answer) {
  const auto [at_layer, at_head, query, key] = c.selection;
  const Attribution& a = *answer;
  Numbers n{.of = std::move(answer), .sum = a.sum()};
  const auto add = [&n](Row row) {
    n.rows.push_back(std::move(row));
    return static_cast<int>(std::ssize(n.rows)) - 1;
  };
  const auto add_other = [&](std::string name, double value, int layer = -1) {
    add({"part", std::move(name), {.layer = layer, .other = static_cast<int>(std::ssize(n.rows))}, value});
  };
  add_other("token embedding", a.token_embedding);
  add_other("position embedding", a.position_embedding);
  for (int layer = 0; layer < a.layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    for (int head = 0; head < a.n_head(); ++head)
      add({"part", head_name(layer, head), {.layer = layer, .head = head}, a.head(layer, head)});
    add_other(name + " bias", a.attention_bias[layer], layer);
    add_other(name + " MLP", a.mlps[layer], layer);
  }
  add_other("ln_f bias", a.final_bias);
  if (a.edited) add_other("edits", a.edits);
  n.parts = static_cast<int>(std::ssize(n.rows));

  const auto add_split = [&](const char* kind, const std::string& name, const Ref& ref, int Ref::*which,
                             const auto& split, const std::vector<float>& sizes) {
    n.sum = split.sum();
    for (int i = 0; i < std::ssize(split.parts); ++i) {
      Ref one = ref;
      one.*which = i;
      n.listed.push_back(add({kind, name, one, split.parts[i], i, sizes[i]}));
    }
    if constexpr (requires { split.bias; }) add({kind, "output bias of " + name, ref, split.bias});
    if (split.edited) add({kind, "edits of the output of " + name, ref, split.edits});
  };
  const Listed listed = c.options[kList];
  if (listed == Listed::sources || listed == Listed::neurons) n.sum = no_number();
  if (const auto split =
          listed == Listed::sources ? c.ask(SourcesOf{at_layer, at_head, a.measured}) : nullptr) {
    add_split("source", head_name(at_layer, at_head), {.layer = at_layer, .head = at_head}, &Ref::key, *split,
              split->weights);
    n.unmatched = split->unmatched;
  }
  if (const auto split = listed == Listed::neurons ? c.ask(NeuronsOf{at_layer, a.measured}) : nullptr)
    add_split("neuron", "L" + std::to_string(at_layer) + " MLP", {.layer = at_layer}, &Ref::neuron, *split,
              split->activations);
  for (int part = 0; part < n.parts; ++part) {
    const auto [layer, head] = std::pair(n.rows[part].ref.layer, n.rows[part].ref.head);
    if (listed == Listed::parts || (listed == Listed::layers && layer < 0)) n.listed.push_back(part);
    if (listed == Listed::layers && head == 0)
      n.listed.push_back(add({"layer", "L" + std::to_string(layer), {.layer = layer}, a.layer(layer)}));
  }
  return n;
}

/// What a part's number is called.
std::string quantity_of(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference || n.of->measured.metric == Metric::difference ? "difference" : "logit";
}

/// Lists the neurons of a layer's MLP.
ViewActions neurons_shown(const ViewContext& c, int layer) {
  return {SelectHead{layer, c.selection.head}, SetOption{&kList, static_cast<int>(Listed::neurons)}};
}

ViewActions choose(const ViewContext& c, const Numbers& n, const Ref& ref) {
  if (ref.other >= 0 && n.is_mlp(ref.other)) return neurons_shown(c, ref.layer);
  ViewActions actions = choice_of(ref, c);
  // The list keeps to what was clicked: a head has no neurons.
  if (ref.head >= 0 && c.options[kList] == Listed::neurons)
    actions.emplace_back(SetOption{&kList, static_cast<int>(Listed::sources)});
  return actions;
}

/// Names a part and says its fraction of the sum.
void say_part(Facts& facts, const ViewContext& c, const Numbers& n, const Ref& ref) {
  if (ref.key >= 0 || ref.neuron >= 0) return;
  const int part = ref.other >= 0 ? ref.other : ref.head >= 0 ? n.part(ref.layer, ref.head) : -1;
  if (ref.other >= 0) facts.say(n.rows[part].name);
  const double value = part >= 0 ? n.rows[part].value : n.of->layer(ref.layer);
  if (n.of->sum() != 0) facts.say(viz::fixed_number(100 * value / n.of->sum(), 1) + " % of the sum");
  if (part >= 0 && n.is_mlp(part))
    facts.commands.push_back({"Show neurons of " + n.rows[part].name, neurons_shown(c, ref.layer)});
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "rows", .keys = ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const Listed listed = c.options[kList];
  const bool sources = listed == Listed::sources, layers = listed == Listed::layers;
  const auto [layer, head, query, key] = c.selection;
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(std::ssize(n.listed)));
  List& list = *made;
  list.least_rows = 8;  // fewer say less than the grid
  const auto row = [&n](int i) -> const Row& { return n.rows[n.listed[i]]; };
  list.refers_to = [row](int i) { return row(i).ref; };
  if (sources)
    list.number("", 5, [row](int i) { return row(i).id; }, {.color = c.theme->text_muted, .digits = 0});
  const std::string_view name = kList.choices[static_cast<std::size_t>(listed)].name;
  const std::string whose = sources                     ? head_name(layer, head) + " "
                            : listed == Listed::neurons ? "L" + std::to_string(layer) + " "
                                                        : "";
  list.text(whose + std::string(name), 9, [&c, row, sources](int i) {
    const int id = row(i).id;
    return id < 0 ? row(i).name : sources ? c.run->tokens.labels[id] : std::to_string(id);
  });
  if (sources || listed == Listed::neurons)
    list.number(delta(c) + std::string(sources ? "weight" : "activation"), 6,
                [row](int i) { return row(i).size; }, {.digits = 4, .scientific = 0.001});
  list.bar(quantity_of(c, n), 8, [row](int i) { return row(i).value; },
           {.digits = 4, .most = 20 * c.font_size, .is_signed = true});
  if (layers)
    list.rank_by([row](int i) { return row(i).value; });
  else
    list.order_by([row](int i) { return std::abs(row(i).value); });
  const auto add_footer = [&](std::string words, double value) {
    list.add_footer(std::move(words), viz::fixed_number(value, 4), c.theme->text_muted);
  };
  if (n.unmatched != 0) add_footer("only in the " + second_name(*c.run), n.unmatched);
  for (const Row& other : std::span(n.rows).subspan(static_cast<std::size_t>(n.parts)))
    if (other.id < 0 && !layers) add_footer(other.name, other.value);
  list.add_footer("sum", std::isnan(n.sum) ? kComputing : viz::fixed_number(n.sum, 4));
  list.table.row_names = name;
  const Ref chosen{.layer = layer, .head = layers ? -1 : head, .key = sources ? key : -1};
  for (int i = 0; i < list.table.rows; ++i)
    if (row(i).ref == chosen) list.table.marked = i;
  if (sources) list.table.mark = c.theme->key;
  return made;
}

/// The parts in the layers, and what else adds to the logit. An MLP may add many times what any head does:
/// MLPs have bars, so that nobody compares the colour of an MLP with that of a head.
BoxPtr grid_of(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  std::vector<float> cells;
  std::string ends;
  double colored = 0, longest = kRounding;
  for (int part = 0; part < n.parts; ++part) {
    const auto& [kind, name, ref, value, id, size] = n.rows[part];
    if (ref.layer < 0) {
      ends += (ends.empty() ? "outside the layers: " : ", ") + name + " " + viz::fixed_number(value, 3);
      continue;
    }
    cells.push_back(static_cast<float>(value));
    double& largest = n.is_mlp(part) ? longest : colored;
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const std::string logit = delta(c) + std::string("logit of ");
  auto grid = grid_of_heads(c, kCell, std::move(cells), "logit of heads and bias", "", {"bias", "MLP"});
  grid->bars_from = n.cols() - 1;
  grid->full_bar = longest;
  grid->map.cells.scale =
      c.side == Side::difference ? scale_of_differences(colored) : viz::diverging_scale(colored);
  if (c.options[kList] == Listed::neurons) grid->chosen_col = grid->bars_from;
  grid->quantity.clear();
  grid->refers_to = [&](int layer, int col) { return n.rows[n.part(layer, col)].ref; };
  grid->cell_facts = [&](Facts& facts, int layer, int col) {
    facts.number(quantity_of(c, n), n.rows[n.part(layer, col)].value);
  };
  return rows(boxes(
      std::move(grid),
      notes({"bars: " + logit + "MLPs, full bar " + viz::number(longest, 3), ends,
             "sum of parts " + viz::fixed_number(a.sum(), 4) + ", " + quantity_of(c, n) + " " +
                 viz::fixed_number(a.logit, 4) + ", rounding error " + viz::number(a.rounding_error(), 2)})));
}

/// Rows of the kind "part" add up to the logit but for the rounding error. Those of the kinds "source" and
/// "neuron" add up to the part that is listed, those of the kind "layer" are sums of parts.
Table table(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  const std::string what = difference_column_prefix(c);
  Table result{"kind", "part", key_column("layer"), key_column("head"), what + "logit"};
  result.ranked_by = what + "logit";
  const std::string_view kind = n.rows.back().kind;
  if (kind == "source")
    result.add_columns({key_column("source"), note_column("source token"), what + "weight"});
  if (kind == "neuron") result.add_columns({key_column("neuron"), what + "activation"});
  for (const auto& [of, name, ref, value, id, size] : n.rows) {
    TableRow row;
    add_cells(row, of, name, index_cell(ref.layer), index_cell(ref.head), value);
    if (id >= 0) add_cells(row, id);
    if (id >= 0 && kind == "source") add_cells(row, c.run->tokens.labels[id]);
    if (id >= 0) add_cells(row, size);
    result.add(std::move(row));
  }
  if (n.unmatched != 0) result.fact("only in the " + second_name(*c.run), n.unmatched);
  add_measured(result, c, a.measured);
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
  it.title = capitalized(metric_words(c, of->measured));
  it.subtitle = after_words(c, of->measured);
  if (c.side != Side::difference) it.subtitle += "; ln_f scale " + viz::number(of->scale, 4) + " held fixed";
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_part(facts, c, n, ref); };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return choose(now, n, ref); };
  it.table = [&] { return table(c, n); };
  it.body = beside(boxes(grid_of(c, n), may_be_left_out(list_of(c, n), "the list")));
}

View view() {
  View view = make_view("attribution", "Attribution", declare,
                        "what each head, MLP, bias and embedding adds to a logit or logit difference");
  view.options = {&kMeasuredToken, &kSubtractedToken, &kList, &kFirstRow};
  view.needs = Capability::weights | Capability::mlp;
  view.caption.head = true;
  view.landmarks = {{"head", [](const ViewContext& c, const Picture& p) {
                       return around_cells(p, kCell, c.selection.layer, c.selection.head);
                     }}};
  return view;
}

}  // namespace headscope::app::attribution
