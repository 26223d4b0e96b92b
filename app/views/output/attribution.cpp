#include "app/run/analyses/attribution.h"
#include "app/ascii.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::attribution {

enum Role { kCell, kRow };  // row: layer; col: a head, then attention's bias and the MLP. Row: its id
enum class Listed { parts, layers, sources, neurons };

const auto kList = choice_option<Listed>(
    "attribution-list", "List", "cC", "what is listed next to the grid",
    {{"parts", "Parts", "All parts of the model, strongest first"},
     {"layers", "Layers", "Each layer's heads, bias and MLP together"},
     {"sources", "Sources", "The source tokens of the chosen head's part, strongest first"},
     {"neurons", "Neurons", "The neurons of the MLP's part in the chosen layer, strongest first"}});

/// A part of the model, or of one of these.
struct Row {
  std::string_view kind = "part";
  std::string name;
  double value = 0;
  Ref ref;         ///< of a part that is no head, `other` is its index
  float size = 0;  ///< the source's weight, the neuron's activation

  int id() const { return std::max(ref.key, ref.neuron); }  ///< -1: it is no source and no neuron
  bool is_mlp() const { return kind == "part" && name.ends_with("MLP"); }
};

struct Numbers {
  std::shared_ptr<const Attribution> of;
  std::vector<Row> parts = {};   ///< in the order of the pass
  std::vector<Row> listed = {};  ///< of what is split, its bias and edits, too; empty while pending
  double sum = 0;                ///< of the list; NaN while it is pending
  double unmatched = 0;          ///< see SplitPart
  int heads = 0;                 ///< of a layer

  /// Of a layer: a head, the bias or the MLP.
  const Row& part(int layer, int col) const { return parts[2 + layer * (heads + 2) + col]; }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Attribution> answer) {
  const auto [at_layer, at_head, query, key] = c.selection;
  const Listed list = c.options[kList];
  const Attribution& a = *answer;
  Numbers n{.of = std::move(answer), .sum = a.sum(), .heads = c.config().n_head};
  for (int i = 0; i < std::ssize(a.parts); ++i) {
    const StreamSource& source = a.sources[i];
    const Row part{"part",
                   name_of(source, "ln_f bias"),
                   a.parts[i],
                   {.layer = source.layer, .head = source.head, .other = source.head < 0 ? i : -1}};
    n.parts.push_back(part);
    if (list == Listed::parts || (list == Listed::layers && source.layer < 0)) n.listed.push_back(part);
    if (list != Listed::layers || source.layer < 0) continue;
    if (source.head == 0)
      n.listed.push_back({"layer", "L" + std::to_string(source.layer), 0, {.layer = source.layer}});
    n.listed.back().value += part.value;
  }
  const auto split = [&](std::string_view kind, const std::string& name, Ref ref, int Ref::*which,
                         const auto& question) {
    const std::shared_ptr<const SplitPart> of = c.ask(question);
    n.sum = of ? of->sum() : no_number();
    if (!of) return;
    for (int i = 0; i < std::ssize(of->parts); ++i) {
      ref.*which = i;
      n.listed.push_back({kind, name, of->parts[i], ref, of->sizes[i]});
    }
    ref.*which = -1;
    n.unmatched = of->unmatched;
    if (!of->by_position) n.listed.push_back({kind, "output bias of " + name, of->bias, ref});
    if (of->edited) n.listed.push_back({kind, "edits of the output of " + name, of->edits, ref});
  };
  if (list == Listed::sources)
    split("source", head_name(at_layer, at_head), {.layer = at_layer, .head = at_head}, &Ref::key,
          SourcesOf{at_layer, at_head, a.measured});
  if (list == Listed::neurons)
    split("neuron", "L" + std::to_string(at_layer) + " MLP", {.layer = at_layer}, &Ref::neuron,
          NeuronsOf{at_layer, a.measured});
  return n;
}

