#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/table_rows.h"
#include "app/views/view.h"
#include "model/pass/plan.h"
#include "viz/charts/bars.h"
#include "viz/charts/table.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

/// Of regions. key: Region::id: position. component, over its key's region: Region::id: key position; row: a
/// Vector; col: component.
enum Role { kKey, kComponent };
enum class Vector : int { query, key, value, weighted_value, z, product };
enum class Strips { values, products };

const Option<int> kFirstKey =
    first_row_option("first-key", "First key", "first row of the table that is shown", true);
const Option<Strips> kStrips{
    {.name = "strips",
     .label = "Strips",
     .help = "which vectors stand beside the keys",
     .default_value = 0,
     .choices = {{"values", "Values", "The values, as weighted by attention, and their sum"},
                 {"products", "q × k", "Query times key, component by component: they add up to the score"}},
     .keys = "qQ"}};

/// Everything the table shows, computed once. Vectors are of one head, [d_head].
struct Numbers {
  int layer = 0;
  int query = 0;
  int keys = 0;  ///< of the table: up to the query, and to the last one that it sees
  std::size_t d_head = 0;
  std::span<const float> q;
  std::vector<std::vector<float>> k;  ///< [keys]
  std::vector<std::span<const float>> v;
  std::vector<std::vector<float>> products;            ///< q[i] k[i] of each key; where they are shown
  std::array<std::span<const float>, kStages> stages;  ///< the query's row of each, [T]
  std::vector<float> z;                                ///< sum over keys of weight x value
  double weight_sum = 0;

  std::vector<float> weighted(int key) const {
    std::vector<float> result(d_head);
    const float w = stages[static_cast<std::size_t>(Stage::pattern)][static_cast<std::size_t>(key)];
    for (std::size_t i = 0; i < d_head; ++i) result[i] = w * v[static_cast<std::size_t>(key)][i];
    return result;
  }
  float at(Stage stage, int key) const {
    return stages[static_cast<std::size_t>(stage)][static_cast<std::size_t>(key)];
  }
};

/// Whether its numbers are differences: vectors, of which they are none, do not show then.
bool of_change(const ViewContext& c) {
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
    n.stages[static_cast<std::size_t>(s)] = {m.data + n.query * m.row_stride, length};
  }
  std::vector<double> z(n.d_head, 0.0);
  for (int key = 0; key < n.keys; ++key) {
    n.k.push_back(run.k(n.layer, head, key));
    n.v.push_back(run.v(n.layer, head, key));
    if (c.options[kStrips] == Strips::products) {
      n.products.push_back(n.k.back());
      for (std::size_t i = 0; i < n.d_head; ++i) n.products.back()[i] *= n.q[i];
    }
    const double w = static_cast<double>(n.at(Stage::pattern, key));
    n.weight_sum += w;
    for (std::size_t i = 0; i < n.d_head; ++i) z[i] += w * static_cast<double>(n.v.back()[i]);
  }
  n.z.assign(z.begin(), z.end());
  return n;
}

float magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

template <class Vector>
float largest_magnitude(const std::vector<Vector>& vectors) {
  float largest = 0;
  for (const Vector& vector : vectors) largest = std::max(largest, magnitude(vector));
  return largest;
}

/// The largest component of weight x value of any key, and of their sum.
float weighted_magnitude(const Numbers& n) {
  float largest = magnitude(n.z);
  for (int key = 0; key < n.keys; ++key) {
    largest = std::max(largest, n.at(Stage::pattern, key) * magnitude(n.v[static_cast<std::size_t>(key)]));
  }
  return largest;
}

// ---- the figure ----

/// From left to right.
enum Column {
  kPosition,
  kToken,
  kKeyVector,
  kProduct,
  kScore,
  kScaled,
  kMasked,
  kWeight,
  kValueVector,
  kWeighted
};

