#include "app/run/analyses/vectors.h"
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

bool is_row(const ViewContext& c) {
  return c.options[kSource] == Source::row;
}

/// Scores, and weights that sum to 1. On the difference side: differences, NaN without a counterpart, ±inf if
/// the key is masked on one side only.
struct Numbers {
  std::vector<std::string> names;
  std::vector<float> scores, scaled, weights;
  std::vector<float> unscaled;  ///< weights without the model's scale, for comparison; empty: none
  std::string title, note;
  double scale = 1;
  double entropy = 0;  ///< bits
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

/// The numbers of a query's scores, edited or not.
Numbers numbers_of_row(const ViewContext& c, const SoftmaxRow& row) {
  Numbers n;
  const double factor = c.options[kScale];
  const model::Config& config = c.config();
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
  n.unscaled = softmax_of(scores, 1);
  if (!c.differs())
    n.note += "; last column: without the scale, entropy " + viz::number(entropy_of(n.unscaled), 3) + " bits";
  set_scores(n, std::move(scores), factor * double{of_model});
  return n;
}

/// None while the scores of the query, or of its counterpart, are missing.
std::optional<Numbers> numbers_of(Content& it) {
  const ViewContext& c = it.c;
  if (!is_row(c)) {
    constexpr float kSizes[]{0, 1, 10, 100};
    const float size = kSizes[static_cast<std::size_t>(c.options[kSource])];
    Numbers n;
    set_scores(n, {-size, 0, size}, c.options[kScale]);
    for (const float score : n.scores) n.names.push_back(exact(score));
    n.title = "Softmax of " + n.names[0] + ", " + n.names[1] + ", " + n.names[2];
    n.note = "in float32, weights lose digits 88 below the largest score and are 0 from 104 below it";
    return n;
  }
  const auto rows = rows_of_query(it);
  if (!rows) return std::nullopt;
  Numbers n = numbers_of_row(c, *rows->now);
  for (int key = 0; key < std::ssize(n.scores); ++key) n.names.push_back(token_name(c.run->tokens, key));
  if (!rows->before) return n;
  const Numbers before = numbers_of_row(c, *rows->before);
  n.entropy -= before.entropy;
  for (const auto values : {&Numbers::scores, &Numbers::scaled, &Numbers::weights, &Numbers::unscaled})
    for (std::size_t key = 0; key < rows->counterparts.size(); ++key) {
      const int there = rows->counterparts[key];
      float& value = (n.*values)[key];
      value =
          there < 0 ? std::numeric_limits<float>::quiet_NaN() : difference(value, (before.*values)[there]);
    }
  return n;
}

const ListRows kRows{kRow, first_row_option("first-score", true, -1), "keys", ListKeys::pages};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const bool row = is_row(c), differs = c.differs();
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.scores.size()));
  // Both on one axis, so that a spike stands out; of differences it would hide the rest, so they have two.
  ListLook weight{.file = "weight",
                  .digits = 4,
                  .scientific = 0.001,
                  .rounds = true,
                  .axis = true,
                  .least = 5.5F * c.font_size,
                  .is_signed = differs,
                  .differs = true};
  if (row && !differs)
    weight.high =
        viz::round_limit(double{std::max(std::ranges::max(n.weights), std::ranges::max(n.unscaled))});
  if (row) {
    list->refers_to = [](int key) { return Ref{.key = key}; };
    list->text("key", 9, n.names, {.heading = c.theme->key});
    list->file(key_column("key"), [](int key) { return key; });
    list->file(note_column("key token"), c.run->tokens.labels);
  } else {
    list->text("", 9, n.names, {.file = "scores"});
  }
  list->bar("score", 6, n.scores,
            {.file = "score", .least = 5.5F * c.font_size, .is_signed = true, .differs = true});
  list->bar("× " + viz::number(n.scale, 3), 5, n.scaled,
            {.file = "scaled", .is_signed = true, .hidden = n.scale == 1, .differs = true});
  list->bar("weight", 8, n.weights, weight);
  if (!row) return list;
  arrange_keys(*list, c, n.weights);
  weight.file = "unscaled";
  list->bar("unscaled", 7, n.unscaled, weight);
  return list;
}

std::string summary(const ViewContext& c, const Numbers& n) {
  std::string words =
      "entropy " + std::string(c.differs() && n.entropy > 0 ? "+" : "") + viz::number(n.entropy, 3);
  if (!c.differs()) {
    const auto seen = std::ranges::count_if(n.scaled, [](float score) { return score > -INFINITY; });
    words += " of " + viz::number(std::log2(std::max(1.0, static_cast<double>(seen))), 3);
  }
  words += " bits";
  if (!c.differs()) words += "; largest weight " + viz::number(std::ranges::max(n.weights), 3);
  const bool replaced =
      is_row(c) && is_edited_at(c, model::Site::pattern, c.selection.layer, c.selection.head);
  return words + (replaced ? "; before the pattern's edits" : "");
}

Table table(const ViewContext& c, const Numbers& n, const List& list) {
  const std::string prefix = difference_column_prefix(c);
  Table result = list.exported(prefix + "weight");
  if (is_row(c)) {
    add_head_facts(result, c);
    add_query_facts(result, c);
  }
  result.fact(prefix + "entropy", n.entropy, "bits");
  if (c.differs()) return result;
  result.fact("largest weight", std::ranges::max(n.weights));
  if (!is_row(c)) return result;
  result.fact("unscaled entropy", entropy_of(n.unscaled), "bits");
  result.fact("largest unscaled", std::ranges::max(n.unscaled));
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto numbers = numbers_of(it);
  if (!numbers) return;
  const Numbers& n = it.keep(*std::move(numbers));
  it.title = n.title, it.subtitle = summary(c, n);
  it.same = are_zero({n.scores, n.weights});
  auto list = list_of(c, n);
  it.table = [&c, &n, &list = *list] { return table(c, n, list); };
  it.body = rows(boxes(std::move(list), notes({n.note})));
}

View view() {
  View view = make_view(
      "softmax", "Softmax", declare,
      "softmax of the scores at any scale: why 1/√d_head keeps the weights from collapsing onto one key");
  view.options = {&kSource, &kScale, &kStrongestFirst, &kRows.first};
  view.of_model = [](const ViewContext& c) { return !is_row(c); };
  view.caption.head = true;
  view.landmarks = {{"scores", kRow}};
  return view;
}

}  // namespace headscope::app::softmax
