#include <array>

#include "app/run/analyses/token_pass.h"
#include "app/views/attention/score_breakdown.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

namespace headscope::app {

const Option<ShownOfKeys> kShownOfKeys = choice_option<ShownOfKeys>(
    "strips", "Strips", "qQ", "which vectors are shown next to the keys",
    {{"values", "Values", "The values, as weighted by attention, and their sum"},
     {"products", "q × k", "Query times key, component by component: they add up to the score"},
     {"breakdown", "Score breakdown",
      "None: the score of the chosen or else the strongest key, step by step; its numbers are the table's"}});

}  // namespace headscope::app

namespace headscope::app::query {

/// Roles of regions. key: Region::id: position. component, over its key's region: Region::id: key position;
/// row: a Vector; col: component. term: id: a strip of the score breakdown; step: id: one of its steps.
enum Role { kKey, kComponent, kTerm, kStep };
enum class Vector : int { query, key, value, weighted_value, z, product, edited_z };
using Shown = ShownOfKeys;

const Option<int> kFirstKey = first_row_option("first-key", true, -1);

/// Everything the table shows, computed once. Vectors are of one head, [d_head].
struct Numbers {
  std::shared_ptr<const Stages> answer;
  int layer = 0;
  int query = 0;
  int keys = 0;  ///< number of keys in the table: up to the query, or to the last key that it sees
  std::span<const float> q;
  std::vector<std::vector<float>> k;  ///< [keys]
  std::vector<std::span<const float>> v;
  std::vector<std::vector<float>> products;            ///< q[i] k[i] of each key; only if they are shown
  std::array<std::span<const float>, kStages> stages;  ///< the query's row of each, [T]
  std::vector<float> z;                                ///< sum over keys of weight x value
  std::string edited = {};      ///< what edits make of z: "× 0.5: edited"; empty: nothing
  std::vector<float> edited_z;  ///< z after them
  double weight_sum = 0;

