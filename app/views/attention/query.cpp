#include <array>

#include "app/run/analyses/token_pass.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace query {

/// Roles of regions. key: Region::id: position. component, over its key's region: Region::id: key position;
/// row: a Vector; col: component.
enum Role { kKey, kComponent };
enum class Vector : int { query, key, value, weighted_value, z, product, edited_z };
enum class Strips { values, products };

const Option<int> kFirstKey = first_row_option("first-key", true, -1);
const Option<Strips> kStrips = choice_option<Strips>(
    "strips", "Strips", "qQ", "which vectors are shown next to the keys",
    {{"values", "Values", "The values, as weighted by attention, and their sum"},
     {"products", "q × k", "Query times key, component by component: they add up to the score",
      "products of q and k"}});

/// Everything the table shows, computed once. Vectors are of one head, [d_head].
struct Numbers {
  int layer = 0;
  int query = 0;
  int keys = 0;  ///< number of keys in the table: up to the query, or to the last key that it sees
  std::size_t d_head = 0;
  std::span<const float> q;
  std::vector<std::vector<float>> k;  ///< [keys]
  std::vector<std::span<const float>> v;
  std::vector<std::vector<float>> products;            ///< q[i] k[i] of each key; only if they are shown
  std::array<std::span<const float>, kStages> stages;  ///< the query's row of each, [T]
  std::vector<float> z;                                ///< sum over keys of weight x value
  double factor = 1;                                   ///< by which edits multiply z
  bool silent = false;                                 ///< the head writes nothing
  bool edited = false;                                 ///< edits make edited_z of z
  bool set = false;                                    ///< not by a factor
  std::vector<float> edited_z;
  double weight_sum = 0;

  std::span<const float> of(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  float at(Stage stage, int key) const { return of(stage)[key]; }
};

/// Whether the numbers are differences; vectors are hidden then.
bool is_difference(const ViewContext& c) {
  return c.side == Side::difference;
}

Numbers numbers_of(const ViewContext& c, const Stages& stages) {
  const model::Run& run = *c.run->run;
  Numbers n;
  n.layer = c.selection.layer;
  n.query = c.selection.query;
  n.keys = stages.masked.end_of(n.query);
  const int head = c.selection.head;
  n.d_head = static_cast<std::size_t>(run.config.d_head());
  n.q = run.q(n.layer, head, n.query);
  const auto length = static_cast<std::size_t>(stages.values.length);
  for (int s = 0; s < kStages; ++s) {
    const viz::Matrix m = stages.matrix(static_cast<Stage>(s));
    n.stages[s] = {m.data + n.query * m.row_stride, length};
  }
  std::vector<double> z(n.d_head, 0.0);
  for (int key = 0; key < n.keys; ++key) {
    n.k.push_back(run.k(n.layer, head, key));
    n.v.push_back(run.v(n.layer, head, key));
    if (c.options[kStrips] == Strips::products) {
      n.products.push_back(n.k.back());
      for (std::size_t i = 0; i < n.d_head; ++i) n.products.back()[i] *= n.q[i];
    }
    const double w = n.at(Stage::pattern, key);
    n.weight_sum += w;
    for (std::size_t i = 0; i < n.d_head; ++i) z[i] += w * n.v.back()[i];
  }
  n.z.assign(z.begin(), z.end());
  const auto factor = z_factor(c, n.layer, head, n.query);
  n.factor = factor.value_or(1);
  n.silent = output_factor(c, n.layer, head, n.query) == 0;
  n.edited = factor != 1;
  for (const float value : n.z) n.edited_z.push_back(static_cast<float>(n.factor) * value);
  if (factor || is_difference(c)) return n;
  // What else edits may do to it, the model has done.
  const auto merged = c.ask(MergedHeadsOf{n.layer, n.query});
  n.set = n.edited = merged != nullptr;
  if (!merged) return n;
  const auto own = std::span(merged->of.z).subspan(static_cast<std::size_t>(head) * n.d_head, n.d_head);
  n.edited_z.assign(own.begin(), own.end());
  return n;
}

float magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(v));
  return largest;
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

int key_count(const ViewContext& c) {
  const auto stages = current_stages(c);
  return stages ? stages->masked.end_of(c.selection.query) : c.selection.query + 1;
}

const ListRows kRows{.role = kKey, .first = kFirstKey, .names = "keys"};

