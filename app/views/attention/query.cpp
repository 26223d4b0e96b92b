#include "app/run/analyses/token_pass.h"
#include "app/run/edits/edit_text.h"
#include "app/views/attention/score_breakdown.h"
#include "app/views/parts/parts.h"

namespace headscope::app::query {

/// Roles of regions. key: Region::id: position. component, over its key's region: Region::id: key position;
/// row: a Vector; col: component. term: id: a strip of the score breakdown; step: id: one of its steps.
enum Role { kKey, kComponent, kTerm, kStep };
enum class Vector : int { query, key, value, weighted_value, z, product, edited_z };
using Shown = ShownOfKeys;

/// Everything the table shows, computed once. Vectors are of one head, [d_head].
struct Numbers {
  std::shared_ptr<const Stages> answer;
  int query = 0;
  int keys = 0;  ///< number of keys in the table: up to the query, or to the last key that it sees
  std::span<const float> q;
  std::vector<std::vector<float>> k;  ///< [keys]
  std::vector<std::span<const float>> v;
  std::vector<std::vector<float>> products;  ///< q[i] k[i] of each key; only if they are shown
  std::vector<float> z;                      ///< sum over keys of weight x value
  std::vector<float> edited_z;               ///< z after edits of it; empty: there are none
  double weight_sum = 0;

  /// The query's row, [T].
  std::span<const float> of(Stage stage) const {
    const viz::Matrix matrix = answer->matrix(stage);
    return {matrix.data + query * matrix.row_stride, static_cast<std::size_t>(answer->values.length)};
  }
  float at(Stage stage, int key) const { return of(stage)[key]; }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Stages> answer) {
  const auto& [layer, head, query, selected] = c.selection;
  const model::Run& run = *c.run->run;
  Numbers n;
  n.answer = std::move(answer);
  n.query = query, n.keys = n.answer->masked.end_of(query);
  n.q = run.q(layer, head, query);
  const auto d_head = static_cast<std::size_t>(run.config.d_head());
  std::vector<double> z(d_head, 0.0);
  for (int key = 0; key < n.keys; ++key) {
    n.k.push_back(run.k(layer, head, key));
    n.v.push_back(run.v(layer, head, key));
    if (c.options[kShownOfKeys] == Shown::products) {
      n.products.push_back(n.k.back());
      for (std::size_t i = 0; i < d_head; ++i) n.products.back()[i] *= n.q[i];
    }
    const double w = n.at(Stage::pattern, key);
    n.weight_sum += w;
    for (std::size_t i = 0; i < d_head; ++i) z[i] += w * n.v.back()[i];
  }
  n.z.assign(z.begin(), z.end());
  const bool edited = !c.differs() && is_edited_at(c, model::Site::z, layer, head) &&
                      is_edited_at(c, {model::Site::z, layer}, query);
  if (const auto merged = edited ? c.ask(MergedHeadsOf{layer, query}) : nullptr) {
    const auto own = std::span(merged->of.z).subspan(static_cast<std::size_t>(head) * d_head, d_head);
    n.edited_z.assign(own.begin(), own.end());
  }
  return n;
}

const ListRows kRows{kKey, first_row_option("first-key", true, -1), "keys"};

constexpr int kTokenColumn = 1, kKeyColumn = 2, kWeightColumn = 7, kWeightedColumn = 9;  // in the list

/// Rows of the query, of sums, and of what edits of z make of them.
void add_fixed_rows(List& list, const ViewContext& c, const Numbers& n) {
  const auto strip = [&](int column, Vector which, const char* name, std::span<const float> values,
                         viz::Color color) {
    viz::FixedCell cell = list.strip_cell(column, static_cast<int>(which), name, values);
    cell.color = color, cell.beside = name;
    return cell;
  };
  const bool edited = !n.edited_z.empty(), values = c.options[kShownOfKeys] == Shown::values;
  std::vector<viz::FixedRow>&header = list.table.header, &footer = list.table.footer;
  header = {{list.cell(kTokenColumn, c.run->tokens.labels[n.query]),
             strip(kKeyColumn, Vector::query, "query q", n.q, c.theme->query)}};
  header[0][0].color = c.theme->query;
  footer = {{list.sum_cell(kTokenColumn, n.k.size()),
             list.cell(kWeightColumn, viz::fixed_number(n.weight_sum, 4))}};
  if (values)
    footer[0].push_back(strip(kWeightedColumn, Vector::z, edited ? "sum" : "z", n.z, c.theme->value));
  const std::vector<model::Edit> edits = edits_of_head(c, c.selection.layer, c.selection.head);
  const std::string made_by = edits.size() == 1 ? edit_words(edits.front()) : "edited";
  if (edited) footer.push_back({list.cell(kTokenColumn, made_by)});
  if (edited && values)
    footer[1].push_back(strip(kWeightedColumn, Vector::edited_z, "z", n.edited_z, c.theme->value));
}

/// Columns by importance: the keys, their weights and scores, then the sum, then the steps between.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const Shown shown = c.options[kShownOfKeys];
  const bool differs = c.differs();
  auto list = std::make_unique<List>(c, kRows, n.keys);
  list->refers_to = [](int key) { return Ref{.key = key}; };
  list->row_facts = [&c, &n](Facts& facts, int key) {
    if (c.differs() && std::isnan(n.at(Stage::pattern, key))) facts.say(no_counterpart_words(c));
    if (!c.differs() && n.answer->masked(n.query, key)) facts.say("masked: " + why_masked(n.query, key));
  };
  const auto strip = [&](const char* heading, int importance, Vector which, viz::Color color,
                         const char* scale, const auto& vectors, bool is_shown,
                         const char* file) -> ListColumn& {
    ListLook look{.heading = color, .hidden = differs || !is_shown};
    if (!look.hidden) look.file = file;
    ListColumn& column = list->strip(heading, importance, static_cast<int>(which), vectors, look);
    column.scale_title = scale;
    return column;
  };
  const bool values = shown == Shown::values;
  const auto weights = n.of(Stage::pattern).first(n.k.size());
  list->number("", 7, [](int key) { return key; },
               {.file = key_column("key"), .color = theme.text_muted, .digits = 0});
  list->text("token", 9, c.run->tokens.labels, {.file = note_column("token"), .heading = theme.key});
  strip("key k", 2, Vector::key, theme.key, "q, k", n.k, shown != Shown::breakdown, "k");
  strip("q × k", 7, Vector::product, theme.query, "q × k", n.products, shown == Shown::products, "q*k");
  list->bar("score q·k", 6, n.of(Stage::scores), {.file = "score", .is_signed = true, .differs = true});
  list->bar("× " + scale_factor(c.config(), c.selection.layer), 3, n.of(Stage::scaled),
            {.file = "scaled", .is_signed = true, .differs = true});
  list->bar("masked", 1, n.of(Stage::masked), {.file = "masked", .is_signed = true, .differs = true});
  list->bar("weight", 8, n.of(Stage::pattern),
            {.file = "weight",
             .digits = 4,
             .scientific = 0.001,
             .rounds = !differs,
             .axis = !differs,
             .differs = true});
  strip("value v", 4, Vector::value, theme.value, "v", n.v, values, "v");
  strip("weight × v", 5, Vector::weighted_value, theme.value, "weight × v, z", n.v, values, "weight*v")
      .factors.assign(weights.begin(), weights.end());
  if (!differs && shown != Shown::breakdown) add_fixed_rows(*list, c, n);
  arrange_keys(*list, c, weights);
  if (shown != Shown::breakdown) list->least_rows = 5;
  list->table.vector_role = kComponent;
  return list;
}