viz::TableColumn token_column(const ViewContext& c, const Numbers& n, int importance) {
  viz::TableColumn column;
  column.heading = "token";
  column.heading_color = c.theme->key;
  column.color = c.theme->text;
  column.importance = importance;
  column.texts = std::span(c.run->tokens.labels).first(n.k.size());
  return column;
}

viz::TableColumn position_column(const ViewContext& c, const Numbers& n, int importance) {
  viz::TableColumn column;
  column.kind = viz::TableColumn::Kind::number;
  column.color = c.theme->text_muted;
  column.importance = importance;
  column.numbers.resize(n.k.size());
  std::iota(column.numbers.begin(), column.numbers.end(), 0.F);
  column.decimals = 0;
  return column;
}

viz::TableColumn bar_column(const ViewContext& c, const Numbers& n, const std::string& heading, Stage stage,
                            int importance) {
  viz::TableColumn column;
  column.kind = viz::TableColumn::Kind::bar;
  column.heading = heading;
  column.heading_color = c.theme->text_muted;
  column.color = c.theme->text;
  column.importance = importance;
  const auto row = n.stages[static_cast<std::size_t>(stage)].first(n.k.size());
  column.numbers.assign(row.begin(), row.end());
  column.bar_color = c.theme->text_muted.with_alpha(150);
  if (of_change(c))
    for (const float change : row) column.blank.push_back(!std::isfinite(change));
  if (stage == Stage::pattern) {
    column.decimals = 4;
    column.scientific_below = 0.001;
    column.bar_color = c.theme->key;
    if (of_change(c)) return column;
    column.high = viz::round_limit(static_cast<double>(magnitude(row)));
    column.axis = true;
  }
  return column;
}

/// `vectors`: one a key. `largest`: the component at which the colours end.
template <class Vectors>
viz::TableColumn strip_column(const std::string& heading, viz::Color color, const Vectors& vectors,
                              Vector which, float largest, const std::string& scale_title, int importance) {
  viz::TableColumn column;
  column.kind = viz::TableColumn::Kind::strip;
  column.heading = heading;
  column.heading_color = color;
  column.importance = importance;
  column.vectors.assign(vectors.begin(), vectors.end());
  column.vector_row = static_cast<int>(which);
  column.scale = viz::diverging_scale(static_cast<double>(largest));
  column.scale_title = scale_title;
  return column;
}

std::vector<viz::TableColumn> columns_of(const ViewContext& c, const Numbers& n) {
  // Keys and their weights are what it is about; then how the weights came to be, then what makes the sum.
  std::vector<viz::TableColumn> columns(kWeighted + 1);
  columns[kPosition] = position_column(c, n, 7);
  columns[kToken] = token_column(c, n, 9);
  columns[kKeyVector] = strip_column("key k", c.theme->key, n.k, Vector::key,
                                     std::max(magnitude(n.q), largest_magnitude(n.k)), "q, k", 2);
  columns[kProduct] = strip_column("q × k", c.theme->query, n.products, Vector::product,
                                   largest_magnitude(n.products), "q × k", 7);
  columns[kScore] = bar_column(c, n, "score q·k", Stage::scores, 6);
  columns[kScaled] = bar_column(c, n, "× " + scale_factor(c.run->run->config, n.layer), Stage::scaled, 5);
  columns[kMasked] = bar_column(c, n, "masked", Stage::masked, 1);
  columns[kWeight] = bar_column(c, n, "weight", Stage::pattern, 8);
  columns[kValueVector] =
      strip_column("value v", c.theme->value, n.v, Vector::value, largest_magnitude(n.v), "v", 4);
  columns[kWeighted] = strip_column("weight × v", c.theme->value, n.v, Vector::weighted_value,
                                    weighted_magnitude(n), "weight × v, z", 3);
  columns[kWeighted].factors = columns[kWeight].numbers;
  const bool products = c.options[kStrips] == Strips::products;
  const bool change = of_change(c);
  columns[kProduct].hidden = !products || change;
  columns[kValueVector].hidden = columns[kWeighted].hidden = products || change;
  columns[kKeyVector].hidden = columns[kMasked].hidden = change;
  return columns;
}