  std::span<const float> of(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  float at(Stage stage, int key) const { return of(stage)[key]; }
};

/// Whether the numbers are differences; vectors are hidden then.
bool is_difference(const ViewContext& c) {
  return c.side == Side::difference;
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Stages> answer) {
  const Stages& stages = *answer;
  const model::Run& run = *c.run->run;
  Numbers n;
  n.answer = std::move(answer);
  n.layer = c.selection.layer;
  n.query = c.selection.query;
  n.keys = stages.masked.end_of(n.query);
  const int head = c.selection.head;
  n.q = run.q(n.layer, head, n.query);
  const auto length = static_cast<std::size_t>(stages.values.length);
  for (int s = 0; s < kStages; ++s) {
    const viz::Matrix m = stages.matrix(static_cast<Stage>(s));
    n.stages[s] = {m.data + n.query * m.row_stride, length};
  }
  const auto d_head = static_cast<std::size_t>(run.config.d_head());
  std::vector<double> z(d_head, 0.0);
  for (int key = 0; key < n.keys; ++key) {
    n.k.push_back(run.k(n.layer, head, key));
    n.v.push_back(run.v(n.layer, head, key));
    if (c.options[kShownOfKeys] == Shown::products) {
      n.products.push_back(n.k.back());
      for (std::size_t i = 0; i < d_head; ++i) n.products.back()[i] *= n.q[i];
    }
    const double w = n.at(Stage::pattern, key);
    n.weight_sum += w;
    for (std::size_t i = 0; i < d_head; ++i) z[i] += w * n.v.back()[i];
  }
  n.z.assign(z.begin(), z.end());
  const auto factor = z_factor(c, n.layer, head, n.query);
  const auto merged = factor == 1 || is_difference(c) ? nullptr : c.ask(MergedHeadsOf{n.layer, n.query});
  if (!merged) return n;
  n.edited = !factor        ? "edited"
             : *factor == 0 ? factor_words(0) + ": this head writes nothing"
                            : factor_words(*factor) + ": edited";
  const auto own = std::span(merged->of.z).subspan(static_cast<std::size_t>(head) * d_head, d_head);
  n.edited_z.assign(own.begin(), own.end());
  return n;
}

float magnitude(std::span<const float> values) {
  return viz::value_range(viz::Matrix::row(values)).magnitude();
}

float largest_magnitude(const auto& vectors) {
  float largest = 0;
  for (const auto& vector : vectors) largest = std::max(largest, magnitude(vector));
  return largest;
}

/// The largest component of weight x value of any key, and of their sum.
float weighted_magnitude(const Numbers& n) {
  float largest = magnitude(n.z);
  for (int key = 0; key < n.keys; ++key)
    largest = std::max(largest, n.at(Stage::pattern, key) * magnitude(n.v[key]));
  return largest;
}

const ListRows kRows{.role = kKey, .first = kFirstKey, .names = "keys"};

constexpr int kTokenColumn = 1, kKeyColumn = 2, kWeightColumn = 7, kWeightedColumn = 9;  // in the list

/// Rows of the query, of sums, and of what edits that switch the head off or scale it make of them.
void add_fixed_rows(List& list, const ViewContext& c, const Numbers& n) {
  viz::FixedCell token = list.cell(kTokenColumn, c.run->tokens.labels[n.query]);
  token.color = c.theme->query;
  const auto strip = [&](int column, Vector which, const char* name, std::span<const float> values,
                         viz::Color color) {
    viz::FixedCell cell = list.strip_cell(column, static_cast<int>(which), name, values);
    cell.color = color, cell.beside = name;
    return cell;
  };
  viz::FixedCell query = strip(kKeyColumn, Vector::query, "q", n.q, c.theme->query);
  query.beside = "query q";
  list.table.header = {{token, query}};
  list.table.footer = {{list.sum_cell(kTokenColumn, n.k.size()),
                        list.cell(kWeightColumn, viz::fixed_number(n.weight_sum, 4))}};
  const auto add_sum = [&](Vector which, const char* name, std::span<const float> values) {
    if (c.options[kShownOfKeys] != Shown::values) return;
    list.table.footer.back().push_back(strip(kWeightedColumn, which, name, values, c.theme->value));
  };
  // Edits of z come after this sum.
  const model::Plan* plan = c.run->run->plan.get();
  const bool is_sum = plan != nullptr && plan->edits({model::Site::z, c.selection.layer});
  add_sum(Vector::z, is_sum ? "sum" : "z", n.z);
  if (n.edited.empty()) return;
  list.table.footer.push_back({list.cell(kTokenColumn, n.edited)});
  list.table.footer.back().front().color = c.theme->accent;
  add_sum(Vector::edited_z, "z", n.edited_z);
}

/// Whether the difference of scores is another before the mask, or an edit, than after it.
bool masks_differ(const Numbers& n) {
  for (int key = 0; key < n.keys; ++key) {
    const float scaled = n.at(Stage::scaled, key), masked = n.at(Stage::masked, key);
    if (scaled != masked && !(std::isnan(scaled) && std::isnan(masked))) return true;
  }
  return false;
}

/// Columns by importance: the keys, their weights and scores, then the sum, then the steps between.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const Shown shown = c.options[kShownOfKeys];
  const bool differs = is_difference(c);
  auto made = std::make_unique<List>(c, kRows, n.keys);
  List& list = *made;
  list.refers_to = [](int key) { return Ref{.key = key}; };
  list.row_facts = [&c, &n, differs](Facts& facts, int key) {
    if (differs && std::isnan(n.at(Stage::pattern, key))) facts.say(no_counterpart_words(c));
    if (!differs && n.answer->masked(n.query, key)) facts.say("masked: " + why_masked(n.query, key));
  };
  const auto strip = [&](const std::string& heading, int importance, Vector which, viz::Color color,
                         float largest, const std::string& scale, const auto& vectors, bool hidden,
                         const char* file) -> ListColumn& {
    ListLook look{.heading = color, .hidden = hidden || differs};
    if (!look.hidden) look.file = file;
    ListColumn& column = list.strip(heading, importance, static_cast<int>(which), vectors, look);
    column.scale = viz::diverging_scale(largest), column.scale_title = scale;
    return column;
  };
  // Differences are blank without a counterpart, and if a score is masked on one side.
  const auto bar = [&](const std::string& heading, int importance, Stage stage, const std::string& file,
                       ListLook look) {
    if (!look.hidden) look.file = difference_column_prefix(c) + file;
    if (differs) look.blank = [&n, stage](int key) { return !std::isfinite(n.at(stage, key)); };
    list.bar(delta(c) + heading, importance, n.of(stage), look);
  };
  const auto weights = n.of(Stage::pattern).first(n.k.size());
  list.number("", 7, [](int key) { return key; },
              {.file = key_column("key"), .color = theme.text_muted, .digits = 0});
  list.text("token", 9, c.run->tokens.labels, {.file = note_column("token"), .heading = theme.key});
  strip("key k", 2, Vector::key, theme.key, std::max(magnitude(n.q), largest_magnitude(n.k)), "q, k", n.k,
        shown == Shown::breakdown, "k");
  strip("q × k", 7, Vector::product, theme.query, largest_magnitude(n.products), "q × k", n.products,
        shown != Shown::products, "q*k");
  bar("score q·k", 6, Stage::scores, "score", {.is_signed = true});
  bar("× " + scale_factor(c.run->run->config, n.layer), 3, Stage::scaled, "scaled", {.is_signed = true});
  bar("masked", 1, Stage::masked, "masked", {.is_signed = true, .hidden = differs && !masks_differ(n)});
  bar("weight", 8, Stage::pattern, "weight",
      {.digits = 4, .scientific = 0.001, .rounds = !differs, .axis = !differs});
  strip("value v", 4, Vector::value, theme.value, largest_magnitude(n.v), "v", n.v, shown != Shown::values,
        "v");
  strip("weight × v", 5, Vector::weighted_value, theme.value, weighted_magnitude(n), "weight × v, z", n.v,
        shown != Shown::values, "weight*v")
      .factors.assign(weights.begin(), weights.end());
  if (!differs) {
    add_fixed_rows(list, c, n);
    list.table.legend = true;
  }
  list.rank_by(weights);
  if (shown != Shown::breakdown) list.least_rows = 5;
  if (c.options[kStrongestFirst]) {
    list.order_by([&n](int key) { return std::abs(n.at(Stage::pattern, key)); });
    list.table.row_names = differs ? "keys that differ most" : "strongest keys";
  } else {
    list.table.first_number = 0;
  }
  list.table.marked = c.selection.key;
  list.table.mark = theme.key;
  list.kept = wanted_key(c, n.query, n.keys);
  list.table.vector_role = kComponent;
  return made;
}

/// Numbers of all keys, vectors of those that the query sees.
Table table(const ViewContext& c, const Numbers& n, const List& list) {
  Table result = list.exported(is_difference(c) ? -1 : n.answer->values.length);
  result.ranked_by = difference_column_prefix(c) + "weight";
  add_head_facts(result, c);
  add_query_facts(result, c);
  if (!is_difference(c)) result.fact("sum of weights", n.weight_sum);
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (it.lacks_counterpart()) return;
  const auto stages = it.need(StagesOf{c.selection.layer, c.selection.head});
  if (!stages) return;
  const Numbers& n = it.keep(numbers_of(c, stages));
  it.title = "Attention from query " + token_name(c.run->tokens, n.query);
  it.subtitle = head_title(c, n.layer, c.selection.head);
  auto list = list_of(c, n);
  // Of a chosen key wherever there is room and its numbers are there.
  const bool asked = c.options[kShownOfKeys] == Shown::breakdown;
  const bool pictured = c.fonts != nullptr && c.selection.key >= 0;
  auto breakdown = asked || pictured ? score_breakdown::breakdown_of(it) : std::nullopt;
  if (asked && !breakdown) return;
  it.message.clear();
  it.table = [&c, &n, &list = *list] { return table(c, n, list); };
  BoxPtr steps;
  if (breakdown) {
    const auto& kept = it.keep(*std::move(breakdown));
    steps = score_breakdown::box_of(it, kept, kTerm, kStep);
    if (asked) {
      it.table = [&] { return score_breakdown::table_of(c, kept); };
      list = may_be_left_out(std::move(list), "the keys");
    } else {
      steps = may_be_left_out(std::move(steps), "the score breakdown");
    }
  }
  const int later = is_difference(c) ? 0 : c.run->run->length() - n.keys;
  const std::string masked = counted(later, "later key") + ": masked (score −∞, weight 0)";
  it.body = rows(boxes(std::move(list), notes({later > 0 ? masked : ""}), std::move(steps)));
}

View view() {
  View view = make_view("query", "Query", declare,
                        "one query: its scores and weights for each key, stage by stage, and the weighted "
                        "values with their sum; of a chosen key also how its score is computed");
  view.part = Part::weight;
  view.options = {&kFirstKey, &kStrongestFirst, &kShownOfKeys};
  view.caption.head = true;
  view.landmarks = {key_landmark("key", kKey),
                    vector_landmark("weighted values", kComponent, static_cast<int>(Vector::weighted_value)),
                    vector_landmark("products", kComponent, static_cast<int>(Vector::product)),
                    vector_landmark("sum", kComponent, static_cast<int>(Vector::z)),
                    landmark("terms", kTerm),
                    landmark("steps", kStep),
                    landmark("score", kStep, 0)};
  return view;
}

}  // namespace headscope::app::query
