#include <array>

#include "app/run/analyses/vectors.h"
#include "app/views/attention/query_rows.h"
#include "app/views/parts/parts.h"

namespace headscope::app::softmax {

enum Role { kRow };  // Region::id: index of a score
enum class Source { row, one, ten, hundred };

const Option<Source> kSource = choice_option<Source>(
    "scores-from", "Scores", "eE",
    "which scores go through softmax: those of the chosen query, or three numbers",
    {{"row", "Query", "The chosen query's scores with its keys"},
     {"one", "−1, 0, 1", "Three numbers"},
     {"ten", "× 10", "The three numbers, ten times as large"},
     {"hundred", "× 100", "A hundred times as large: values far below the largest almost vanish"}});
const Option<double> kScale = make_option<double>(
    "softmax-scale", "Scale", "factor on the scores, on top of the model's own scale",
    {.default_value = 1.0, .low = 0.05, .high = 16, .step = 0.05, .keys = "xX", .kept = false});
const Option<int> kFirst = first_row_option("first-score", true, -1);

/// Scores, and weights that sum to 1. On the difference side: differences, NaN without a counterpart, ±inf if
/// the key is masked on one side only.
struct Numbers {
  std::vector<std::string> names;
  std::vector<float> scores, scaled, weights;
  std::vector<float> unscaled;  ///< weights without the model's scale, for comparison; empty: none
  std::string title, note;
  double scale = 1;
  double entropy = 0;  ///< bits
  bool is_difference = false;
  bool replaced = false;  ///< edits of the pattern act on the weights afterwards
};

/// In bits.
double entropy_of(const std::vector<float>& weights) {
  double entropy = 0;
  for (const double w : weights)
    if (w > 0) entropy -= w * std::log2(w);
  return entropy;
}

void set_scores(Numbers& n, std::vector<float> scores, double factor) {
  n.scores = std::move(scores);
  n.scale = factor;
  for (const float score : n.scores) n.scaled.push_back(static_cast<float>(factor) * score);
  n.weights = softmax_of(n.scores, static_cast<float>(factor));
  n.entropy = entropy_of(n.weights);
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
  std::vector<float> scores = row.scores;
  bool edited = false;
  for (std::size_t key = 0; key < scores.size(); ++key) {
    if (row.masked[key] == row.scaled[key] || std::isnan(row.scaled[key])) continue;
    scores[key] = row.masked[key] / of_model;
    edited = true;
  }
  n.note = std::string(edited ? "scores as edited × " : "scores × ") +
           (factor == 1 ? "" : viz::number(factor, 3) + " × ") + scale_factor(config, c.selection.layer);
  n.replaced = is_edited_at(c, model::Site::pattern, c.selection.layer, c.selection.head);
  n.unscaled = softmax_of(scores, 1);
  set_scores(n, std::move(scores), factor * double{of_model});
  return n;
}

/// The differences from the counterpart's row, key by key.
Numbers difference_of_rows(Numbers now, const Numbers& before, const std::vector<int>& counterparts,
                           const std::string& other) {
  now.is_difference = true;
  now.entropy -= before.entropy;
  for (const auto values : {&Numbers::scores, &Numbers::scaled, &Numbers::weights, &Numbers::unscaled}) {
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

/// The numbers for scores -size, 0 and size.
Numbers numbers_of_three(float size, double factor) {
  Numbers n;
  set_scores(n, {-size, 0, size}, factor);
  for (const float score : n.scores) n.names.push_back(exact(score));
  n.title = "Softmax of " + n.names[0] + ", " + n.names[1] + ", " + n.names[2];
  n.note = "float32: weights of scores 88 below the maximum lose digits; those of scores 104 below are 0";
  return n;
}

/// None while the scores of the query, or of its counterpart, are missing.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  const Source source = c.options[kSource];
  constexpr float kSizes[]{0, 1, 10, 100};
  if (source != Source::row)
    return numbers_of_three(kSizes[static_cast<std::size_t>(source)], c.options[kScale]);
  const auto rows = rows_of_query(it);
  if (!rows) return std::nullopt;
  Numbers n = numbers_of_row(c, *rows->now);
  for (int key = 0; key < std::ssize(n.scores); ++key) n.names.push_back(token_name(c.run->tokens, key));
  if (!rows->before) return n;
  return difference_of_rows(std::move(n), numbers_of_row(c, *rows->before), rows->counterparts,
                            second_name(*c.run));
}

/// The largest magnitude of the finite values; 0: none is.
float largest(const std::vector<float>& values) {
  return viz::value_range(viz::Matrix::row(values)).magnitude();
}

const ListRows kRows{.role = kRow, .first = kFirst, .names = "rows", .keys = ListKeys::pages};

/// Differences have the two colours of signed values, and are blank if not finite.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const viz::Theme& theme = *c.theme;
  const bool row = c.options[kSource] == Source::row;
  auto made = std::make_unique<List>(c, kRows, static_cast<int>(n.scores.size()));
  List& list = *made;
  if (row) list.refers_to = [](int key) { return Ref{.key = key}; };
  if (!row) list.row_facts = [&n](Facts& facts, int i) { facts.say(n.names[i]); };
  const auto bars = [&](std::string heading, std::string file, int importance,
                        const std::vector<float>& values, ListLook look) {
    look.file = (n.is_difference ? difference_column_prefix(c) : "") + file;
    if (n.is_difference) look.blank = [&values](int at) { return !std::isfinite(values[at]); };
    list.bar((n.is_difference ? delta(c) : "") + heading, importance, values, look);
  };
  // Both on one axis, so that a spike stands out from the others. Differences have their own axes, because
  // spikes would hide the rest.
  const int together = n.is_difference ? 0 : 1;
  const auto weights = [&](const std::string& which, int importance, const std::vector<float>& values) {
    bars(which, which, importance, values,
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
  weights("weight", 8, n.weights);
  if (!n.unscaled.empty()) weights("unscaled", n.is_difference ? 4 : 7, n.unscaled);
  const bool sorted = row && c.options[kStrongestFirst];
  if (sorted) list.order_by([&](int at) { return std::abs(n.weights[at]); });
  list.table.row_names = sorted ? n.is_difference ? "keys that differ most" : "strongest keys"
                         : row  ? "keys"
                                : "rows";
  list.table.first_number = sorted ? 1 : 0;
  if (!row) return made;
  list.rank_by(n.weights);
  list.table.marked = c.selection.key;
  list.table.mark = theme.key;
  list.kept = wanted_key(c, c.selection.query, static_cast<int>(n.names.size()));
  return made;
}

std::string summary(const Numbers& n) {
  const std::string before_edits = n.replaced ? "; before the pattern's edits" : "";
  if (n.is_difference)
    return "entropy " + std::string(n.entropy > 0 ? "+" : "") + viz::number(n.entropy, 3) + " bits" +
           before_edits;
  const auto seen = std::ranges::count_if(
      n.scaled, [](float score) { return score > -std::numeric_limits<float>::infinity(); });
  const double most = std::log2(static_cast<double>(std::max<std::ptrdiff_t>(seen, 1)));
  return "entropy " + viz::number(n.entropy, 3) + " of " + viz::number(most, 3) + " bits; largest weight " +
         viz::number(largest(n.weights), 3) + before_edits;
}

Table table(const ViewContext& c, const Numbers& n, const List& list) {
  const std::string prefix = n.is_difference ? difference_column_prefix(c) : "";
  Table result = list.exported();
  result.ranked_by = prefix + "weight";
  if (c.options[kSource] == Source::row) {
    add_head_facts(result, c);
    add_query_facts(result, c);
  }
  result.fact(prefix + "entropy", n.entropy, "bits");
  if (n.is_difference) return result;
  result.fact("largest weight", largest(n.weights));
  if (n.unscaled.empty()) return result;
  result.fact("unscaled entropy", entropy_of(n.unscaled), "bits");
  result.fact("largest unscaled", largest(n.unscaled));
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*std::move(numbers));
  it.title = n.title, it.subtitle = summary(n);
  it.same = are_zero({n.scores, n.weights});
  it.says_difference = !n.is_difference;
  auto list = list_of(c, n);
  it.table = [&c, &n, &list = *list] { return table(c, n, list); };
  std::string note = n.note;
  if (c.options[kSource] == Source::row && !n.is_difference)
    note += "; last column: without the scale, entropy " + viz::number(entropy_of(n.unscaled), 3) + " bits";
  it.body = rows(boxes(std::move(list), notes({note})));
}

View view() {
  View view = make_view(
      "softmax", "Softmax", declare,
      "softmax of the scores at any scale: why 1/√d_head keeps the weights from collapsing onto one key");
  view.options = {&kSource, &kScale, &kStrongestFirst, &kFirst};
  view.caption.head = true;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kStrongestFirst || c.options[kSource] == Source::row;
  };
  view.landmarks = {landmark("scores", kRow)};
  return view;
}

}  // namespace headscope::app::softmax
