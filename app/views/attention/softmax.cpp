#include <array>

#include "app/run/analyses/vectors.h"
#include "app/views/attention/query_rows.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace softmax {

enum Role { kRow };  // Region::id: index of a score
enum class Source { row, one, ten, hundred, robot };

const Option<Source> kSource = choice_option<Source>(
    "scores-from", "Scores", "eE",
    "which scores go through softmax: those of the chosen query, or an example",
    {{"row", "Query", "The chosen query's scores with its keys"},
     {"one", "−1, 0, 1", "Three numbers", "of three numbers"},
     {"ten", "× 10", "The three numbers, ten times as large", "of three numbers times 10"},
     {"hundred", "× 100", "A hundred times as large: values far below the largest almost vanish",
      "of three numbers times 100"},
     {"robot", "robot must…", "A widely used four-token example", "of a four-token example"}});
const Option<double> kScale =
    make_option<double>("softmax-scale", "Scale", "factor on the scores, on top of the model's own scale",
                        {.phrase = "scores times {}",
                         .default_value = 1.0,
                         .low = 0.05,
                         .high = 16,
                         .step = 0.05,
                         .keys = "xX",
                         .kept = false});
const Option<int> kFirst = first_row_option("first-score", true, -1);

/// Scores in groups whose weights each sum to 1. On the difference side: differences, NaN without a
/// counterpart, ±inf if the key is masked on one side only.
struct Numbers {
  std::vector<std::string> names;
  std::vector<float> scores, scaled, weights;
  std::vector<float> other;  ///< the same at another scale, for comparison; empty: none
  std::string other_name, other_column;
  std::string title, note;
  std::string other_note;  ///< continues the note if the other weights are shown
  double scale = 1;
  double entropy = 0;  ///< bits, of the first group
  bool one_group = true;
  bool is_difference = false;
  bool replaced = false;  ///< edits of the pattern act on the weights afterwards
};

/// "robot must obey orders": raw scores of each token with all four; later keys are masked.
constexpr std::array<const char*, 4> kRobot{"robot", "must", "obey", "orders"};
constexpr std::array<std::array<float, 4>, 4> kRobotScores{{{0.11F, 0.00F, 0.81F, 0.79F},
                                                            {0.19F, 0.50F, 0.30F, 0.48F},
                                                            {0.53F, 0.98F, 0.95F, 0.14F},
                                                            {0.81F, 0.86F, 0.38F, 0.90F}}};

/// Softmax of consecutive groups of scores, of these sizes.
std::vector<float> softmax_of_groups(const std::vector<float>& scores, double scale,
                                     const std::vector<std::size_t>& sizes) {
  std::vector<float> weights;
  auto at = scores.begin();
  for (const std::size_t size : sizes) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    const std::vector<float> group = softmax_of(std::vector<float>(at, end), static_cast<float>(scale));
    weights.insert(weights.end(), group.begin(), group.end());
    at = end;
  }
  return weights;
}

/// In bits.
double entropy_of(const std::vector<float>& weights) {
  double entropy = 0;
  for (const double w : weights)
    if (w > 0) entropy -= w * std::log2(w);
  return entropy;
}

void finish(Numbers& n, double factor, double other, const std::vector<std::size_t>& sizes) {
  n.scale = factor;
  n.weights = softmax_of_groups(n.scores, factor, sizes);
  if (other > 0) n.other = softmax_of_groups(n.scores, other, sizes);
  for (const float score : n.scores) n.scaled.push_back(static_cast<float>(factor) * score);
  n.entropy = entropy_of(n.weights);
  n.one_group = sizes.size() == 1;
}