viz::FixedRow query_row(const ViewContext& c, const Numbers& n) {
  viz::FixedCell token, vector;
  token.column = kToken;
  token.text = c.run->tokens.labels[static_cast<std::size_t>(n.query)];
  token.size = c.font_size;
  token.color = vector.color = c.theme->query;
  vector.column = kKeyVector;
  vector.vector = n.q;
  vector.vector_id = n.query;
  vector.vector_row = static_cast<int>(Vector::query);
  vector.after = "← query q";
  vector.instead = "the query";
  return {token, vector};
}

viz::FixedRow sum_row(const ViewContext& c, const Numbers& n) {
  viz::FixedCell name, weight, vector;
  name.column = kToken;
  name.text = "sum";
  name.color = weight.color = c.theme->text;
  weight.column = kWeight;
  weight.text = viz::fixed_number(n.weight_sum, 4);
  vector.column = kWeighted;
  vector.vector = n.z;
  vector.vector_id = n.query;
  vector.vector_row = static_cast<int>(Vector::z);
  // What is changed of z is changed after this sum.
  const model::Plan* plan = c.run->run->plan.get();
  vector.before = plan && plan->edits({model::Site::z, c.selection.layer}) ? "sum =" : "z =";
  vector.color = c.theme->value;
  if (c.options[kStrips] == Strips::products) return {name, weight};
  return {name, weight, vector};
}

int key_count(const ViewContext& c) {
  const auto stages = current_stages(c);
  return stages ? stages->masked.end_of(c.selection.query) : c.selection.query + 1;
}

/// The table without what its numbers say: enough to know its height.
viz::Table empty_table(const ViewContext& c) {
  viz::Table table;
  table.rows = key_count(c);
  if (of_change(c)) return table;
  table.header.resize(1);
  table.footer.resize(1);
  table.legend = true;
  if (const int later = c.run ? c.run->run->length() - table.rows : 0; later > 0) {
    table.masked =
        std::to_string(later) + (later == 1 ? " later key" : " later keys") + ": masked (score −∞, weight 0)";
  }
  return table;
}

viz::Table figure_of(const ViewContext& c, const Numbers& n) {
  viz::Table table = empty_table(c);
  const bool strongest_first = c.options[kStrongestFirst];
  table.columns = columns_of(c, n);
  if (!of_change(c)) {
    table.header = {query_row(c, n)};
    table.footer = {sum_row(c, n)};
  }
  table.first = c.options[kFirstKey];
  if (strongest_first) table.order = {kWeight};
  table.row_names = strongest_first ? "strongest keys" : "keys";
  table.first_number = strongest_first ? 1 : 0;
  table.marked = c.selection.key;
  table.mark = c.theme->key;
  table.row_role = kKey;
  table.vector_role = kComponent;
  return table;
}

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  if (of_change(c) && compared_query(c) < 0) return no_counterpart(c);
  const Numbers n = numbers_of(c, *stages);
  const viz::Table table = figure_of(c, n);
  const viz::TableLayout layout = viz::lay_out_table(table, below_title(c), style_of(c));
  if (layout.places.size() < 2 || layout.rows.empty()) return too_small(c, "for the table");
  Picture picture = blank(c);
  const std::string title = "What query " + token_name(c.run->tokens, n.query) + " takes",
                    note = layout.note.empty() ? "" : ", " + layout.note;
  paint_title(picture, c, of_change(c) ? title + difference_suffix(c) : title,
              head_name(n.layer, c.selection.head) + (of_change(c) ? ", " + difference_words(c) : "") + note);
  // Columns that give way and rows that scroll make no lesser figure of it: the title says what shows.
  const bool whole = picture.whole;
  viz::paint_table(picture, table, layout, style_of(c));
  picture.whole = whole;
  return picture;
}

