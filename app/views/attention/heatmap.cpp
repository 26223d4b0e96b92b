#include "app/run/sources/pattern_file.h"
#include "app/views/parts/parts.h"

namespace headscope::app::heatmap {

enum Role { kCell };  // row: query, col: key

enum class Cells { weights, values, rollout };

const Option<Cells> kCells = choice_option<Cells>(
    "cell-values", "Cells", "cC",
    "what cells show: weights, weighted values, or attention through all layers so far",
    {{"weights", "Weights", "The attention pattern: how much each query attends to each key"},
     {"values", "Weighted values",
      "The norm of weight × value through W_O: how much the head writes from each key"},
     {"rollout", "Rollout",
      "Attention rollout: the mean pattern of all heads, averaged with the identity for the residual stream, "
      "through "
      "the layers up to the chosen one"}},
    {.advanced = true});

/// The texts for a kind of cells.
struct Words {
  std::string title, subtitle;
  std::string_view quantity;  ///< name of a cell's value
  std::string_view whole;     ///< the sum of a row
};

std::shared_ptr<const Pattern> need_pattern(Content& it) {
  const auto [layer, head] = std::pair(it.c.selection.layer, it.c.selection.head);
  switch (it.c.options[kCells]) {
    case Cells::weights:
      break;
    case Cells::values:
      return need_of_heads(it, WeightedValuesOf{layer, head});
    case Cells::rollout:
      return it.need(RolloutOf{layer});
  }
  return need_of_heads(it, PatternOf{layer, head});
}

double sum_of_row(const Pattern& pattern, int row) {
  double sum = 0;
  for (int col = 0; col < pattern.keys(); ++col) sum += static_cast<double>(pattern.matrix().at(row, col));
  return sum;
}

/// "; rows sum to 1", unless edits change the sum; of a query whose keys are all masked it is 0.
std::string sum_words(const ViewContext& c, const Pattern& pattern) {
  constexpr double kTolerance = 1e-3;
  bool all = true, zeros = false;
  for (int query = 0; query < pattern.length; ++query) {
    const double sum = sum_of_row(pattern, query);
    zeros |= sum == 0;
    all &= sum == 0 || std::abs(sum - 1) < kTolerance;
  }
  const PatternFile* file = c.run->model->patterns.get();
  const std::string sums = !all ? "" : zeros ? "; rows sum to 1 or 0" : "; rows sum to 1";
  return sums + (file ? "; " + file->mask_words() : "");
}

Words words_of(const ViewContext& c, const Pattern& pattern) {
  const auto& [layer, head, query, key] = c.selection;
  const std::string name = name_of_heads(c);
  const bool one = c.options[kOfHeads] == Heads::one;
  switch (c.options[kCells]) {
    case Cells::weights:
      break;
    case Cells::values:
      return {"What " + name + " writes from each key",
              std::string("norm of weight × value through W_O") +
                  (one && output_factor(c, layer, head) != 1 ? "; before the edit" : ""),
              "norm", "the row's sum"};
    case Cells::rollout:
      return {"Attention rollout through L" + std::to_string(layer), "rollout" + sum_words(c, pattern),
              "rollout", "what reaches this position"};
  }
  return {"Attention pattern of " + name, "weight" + sum_words(c, pattern), "weight",
          "this query's attention"};
}

/// Rank of a key among the keys of its query, 1 for the largest weight.
int rank_of(const Pattern& answer, int query, int key) {
  const viz::Matrix pattern = answer.matrix();
  int rank = 1;
  for (int k = 0; k < answer.masked.end_of(query); ++k)
    rank += !answer.masked(query, k) && pattern.at(query, k) > pattern.at(query, key);
  return rank;
}

/// A row for each cell that is not masked.
Table table(const ViewContext& c, const Pattern& pattern, std::string_view quantity) {
  Table result{key_column("query"), note_column("query token"), key_column("key"), note_column("key token"),
               difference_column_prefix(c) + std::string(quantity)};
  result.ranked_by = result.columns.back().name;
  if (c.options[kCells] == Cells::rollout)
    result.about("layer", c.selection.layer);
  else
    add_facts_of_heads(result, c);
  for (int query = 0; query < pattern.length; ++query)
    for (int key = 0; key < pattern.masked.end_of(query); ++key)
      if (!pattern.masked(query, key))
        add_row(result, query, c.run->tokens.labels[query], key, key_tokens(*c.run).labels[key],
                pattern.matrix().at(query, key));
  return result;
}

void add_cell_facts(Facts& facts, const ViewContext& c, const Pattern& pattern, const Words& words, int query,
                    int key) {
  if (pattern.masked(query, key)) return facts.say(masked_words(c, query, key));
  const float weight = pattern.matrix().at(query, key);
  facts.number(difference_prefix(c) + std::string(words.quantity), weight);
  if (c.differs() || !std::isfinite(weight)) return;
  const double part =
      static_cast<double>(weight) / (c.options[kCells] == Cells::values ? sum_of_row(pattern, query) : 1);
  facts.tip((std::isfinite(part) ? percent(part) + " of " + std::string(words.whole) + ", " : "") + "rank " +
            std::to_string(rank_of(pattern, query, key)) + " of " +
            std::to_string(pattern.masked.count_of(query)));
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = need_pattern(it);
  if (!answer) return;
  const Pattern& pattern = *it.keep(answer);
  const Words& words = it.keep(words_of(c, pattern));
  const bool is_weight = c.options[kCells] == Cells::weights;
  const PatternScale& scale =
      it.keep(pattern_scale(c, pattern.matrix(), words.quantity, pattern.masked.causal(),
                            is_weight ? common_range(c) : viz::ValueRange{}));
  it.title = words.title;
  it.subtitle = c.differs() ? "" : words.subtitle;
  it.table = [&] { return table(c, pattern, words.quantity); };
  std::vector<AttentionMap> maps{{colored_cells(pattern.matrix(), scale, pattern.masked), scale.title}};
  auto map = std::make_unique<AttentionMaps>(kCell, std::move(maps));
  map->cell_facts = [&](Facts& facts, int query, int key) {
    add_cell_facts(facts, c, pattern, words, query, key);
  };
  it.same = viz::value_range(pattern.matrix()).magnitude() == 0;
  it.body = std::move(map);
}

View view() {
  View view = attention_matrix_view(
      make_view("heatmap", "Heatmap", declare,
                "attention pattern of one head: a row for each query, a column for each key"));
  view.part = Part::attention;
  view.options = {&kCells, &kOfHeads, &kValueScale, &kValueMax, &kWithoutKey0, &kDragAction, &kShape, &kZoom};
  view.shown_heads = [](const ViewContext& c) {
    const int layer = c.selection.layer;
    if (c.options[kCells] != Cells::rollout) return name_of_heads(c);
    return (layer == 0 ? "layer 0" : "layers 0–" + std::to_string(layer));
  };
  view.needs = Capability::patterns;
  view.landmarks = {{.name = "query row", .role = kCell, .row = selected_query},
                    {.name = "cell", .role = kCell, .row = selected_query, .col = attended_key}};
  return view;
}

}  // namespace headscope::app::heatmap