/// The numbers of a query's scores, edited or not, without names.
Numbers numbers_of_row(const ViewContext& c, const SoftmaxRow& row) {
  Numbers n;
  const double factor = c.options[kScale];
  const model::Config& config = c.run->run->config;
  n.title = "Softmax of " + head_title(c, c.selection.layer, c.selection.head) + ", query " +
            token_name(c.run->tokens, c.selection.query);
  // Edited scores, before they are scaled.
  const float of_model = config.attention_scale(c.selection.layer);
  n.scores = row.scores;
  bool edited = false;
  for (std::size_t key = 0; key < n.scores.size(); ++key) {
    if (row.masked[key] == row.scaled[key] || std::isnan(row.scaled[key])) continue;
    n.scores[key] = row.masked[key] / of_model;
    edited = true;
  }
  n.other_name = n.other_column = "unscaled";
  n.note = std::string(edited ? "scores as edited × " : "scores × ") +
           (factor == 1 ? "" : viz::number(factor, 3) + " × ") + scale_factor(config, c.selection.layer);
  n.replaced = is_edited_at(c, model::Site::pattern, c.selection.layer, c.selection.head);
  n.other_note = "; last column: without the scale";
  finish(n, factor * double{of_model}, 1, {n.scores.size()});
  return n;
}

/// The differences from the counterpart's row, key by key.
Numbers difference_of_rows(Numbers now, const Numbers& before, const std::vector<int>& counterparts,
                           const std::string& other) {
  now.is_difference = true;
  now.entropy -= before.entropy;
  for (const auto values : {&Numbers::scores, &Numbers::scaled, &Numbers::weights, &Numbers::other}) {
    for (std::size_t key = 0; key < counterparts.size(); ++key) {
      float& value = (now.*values)[key];
      value = counterparts[key] < 0 ? std::numeric_limits<float>::quiet_NaN()
                                    : difference(value, (before.*values)[counterparts[key]]);
    }
  }
  if (std::ranges::any_of(counterparts, [](int key) { return key < 0; }))
    now.note += "; blank: key without counterpart in the " + other;
  if (std::ranges::any_of(now.scores, [](float value) { return std::isinf(value); }))
    now.note += "; no score difference: the key is masked on one side only";
  return now;
}

/// "robot must obey orders", each token with itself and the tokens before it.
Numbers numbers_of_robot(double factor) {
  Numbers n;
  n.title = "Softmax of “robot must obey orders”";
  std::vector<std::size_t> sizes;
  for (std::size_t query = 0; query < kRobot.size(); ++query) {
    sizes.push_back(query + 1);
    for (std::size_t key = 0; key <= query; ++key) {
      n.names.push_back(std::string(kRobot[query]) + " → " + kRobot[key]);
      n.scores.push_back(kRobotScores[query][key]);
    }
  }
  n.other_name = "score ÷ 4";
  n.other_column = "of a quarter";
  n.note =
      "the weights usually given for these scores (0.48, 0.52, …) are the softmax of the scores divided by 4";
  n.other_note = ": the last column";
  finish(n, factor, 0.25, sizes);
  return n;
}

/// The numbers for scores -size, 0 and size.
Numbers numbers_of_three(float size, double factor) {
  Numbers n;
  n.scores = {-size, 0, size};
  for (const float score : n.scores) n.names.push_back(exact(score));
  n.title = "Softmax of " + n.names[0] + ", " + n.names[1] + ", " + n.names[2];
  n.note = "float32: weights of scores 88 below the maximum lose digits; those of scores 104 below are 0";
  finish(n, factor, 0, {3});
  return n;
}

/// None while the scores of the query, or of its counterpart, are missing.
std::optional<Numbers> numbers_of(const ViewContext& c) {
  if (!c.run) return std::nullopt;
  // Also for the examples, so that the view always asks the same questions.
  const auto rows = rows_of_query(c);
  const Source source = c.options[kSource];
  // An example is the same on all sides, even without a counterpart of the query.
  const bool no_counterpart_exists = c.side == Side::difference && compared_query(c) < 0;
  if (!rows && (source == Source::row || !no_counterpart_exists)) return std::nullopt;
  const double factor = c.options[kScale];
  if (source == Source::robot) return numbers_of_robot(factor);
  if (source != Source::row)
    return numbers_of_three(source == Source::one ? 1.F : source == Source::ten ? 10.F : 100.F, factor);
  Numbers n = numbers_of_row(c, *rows->now);
  for (int key = 0; key < std::ssize(n.scores); ++key) n.names.push_back(token_name(c.run->tokens, key));
  if (rows->before)
    return difference_of_rows(std::move(n), numbers_of_row(c, *rows->before), rows->counterparts,
                              second_name(*c.run));
  n.other_note += ", entropy " + viz::number(entropy_of(n.other), 3) + " bits";
  return n;
}