/// "v[17] = 0.1234" and what it becomes.
std::vector<std::string> component_lines(const Numbers& n, Vector which, int key, std::size_t i) {
  const std::string at = "[" + std::to_string(i) + "]";
  const auto index = static_cast<std::size_t>(key);
  switch (which) {
    case Vector::query:
      return {"q" + at + " = " + exact(n.q[i])};
    case Vector::key:
      return {"k" + at + " = " + exact(n.k[index][i]),
              "q" + at + " × k" + at + " = " + exact(n.q[i] * n.k[index][i])};
    case Vector::value:
      return {"v" + at + " = " + exact(n.v[index][i])};
    case Vector::weighted_value:
      return {exact(n.at(Stage::pattern, key)) + " × v" + at + " = " +
              exact(n.at(Stage::pattern, key) * n.v[index][i])};
    case Vector::product:
      return {"q" + at + " × k" + at + " = " + exact(n.q[i] * n.k[index][i]),
              exact(n.q[i]) + " × " + exact(n.k[index][i])};
    case Vector::z:
      return {"z" + at + " = " + exact(n.z[i]), "the sum of weight × v" + at + " over all keys"};
  }
  return {};
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto stages = current_stages(c);
  const viz::Region& region = region_of(picture, hit);
  Hover result;
  const bool component = region.role == kComponent;
  if (!stages || (!component && region.role != kKey)) return result;
  const Numbers n = numbers_of(c, *stages);
  if (region.id >= n.keys) return result;
  for (const viz::Region& row : picture.regions) {
    if (row.role == kKey && row.id == region.id && (!component || row.rect.contains(region.rect.center()))) {
      result.overlay.add(viz::StrokeRect{row.rect.inset(0.5F), c.theme->query, 1, 2});
    }
  }
  const auto which = static_cast<Vector>(hit.row);
  const bool own = component && (which == Vector::query || which == Vector::z);
  result.lines = {(own ? "query " : "key ") + token_name(c.run->tokens, region.id)};
  if (component && hit.col < static_cast<int>(n.d_head)) {
    result.overlay.add(
        viz::StrokeRect{region.cell_rect(hit.row, hit.col).inset(-0.75F), c.theme->text, 1.5F});
    for (std::string& line : component_lines(n, which, region.id, static_cast<std::size_t>(hit.col)))
      result.lines.push_back(std::move(line));
  }
  if (of_change(c)) {
    for (const auto& [name, stage] :
         {std::pair{"score ", Stage::scores}, {"scaled ", Stage::scaled}, {"weight ", Stage::pattern}})
      result.lines.push_back(difference_prefix(c) + std::string(name) + exact(n.at(stage, region.id)));
    if (std::isnan(n.at(Stage::pattern, region.id)))
      result.lines = {result.lines.front(), no_counterpart_words(c)};
  } else if (!own) {
    auto digits = [&](Stage stage) { return viz::number(static_cast<double>(n.at(stage, region.id)), 4); };
    if (!component) {
      result.lines.push_back("score " + exact(n.at(Stage::scores, region.id)));
      result.lines.push_back("scaled " + exact(n.at(Stage::scaled, region.id)));
      if (stages->masked(n.query, region.id))
        result.lines.push_back("masked: " + why_masked(n.query, region.id));
      result.lines.push_back("weight " + exact(n.at(Stage::pattern, region.id)));
    }
    result.lines.push_back("q·k = " + digits(Stage::scores) + "; × " +
                           scale_factor(c.run->run->config, n.layer) + " = " + digits(Stage::scaled) +
                           "; softmax → " + digits(Stage::pattern));
  }
  result.status = head_name(c.selection.layer, c.selection.head) + "   query " +
                  token_name(c.run->tokens, n.query) + " → " + result.lines.front() + "   " +
                  result.lines.back();
  return result;
}