constexpr int kTokenColumn = 1, kKeyColumn = 2, kWeightColumn = 7, kWeightedColumn = 9;  // in the list

/// The list without its columns: enough to know its height.
List empty_list(const ViewContext& c) {
  List list(c, kRows, key_count(c));
  viz::Table& table = list.table;
  if (is_difference(c)) return list;
  const bool scaled = c.run && z_factor(c, c.selection.layer, c.selection.head, c.selection.query) != 1;
  table.header.resize(1);
  table.footer.resize(scaled ? 2 : 1);
  table.legend = true;
  if (const int later = c.run ? c.run->run->length() - table.rows : 0; later > 0)
    table.masked =
        std::to_string(later) + (later == 1 ? " later key" : " later keys") + ": masked (score −∞, weight 0)";
  return list;
}

viz::FixedCell vector_cell(const List& list, int column, std::span<const float> values, Vector which,
                           int query, viz::Color color) {
  viz::FixedCell cell = list.cell(column, "");
  cell.vector = values;
  cell.vector_id = query;
  cell.vector_row = static_cast<int>(which);
  cell.color = color;
  return cell;
}

viz::FixedRow query_row(const ViewContext& c, const Numbers& n, const List& list) {
  viz::FixedCell token = list.cell(kTokenColumn, c.run->tokens.labels[n.query]);
  token.size = c.font_size;
  token.color = c.theme->query;
  viz::FixedCell vector = vector_cell(list, kKeyColumn, n.q, Vector::query, n.query, c.theme->query);
  vector.after = "← query q";
  vector.instead = "the query";
  return {token, vector};
}

viz::FixedRow sum_row(const ViewContext& c, const Numbers& n, const List& list) {
  viz::FixedRow row{list.sum_cell(kTokenColumn, n.k.size()),
                    list.cell(kWeightColumn, viz::fixed_number(n.weight_sum, 4))};
  if (c.options[kStrips] == Strips::products) return row;
  row.push_back(vector_cell(list, kWeightedColumn, n.z, Vector::z, n.query, c.theme->value));
  // Edits of z come after this sum.
  const model::Plan* plan = c.run->run->plan.get();
  row.back().before = plan && plan->edits({model::Site::z, c.selection.layer}) ? "sum =" : "z =";
  return row;
}

/// What edits that switch the head off or scale it make of the sum.
viz::FixedRow edited_row(const ViewContext& c, const Numbers& n, const List& list) {
  const std::string words =
      n.set ? "edited" : factor_words(n.factor) + (n.factor == 0 ? ": this head writes nothing" : ": edited");
  viz::FixedRow row{list.cell(kTokenColumn, words)};
  row.front().color = c.theme->accent;
  if (c.options[kStrips] == Strips::products) return row;
  row.push_back(vector_cell(list, kWeightedColumn, n.edited_z, Vector::edited_z, n.query, c.theme->value));
  row.back().before = "z =";
  return row;
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
List list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const bool products = c.options[kStrips] == Strips::products, differs = is_difference(c);
  List list = empty_list(c);
  const auto strip = [&](const std::string& heading, int importance, Vector which, viz::Color color,
                         float largest, const std::string& scale, const auto& vectors, bool hidden,
                         const char* file) -> ListColumn& {
    ListLook look{.heading = color, .hidden = hidden || differs};
    if (!look.hidden) look.file = file;
    ListColumn& made = list.strip(heading, importance, static_cast<int>(which), vectors, look);
    made.scale = viz::diverging_scale(largest), made.scale_title = scale;
    return made;
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
        false, "k");
  strip("q × k", 7, Vector::product, theme.query, largest_magnitude(n.products), "q × k", n.products,
        !products, "q*k");
  bar("score q·k", 6, Stage::scores, "score", {.is_signed = true});
  bar("× " + scale_factor(c.run->run->config, n.layer), 3, Stage::scaled, "scaled", {.is_signed = true});
  bar("masked", 1, Stage::masked, "masked", {.is_signed = true, .hidden = differs && !masks_differ(n)});
  bar("weight", 8, Stage::pattern, "weight",
      {.digits = 4, .scientific = 0.001, .rounds = !differs, .axis = !differs});
  strip("value v", 4, Vector::value, theme.value, largest_magnitude(n.v), "v", n.v, products, "v");
  strip("weight × v", 5, Vector::weighted_value, theme.value, weighted_magnitude(n), "weight × v, z", n.v,
        products, "weight*v")
      .factors.assign(weights.begin(), weights.end());
  if (!differs) {
    list.table.header = {query_row(c, n, list)};
    list.table.footer = {sum_row(c, n, list)};
    if (n.edited) list.table.footer.push_back(edited_row(c, n, list));
  }
  list.table.strength = kWeightColumn;
  if (c.options[kStrongestFirst]) {
    if (differs)
      list.number("", 0, [&n](int key) { return std::abs(n.at(Stage::pattern, key)); }, {.hidden = true});
    list.table.order = {differs ? list.last() : kWeightColumn};
    list.table.row_names = differs ? "keys that differ most" : "strongest keys";
    list.table.in_order_of_strength = true;
  } else {
    list.table.first_number = 0;
  }
  list.table.marked = c.selection.key;
  list.table.mark = theme.key;
  list.table.kept = wanted_key(c, n.query, n.keys);
  list.table.vector_role = kComponent;
  return list;
}

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  if (is_difference(c) && compared_query(c) < 0) return no_counterpart(c);
  const Numbers n = numbers_of(c, *stages);
  List list = list_of(c, n);
  if (!list.lay_out_showing(below_title(c), n.of(Stage::pattern).first(n.k.size())))
    return too_small(c, "for the table");
  Picture picture = blank(c);
  const std::string words = is_difference(c) ? ", " + query_difference_words(c) : "";
  paint_title(picture, c, "Attention from query " + token_name(c.run->tokens, n.query) + difference_suffix(c),
              head_title(c, n.layer, c.selection.head) + words +
                  (n.silent && !is_difference(c) ? ": writes nothing" : "") + list.note(", ") +
                  list.left_out("; "));
  list.paint(picture);
  return picture;
}