constexpr int kOtherColumn = 4;  // in the list

/// The largest magnitude of the finite values; 0: none is.
float largest(const std::vector<float>& values) {
  return viz::value_range(viz::Matrix::row(values)).magnitude();
}

const ListRows kRows{.role = kRow, .first = kFirst, .names = "rows", .keys = ListKeys::pages};

/// Differences have the two colours of signed values, and are blank if not finite.
List list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const bool row = c.options[kSource] == Source::row;
  List list(c, kRows, static_cast<int>(n.scores.size()));
  const auto bars = [&](std::string heading, std::string file, int importance,
                        const std::vector<float>& values, ListLook look) {
    look.file = (n.is_difference ? difference_column_prefix(c) : "") + file;
    if (n.is_difference) look.blank = [&values](int at) { return !std::isfinite(values[at]); };
    list.bar((n.is_difference ? delta(c) : "") + heading, importance, values, look);
  };
  // Both on one axis, so that a spike stands out from the others. Differences have their own axes, because
  // spikes would hide the rest.
  const int together = n.is_difference ? 0 : 1;
  const auto weights = [&](const std::string& heading, const std::string& file, int importance,
                           const std::vector<float>& values) {
    bars(heading, file, importance, values,
         {.digits = 4,
          .scientific = 0.001,
          .rounds = true,
          .axis_group = together,
          .axis = true,
          .is_signed = n.is_difference});
  };
  list.text(row ? "key" : "score of", 9, n.names,
            {.file = row ? std::nullopt : std::optional<Column>("scores"),
             .heading = row ? theme.key : theme.text_muted});
  if (row) {
    list.file(key_column("key"), [](int key) { return key; });
    list.file(note_column("key token"), c.run->tokens.labels);
  }
  bars("score", "score", 6, n.scores, {.is_signed = true});
  bars(n.is_difference ? "scaled" : "× " + viz::number(n.scale, 3), "scaled", 5, n.scaled,
       {.is_signed = true, .hidden = n.scale == 1});
  weights("weight", "weight", 8, n.weights);
  int order = list.last();
  if (!n.other.empty()) weights(n.other_name, n.other_column, n.is_difference ? 4 : 7, n.other);
  const bool sorted = row && c.options[kStrongestFirst];
  if (n.is_difference) {
    const auto magnitude = [&](int at) { return std::abs(n.weights[at]); };
    list.number("", 0, magnitude, {.hidden = true});
    order = list.last();
  }
  if (row) list.table.strength = order;
  if (sorted) list.table.order = {order};
  list.table.marked = row ? c.selection.key : -1;
  list.table.mark = theme.key;
  list.table.kept = row ? wanted_key(c, c.selection.query, static_cast<int>(n.names.size())) : -1;
  list.table.in_order_of_strength = sorted;
  list.table.row_names = sorted ? n.is_difference ? "keys that differ most" : "strongest keys"
                         : row  ? "keys"
                                : "rows";
  list.table.first_number = sorted ? 1 : 0;
  return list;
}

std::string summary(const ViewContext& c, const Numbers& n) {
  const std::string before_edits = n.replaced ? "before the edits of the pattern: " : "";
  if (n.is_difference) {
    return before_edits + difference_subtitle(c, {n.scores, n.weights}) + "; entropy " +
           (n.entropy > 0 ? "+" : "") + viz::number(n.entropy, 3) + " bits";
  }
  if (!n.one_group) return "each query's weights sum to 1; later keys are masked";
  const auto seen = std::ranges::count_if(
      n.scaled, [](float score) { return score > -std::numeric_limits<float>::infinity(); });
  const double most = std::log2(static_cast<double>(std::max<std::ptrdiff_t>(seen, 1)));
  return before_edits + "entropy " + viz::number(n.entropy, 3) + " of " + viz::number(most, 3) +
         " bits, largest weight " + viz::number(largest(n.weights), 3);
}