/// What is added to.
std::string quantity_of(const Numbers& n) {
  return n.of->measured.metric == Metric::difference ? "logit difference" : "logit";
}

/// An MLP lists its neurons; a head, which has none, then its sources.
ViewActions choose(const ViewContext& c, const Numbers& n, const Ref& ref) {
  const bool mlp = ref.other >= 0 && n.parts[ref.other].is_mlp();
  ViewActions actions = choice_of(mlp ? Ref{.layer = ref.layer, .head = c.selection.head} : ref, c);
  if (mlp || (ref.head >= 0 && c.options[kList] == Listed::neurons))
    actions.emplace_back(SetOption{&kList, static_cast<int>(mlp ? Listed::neurons : Listed::sources)});
  return actions;
}

/// Names a part and says its fraction of the sum.
void say_part(Facts& facts, const Numbers& n, const Ref& ref) {
  const std::vector<Row>& rows = ref.other >= 0 || ref.head >= 0 ? n.parts : n.listed;
  const auto part = std::ranges::find(rows, ref, &Row::ref);
  if (part == rows.end()) return;
  if (ref.other >= 0) facts.say(part->name);
  if (n.of->sum() != 0) facts.say(viz::fixed_number(100 * part->value / n.of->sum(), 1) + " % of the sum");
}

const ListRows kRows{kRow, first_row_option("first-contribution", true), "rows", ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const Listed listed = c.options[kList];
  const bool sources = listed == Listed::sources, neurons = listed == Listed::neurons;
  const auto [layer, head, query, key] = c.selection;
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(std::ssize(n.listed)));
  // Fewer parts say less than the grid, which has all of them; nothing else has the other rows.
  list->least_rows = listed == Listed::parts ? 8 : 2;
  list->table.row_names = kList.choices[static_cast<std::size_t>(listed)].name;
  list->refers_to = [&n](int row) { return n.listed[row].ref; };
  list->text(std::string(list->table.row_names), 9, [&c, &n, sources](int row) {
    const int id = n.listed[row].id();
    return id < 0 ? n.listed[row].name : sources ? token_name(c.run->tokens, id) : std::to_string(id);
  });
  if (sources || neurons)
    list->number(sources ? "weight" : "activation", 6, [&n](int row) { return n.listed[row].size; },
                 {.digits = 4, .scientific = 0.001, .differs = true});
  const auto value = [&n](int row) { return n.listed[row].value; };
  list->bar(quantity_of(n), 8, value,
            {.digits = 4, .most = 20 * c.font_size, .is_signed = true, .differs = true});
  if (listed == Listed::layers)
    list->rank_by(value);
  else
    list->order_by([value](int row) { return std::abs(value(row)); });
  if (n.unmatched != 0)
    list->add_footer("only in the " + second_name(*c.run), viz::fixed_number(n.unmatched, 4),
                     c.theme->text_muted);
  list->add_footer("sum", std::isnan(n.sum) ? kComputing : viz::fixed_number(n.sum, 4));
  const Ref chosen{.layer = layer, .head = listed == Listed::layers ? -1 : head, .key = sources ? key : -1};
  list->table.marked = static_cast<int>(std::ranges::find(n.listed, chosen, &Row::ref) - n.listed.begin());
  if (sources) list->table.mark = c.theme->key;
  return list;
}