/// "v[17] = 0.1234" and its product with the weight, if any.
std::vector<std::string> component_lines(const Numbers& n, Vector which, int key, int i) {
  const std::string at = "[" + std::to_string(i) + "]";
  const auto weight = n.at(Stage::pattern, key);
  const auto product = [&] { return "q" + at + " × k" + at + " = " + exact(n.q[i] * n.k[key][i]); };
  switch (which) {
    case Vector::query:
      return {"q" + at + " = " + exact(n.q[i])};
    case Vector::key:
      return {"k" + at + " = " + exact(n.k[key][i]), product()};
    case Vector::value:
      return {"v" + at + " = " + exact(n.v[key][i])};
    case Vector::weighted_value:
      return {exact(weight) + " × v" + at + " = " + exact(weight * n.v[key][i])};
    case Vector::product:
      return {product(), exact(n.q[i]) + " × " + exact(n.k[key][i])};
    case Vector::z:
      return {"z" + at + " = " + exact(n.z[i]), "the sum of weight × v" + at + " over all keys"};
    case Vector::edited_z:
      return {"z" + at + " = " + exact(n.edited_z[i]), n.set           ? "as an edit makes it"
                                                       : n.factor == 0 ? "set to 0 by an edit"
                                                                       : exact(n.factor) + " × the sum"};
  }
  return {};
}

/// Numbers of all keys, vectors of those that the query sees.
Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (!stages) return {};
  const Numbers n = numbers_of(c, *stages);
  const List list = list_of(c, n);
  Table result = list.exported(is_difference(c) ? -1 : stages->values.length);
  result.ranked_by = difference_column_prefix(c) + "weight";
  add_head_facts(result, c);
  add_query_facts(result, c);
  if (!is_difference(c)) result.fact("sum of weights", n.weight_sum);
  return result;
}

float whole_height(const ViewContext& c) {
  return below_title(c).y + viz::table_height(empty_list(c).table, style_of(c)) + margin(c) + 1;
}

/// Selects the key of the row above or below, in the table's order, and scrolls to it.
ViewActions move_key_by_row(const ViewContext& c, const TableRows& rows, int by) {
  const auto stages = current_stages(c);
  if (!stages) return {};
  const Numbers n = numbers_of(c, *stages);
  const std::vector<int> order = viz::table_rows(list_of(c, n).filled());
  const auto now = std::ranges::find(order, c.selection.key);
  const auto at = now == order.end() ? rows.first + (by > 0 ? 0 : rows.shown - 1)
                                     : static_cast<int>(now - order.begin()) + by;
  const int to = std::clamp(at, 0, static_cast<int>(order.size()) - 1);
  ViewActions actions{SelectKey{order[to]}};
  if (!rows.shows(to)) actions.emplace_back(rows.showing(to));
  return actions;
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows& rows, const Gesture& gesture) {
  const bool up = gesture.key == Key::up, down = gesture.key == Key::down;
  if (!gesture.modifiers.shift || !(up || down) || rows.shown == 0) return std::nullopt;
  return move_key_by_row(c, rows, up ? -1 : 1);
}