/// The list's area above the note, which is empty if there is no room.
viz::Rect lay_out(const ViewContext& c, const Numbers& n, List& list, std::vector<std::string>& note) {
  const viz::Style style = style_of(c);
  viz::Rect area = below_title(c);
  list.lay_out(area);
  const bool other = !n.other.empty() && list.layout().place_of(kOtherColumn) != nullptr;
  note =
      viz::wrap(style, n.note + (other ? n.other_note : ""), style.small(), viz::FontStyle::regular, area.w);
  const float height = static_cast<float>(note.size()) * style.line(style.small()) + 2 * style.unit();
  // In a low pane keys are more important than the note on the scale.
  const float some_rows = viz::table_height(viz::Table{}, style) + 6 * viz::table_row_height(style);
  if (c.in_pane && c.options[kSource] == Source::row && area.h - height < some_rows) {
    note.clear();
  } else {
    area.h -= height;
  }
  return area;
}

Picture build(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return *waiting_for_rows(c, false);
  const viz::Style style = style_of(c);
  List list = list_of(c, *n);
  std::vector<std::string> note;
  const viz::Rect area = lay_out(c, *n, list, note);
  const bool row = c.options[kSource] == Source::row;  // the numbers of an example begin at their first
  if (!(row ? list.lay_out_showing(area, n->weights) : list.lay_out(area)))
    return too_small(c, "for the table");
  Picture picture = blank(c);
  const std::string shown_keys = list.note("");
  paint_title(picture, c, n->title + (n->is_difference ? difference_suffix(c) : ""),
              shown_keys + (shown_keys.empty() ? "" : "; ") + summary(c, *n) + list.left_out("; "));
  list.paint(picture);
  const float y = std::min(area.bottom(), area.y + viz::table_height(list.table, style)) + 2 * style.unit();
  paint_small_lines(picture, c, note, {area.x, y});
  return picture;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!n || region.id >= std::ssize(n->scores)) return {};
  const int i = region.id;
  Facts facts = facts_of_row(c, region.rect, c.theme->query);
  facts.say(n->names[i]);
  if (std::isnan(n->weights[i]) && n->is_difference) {
    facts.say(no_counterpart_words(c));
    return facts;
  }
  const std::string prefix = n->is_difference ? difference_prefix(c) : "";
  facts.number(prefix + "score", n->scores[i]);
  facts.number(prefix + "scaled", n->scaled[i]);
  facts.number(prefix + "weight", n->weights[i]);
  if (!n->other.empty()) facts.number(prefix + n->other_name, n->other[i]);
  return facts;
}

Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  Table result = list_of(c, *n).exported();
  result.ranked_by = (n->is_difference ? difference_column_prefix(c) : "") + "weight";
  if (c.options[kSource] == Source::row) {
    add_head_facts(result, c);
    add_query_facts(result, c);
  }
  if (!n->one_group) return result;
  result.fact((n->is_difference ? difference_column_prefix(c) : "") + "entropy", n->entropy, "bits");
  if (n->is_difference) return result;
  result.fact("largest weight", largest(n->weights));
  if (n->other.empty()) return result;
  result.fact(n->other_column + " entropy", entropy_of(n->other), "bits");
  result.fact("largest " + n->other_column, largest(n->other));
  return result;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const int key = region_of(picture, hit).id;
  if (c.options[kSource] != Source::row || !may_see(c, c.selection.query, key)) return {};
  return {clicked_key(c, key)};
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Table table;
  table.rows = c.selection.query + 1;
  if (const auto n = numbers_of(c)) table.rows = static_cast<int>(n->scores.size());
  return below_title(c).y + viz::table_height(table, style) + 4 * style.line(style.small()) + margin(c) + 1;
}

}  // namespace softmax

View softmax_view() {
  using namespace softmax;
  View view = make_view(
      Group::attention, "softmax", "Softmax",
      "softmax of the scores at any scale: why 1/√d_head keeps the weights from collapsing onto one key",
      build, facts, table);
  view.options = {&kSource, &kScale, &kStrongestFirst, &kFirst};
  add_list(view, kRows, click);
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kStrongestFirst || c.options[kSource] == Source::row;
  };
  view.shows_difference = true;
  view.landmarks = {landmark("scores", kRow)};
  return view;
}

}  // namespace headscope::app