/// Empty where nothing stands for a token, and where a score is masked in one of both.
Table table_of_change(const ViewContext& c, const Numbers& n) {
  Table result;
  result.header = {"key", "token"};
  for (const char* name : {"score", "scaled", "weight"})
    result.header.push_back(difference_prefix(c) + std::string(name));
  for (int key = 0; key < n.keys; ++key) {
    std::vector<std::string> row{std::to_string(key), c.run->tokens.labels[static_cast<std::size_t>(key)]};
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::pattern})
      row.push_back(std::isfinite(n.at(stage, key)) ? plain(n.at(stage, key)) : "");
    result.rows.push_back(std::move(row));
  }
  return result;
}

Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  Table result;
  if (!stages) return result;
  const Numbers n = numbers_of(c, *stages);
  if (of_change(c)) return table_of_change(c, n);
  result.header = {"key", "token", "score", "scaled", "masked", "weight"};
  const bool products = c.options[kStrips] == Strips::products;
  for (const char* vector : products ? std::vector{"k", "q*k"} : std::vector{"k", "v", "weight*v"}) {
    for (std::size_t i = 0; i < n.d_head; ++i)
      result.header.push_back(vector + ("[" + std::to_string(i) + "]"));
  }
  auto append = [](std::vector<std::string>& row, std::span<const float> values) {
    for (const float v : values) row.push_back(plain(v));
  };
  for (int key = 0; key < stages->values.length; ++key) {
    std::vector<std::string> row{std::to_string(key), c.run->tokens.labels[static_cast<std::size_t>(key)]};
    for (int s = 0; s < kStages; ++s) row.push_back(plain(n.at(static_cast<Stage>(s), key)));
    if (key < n.keys) {
      append(row, n.k[static_cast<std::size_t>(key)]);
      if (products) {
        append(row, n.products[static_cast<std::size_t>(key)]);
      } else {
        append(row, n.v[static_cast<std::size_t>(key)]);
        append(row, n.weighted(key));
      }
    }
    row.resize(result.header.size());
    result.rows.push_back(std::move(row));
  }
  std::vector<std::string> sum{"sum", "", "", "", "", plain(n.weight_sum)};
  sum.resize(6 + 2 * n.d_head);
  if (!products) append(sum, n.z);
  result.rows.push_back(std::move(sum));
  return result;
}

float whole_height(const ViewContext& c) {
  return below_title(c).y + viz::table_height(empty_table(c), style_of(c)) + margin(c) + 1;
}

/// The rows of the table: which of them show, and where.
struct Rows {
  int first = 0;
  int shown = 0;
  int all = 0;
  viz::Rect place;

  SetOption from(double to) const {
    return {&kFirstKey, static_cast<int>(std::lround(std::clamp<double>(to, 0, all - shown)))};
  }
};

Rows rows_of(const ViewContext& c, const Picture& picture) {
  Rows rows;
  rows.all = key_count(c);
  for (const viz::Region& region : picture.regions) {
    if (region.role != kKey || rows.shown == rows.all) continue;
    if (rows.shown++ == 0) rows.place = region.rect;
    rows.place.h = region.rect.bottom() - rows.place.y;
  }
  rows.first = std::min(c.options[kFirstKey], rows.all - rows.shown);
  return rows;
}

/// The key of the row above or below, in the order of the table, and its row in sight.
ViewActions move_key_by_row(const ViewContext& c, const Rows& rows, int by) {
  const auto stages = current_stages(c);
  if (!stages) return {};
  const Numbers n = numbers_of(c, *stages);
  const std::vector<int> order = viz::table_rows(figure_of(c, n));
  const auto now = std::ranges::find(order, c.selection.key);
  const auto at = now == order.end() ? rows.first + (by > 0 ? 0 : rows.shown - 1)
                                     : static_cast<int>(now - order.begin()) + by;
  const int to = std::clamp(at, 0, rows.all - 1);
  ViewActions actions{SelectKey{order[static_cast<std::size_t>(to)]}};
  if (to < rows.first) actions.emplace_back(rows.from(to));
  if (to >= rows.first + rows.shown) actions.emplace_back(rows.from(to + 1 - rows.shown));
  return actions;
}