/// The parts in the layers, and what else adds to the logit. An MLP may add many times what any head does:
/// the colours are those of heads, beyond which it is marked.
BoxPtr grid_of(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  std::vector<float> cells;
  std::string ends;
  double largest = 0;
  for (const Row& part : n.parts) {
    if (part.ref.layer < 0) {
      ends +=
          (ends.empty() ? "outside the layers: " : ", ") + part.name + " " + viz::fixed_number(part.value, 3);
      continue;
    }
    cells.push_back(static_cast<float>(part.value));
    if (!part.is_mlp() && std::isfinite(part.value))
      largest = std::max(largest, std::abs(static_cast<double>(cells.back())));
  }
  auto grid = grid_of_heads(c, kCell, std::move(cells), quantity_of(n), "", {"bias", "MLP"});
  grid->map.cells.scale =
      viz::marked_for(scale_of_differences(largest), viz::value_range(grid->map.cells.matrix));
  if (c.options[kList] == Listed::neurons) grid->chosen_col = n.heads + 1;
  grid->quantity.clear();  // it would be said as a float
  grid->cell_facts = [&](Facts& facts, int layer, int col) {
    facts.number(difference_prefix(c) + quantity_of(n), n.part(layer, col).value);
  };
  grid->refers_to = [&](int layer, int col) { return n.part(layer, col).ref; };
  const std::string sums = "sum of parts " + viz::fixed_number(a.sum(), 4) + ", " + delta(c) +
                           quantity_of(n) + " " + viz::fixed_number(a.logit, 4) + ", rounding error " +
                           viz::number(a.rounding_error(), 2);
  return rows(boxes(std::move(grid), notes({ends, sums})));
}

/// Rows of the kind "part" add up to the logit but for the rounding error. Those of the kinds "source" and
/// "neuron" add up to the part that is listed, those of the kind "layer" are sums of parts.
Table table(const ViewContext& c, const Numbers& n) {
  const Attribution& a = *n.of;
  const std::string what = difference_column_prefix(c);
  const Listed listed = n.listed.empty() ? Listed::parts : c.options[kList];
  Table result{"kind", "part", key_column("layer"), key_column("head"), what + "logit"};
  result.ranked_by = what + "logit";
  if (listed == Listed::sources)
    result.add_columns({key_column("source"), note_column("source token"), what + "weight"});
  if (listed == Listed::neurons) result.add_columns({key_column("neuron"), what + "activation"});
  for (const auto* rows : {&n.parts, &n.listed})
    for (const auto& [kind, name, value, ref, size] : *rows) {
      if (rows == &n.listed && kind == "part") continue;
      TableRow row;
      add_cells(row, kind, name, index_cell(ref.layer), index_cell(ref.head), value);
      if (ref.key >= 0) add_cells(row, ref.key, c.run->tokens.labels[ref.key], size);
      if (ref.neuron >= 0) add_cells(row, ref.neuron, size);
      result.add(std::move(row));
    }
  if (n.unmatched != 0) result.fact("only in the " + second_name(*c.run), n.unmatched);
  add_measured(result, c, a.measured);
  result.fact("value", a.logit);
  result.fact("sum", a.sum());
  result.fact("rounding error", a.rounding_error());
  if (!c.differs()) result.fact("ln_f scale", a.scale);  // each side has its own
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto measured = measured_logit(c);
  const auto of = it.need(measured ? std::optional(AttributionOf{*measured}) : std::nullopt);
  if (it.lacks_counterpart() || !of) return;
  const Numbers& n = it.keep(numbers_of(c, of));
  it.title = capitalized(metric_words(c, of->measured));
  it.subtitle = after_words(c, of->measured);
  if (!c.differs()) it.subtitle += "; ln_f scale " + viz::number(of->scale, 4) + " held fixed";
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_part(facts, n, ref); };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return choose(now, n, ref); };
  it.table = [&] { return table(c, n); };
  it.body = beside(boxes(grid_of(c, n), may_be_left_out(list_of(c, n), "the list")));
}

View view() {
  View view = make_view("attribution", "Attribution", declare,
                        "what each head, MLP, bias and embedding adds to a logit or logit difference");
  view.options = {&kMeasuredToken, &kSubtractedToken, &kList, &kRows.first};
  view.needs = Capability::weights | Capability::mlp;
  view.caption.head = true;
  view.landmarks = {{.name = "head",
                     .role = kCell,
                     .row = [](const ViewContext& c) { return c.selection.layer; },
                     .col = [](const ViewContext& c) { return c.selection.head; }}};
  return view;
}

}  // namespace headscope::app::attribution