/// Numbers of all keys, vectors of those that the query sees.
Table table(const ViewContext& c, const Numbers& n, const List& list) {
  Table result =
      list.exported(difference_column_prefix(c) + "weight", c.differs() ? -1 : n.answer->values.length);
  add_head_facts(result, c);
  add_query_facts(result, c);
  if (!c.differs()) result.fact("sum of weights", n.weight_sum);
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (it.lacks_counterpart()) return;
  const auto stages = it.need(StagesOf{c.selection.layer, c.selection.head});
  if (!stages) return;
  const Numbers& n = it.keep(numbers_of(c, stages));
  it.title = "Attention from query " + token_name(c.run->tokens, n.query);
  it.subtitle = head_title(c, c.selection.layer, c.selection.head);
  // Of a chosen key wherever there is room and its numbers are there.
  const bool asked = c.options[kShownOfKeys] == Shown::breakdown;
  const bool pictured = c.fonts != nullptr && c.selection.key >= 0;
  const auto& breakdown = it.keep(asked || pictured ? score_breakdown::breakdown_of(it) : std::nullopt);
  if (asked && !breakdown) return;
  it.message.clear();
  auto list = list_of(c, n);
  it.table = [&c, &n, &breakdown, asked, &list = *list] {
    return asked ? score_breakdown::table_of(c, *breakdown) : table(c, n, list);
  };
  BoxPtr steps = breakdown ? score_breakdown::box_of(it, *breakdown, kTerm, kStep) : nullptr;
  if (asked) list = may_be_left_out(std::move(list), "the keys");
  if (!asked && steps) steps = may_be_left_out(std::move(steps), "the score breakdown");
  const int later = c.differs() ? 0 : c.run->run->length() - n.keys;
  const std::string masked = counted(later, "later key") + ": masked (score −∞, weight 0)";
  BoxPtr scales;
  if (!list->scales().empty())
    scales = swatches([&list = *list](const ViewContext&) { return list.scales(); });
  it.body =
      rows(boxes(std::move(list), std::move(scales), notes({later > 0 ? masked : ""}), std::move(steps)));
}

View view() {
  View view = make_view("query", "Query", declare,
                        "one query: its scores and weights for each key, stage by stage, and the weighted "
                        "values with their sum; of a chosen key also how its score is computed");
  view.part = Part::weight;
  view.options = {&kRows.first, &kStrongestFirst, &kShownOfKeys};
  view.caption.head = true;
  view.landmarks = {{"key", kKey, attended_key},
                    {.name = "weighted values", .role = kComponent, .row = always<Vector::weighted_value>},
                    {.name = "products", .role = kComponent, .row = always<Vector::product>},
                    {.name = "sum", .role = kComponent, .row = always<Vector::z>},
                    {"terms", kTerm},
                    {"steps", kStep},
                    {"score", kStep, always<0>}};
  return view;
}

}  // namespace headscope::app::query