ViewActions on_key(const ViewContext& c, const Picture& picture, const Gesture& gesture) {
  const Rows rows = rows_of(c, picture);
  if (!c.run || rows.shown == 0) return keys_along_prompt(c, gesture);
  const auto step = [&](int by) -> ViewActions {
    if (gesture.modifiers.shift) return move_key_by_row(c, rows, by);
    return {rows.from(rows.first + by)};
  };
  switch (gesture.key) {
    case Key::up:
      return step(-1);
    case Key::down:
      return step(1);
    case Key::page_up:
      return {rows.from(rows.first - rows.shown)};
    case Key::page_down:
      return {rows.from(rows.first + rows.shown)};
    case Key::home:
      return {rows.from(0)};
    case Key::end:
      return {rows.from(rows.all)};
    default:
      return keys_along_prompt(c, gesture);
  }
}

/// The key whose row or vector it is; none: it is the query's, or the sum.
std::optional<int> key_at(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto which = static_cast<Vector>(hit.row);
  if (region.role == kComponent && (which == Vector::query || which == Vector::z)) return std::nullopt;
  if (!c.run || region.id >= key_count(c)) return std::nullopt;
  return region.id;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  constexpr int kRows = 3;  // for a step of the wheel
  switch (gesture.kind) {
    case Gesture::Kind::key:
      return on_key(c, picture, gesture);
    case Gesture::Kind::click: {
      const auto key = hit ? key_at(c, picture, *hit) : std::nullopt;
      return key && may_see(c, c.selection.query, *key) ? ViewActions{clicked_key(c, *key)} : ViewActions{};
    }
    case Gesture::Kind::wheel: {
      const Rows rows = rows_of(c, picture);
      return {rows.from(rows.first + kRows * (gesture.by.y > 0 ? -1 : 1))};
    }
    default:
      return {};
  }
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto key = hit ? key_at(c, picture, *hit) : std::nullopt;
  if (!key) return lines;
  add_choice_of_key(lines, c, *key, c.selection.query);
  lines.push_back(choose_query(c, *key));
  if (const auto stages = current_stages(c); stages && c.selection.query < stages->values.length) {
    const auto value = [&](Stage stage) { return stages->matrix(stage).at(c.selection.query, *key); };
    const std::string what = of_change(c) ? difference_prefix(c) : "";
    lines.push_back(copy_value(value(Stage::pattern), what + "weight"));
    lines.push_back(copy_value(value(Stage::scores), what + "score"));
  }
  return lines;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  const Rows rows = rows_of(c, picture);
  if (rows.shown == 0 || rows.shown == rows.all) return {};
  const viz::Rect& place = rows.place;
  const float right = c.width - kScrollBar * c.font_size;
  return {{false,
           {place.x, place.y, right - place.x, place.h},
           static_cast<double>(rows.first),
           static_cast<double>(rows.shown),
           static_cast<double>(rows.all),
           [rows](double first) -> ViewActions { return {rows.from(first)}; }}};
}

/// The query before or after the shown one.
ViewActions step(const ViewContext& c, int by) {
  if (!c.run) return {};
  return {MoveQuery{by}};
}

}  // namespace

View query_view() {
  View view;
  view.id = "query";
  view.title = "Query";
  view.help =
      "one query: its score with each key through the stages, and values, weights and their sum as vectors";
  view.options = {&kFirstKey, &kStrongestFirst, &kStrips};
  view.commands = {
      {"", "‹ Previous", "The query before this one", [](const ViewContext& c, int) { return step(c, -1); }},
      {"", "Next ›", "The query after this one", [](const ViewContext& c, int) { return step(c, 1); }}};
  view.on = on;
  view.menu = menu;
  view.scrolls = scrolls;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.shows_difference = true;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