/// Whether it is a vector of the query, above or below the keys.
bool is_fixed(Vector which) {
  return which == Vector::query || which == Vector::z || which == Vector::edited_z;
}

/// The key whose row or vector was hit; none: it is the query's, or the sum.
std::optional<int> key_at(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto which = static_cast<Vector>(hit.row);
  if (region.role == kComponent && is_fixed(which)) return std::nullopt;
  if (!c.run || region.id >= key_count(c)) return std::nullopt;
  return region.id;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto key = key_at(c, picture, hit);
  return key && may_see(c, c.selection.query, *key) ? ViewActions{clicked_key(c, *key)} : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  if (const auto key = key_at(c, picture, hit)) {
    add_choice_of_key(facts.commands, c, *key, c.selection.query);
    facts.commands.push_back(choose_query(c, *key));
  }
  const auto stages = current_stages(c);
  const viz::Region& region = region_of(picture, hit);
  const bool component = region.role == kComponent;
  if (!stages || (!component && region.role != kKey)) return facts;
  const Numbers n = numbers_of(c, *stages);
  const int key = region.id;
  if (key >= n.keys) return facts;
  for (const viz::Region& row : picture.regions)
    if (row.role == kKey && row.id == key && (!component || row.rect.contains(region.rect.center())))
      facts.overlay.add(viz::StrokeRect{row.rect.inset(0.5F), c.theme->query, 1, 2});
  const auto which = static_cast<Vector>(hit.row);
  const bool own = component && is_fixed(which);
  facts.say(head_name(n.layer, c.selection.head) + "   query " + token_name(c.run->tokens, n.query) + " →",
            Fact::Location::status);
  facts.say((own ? "query " : "key ") + token_name(c.run->tokens, key));
  if (is_difference(c) && std::isnan(n.at(Stage::pattern, key))) {
    facts.say(no_counterpart_words(c));
    return facts;
  }
  if (component && hit.col < static_cast<int>(n.d_head)) {
    facts.overlay.add(viz::StrokeRect{region.cell_rect(hit.row, hit.col).inset(-0.75F), c.theme->text, 1.5F});
    facts.say(component_lines(n, which, key, hit.col));
  }
  const auto say = [&](const char* name, Stage stage, Fact::Location location) {
    facts.number(difference_prefix(c) + std::string(name), n.at(stage, key), location);
  };
  const auto rows = component && !is_difference(c) ? Fact::Location::menu : Fact::Location::tooltip;
  say("score", Stage::scores, rows);
  if (rows != Fact::Location::menu) say("scaled", Stage::scaled, rows);
  if (!component && !is_difference(c) && stages->masked(n.query, key))
    facts.say("masked: " + why_masked(n.query, key));
  say("weight", Stage::pattern, is_difference(c) ? Fact::Location::both : rows);
  if (is_difference(c) || own) return facts;
  const auto digits = [&](Stage stage) { return viz::number(n.at(stage, key), 4); };
  facts.say("q·k = " + digits(Stage::scores) + "; × " + scale_factor(c.run->run->config, n.layer) + " = " +
            digits(Stage::scaled) + "; softmax → " + digits(Stage::pattern));
  return facts;
}

}  // namespace query

View query_view() {
  using namespace query;
  View view = make_view(Group::attention, "query", "Query",
                        "one query: its scores and weights for each key, stage by stage, and the weighted "
                        "values with their sum",
                        build, facts, table);
  view.options = {&kFirstKey, &kStrongestFirst, &kStrips};
  add_list(view, kRows, click, on_key);
  view.shows_difference = true;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.landmarks = {landmark("keys", kKey), key_landmark("key", kKey),
                    vector_landmark("weighted values", kComponent, static_cast<int>(Vector::weighted_value)),
                    vector_landmark("products", kComponent, static_cast<int>(Vector::product)),
                    vector_landmark("sum", kComponent, static_cast<int>(Vector::z))};
  return view;
}

}  // namespace headscope::app
