#include <array>
#include <ranges>

#include "app/views/parts/parts.h"

namespace headscope::app::scores {

enum Role {
  kCell,  // row: query, col: key; Region::id: the stage
  kKey,   // id: a row of the list
};

/// The stage shown alone, counted from 1; 0: all of them.
const Option<double> kScoreStage = make_option<double>(
    "score-stage", "Stage", "one stage in a large map: 1 scores, 2 scaled, 3 masked, 4 pattern",
    {.default_value = 0.0,
     .default_name = "all",
     .low = 1,
     .high = kStages,
     .keys = "dD",
     .kept = false,
     .plays = true});

constexpr std::array<Stage, kStages> kAllStages{Stage::scores, Stage::scaled, Stage::masked, Stage::pattern};

/// Names of a stage in pictures and in files.
struct StageName {
  const char* title;
  const char* file;
};
constexpr std::array<StageName, kStages> kNames{
    {{"1 scores", "score"}, {"2 scaled", "scaled"}, {"3 masked", "masked"}, {"4 pattern", "weight"}}};

/// What a stage computes, or that an edit had the last word.
std::string stage_note(const ViewContext& c, Stage stage) {
  const auto edited = [&](model::Site site) {
    return !c.differs() && is_edited_at(c, site, c.selection.layer, c.selection.head);
  };
  switch (stage) {
    case Stage::scores:
      return "q·k";
    case Stage::scaled:
      return "× " + scale_factor(c.config(), c.selection.layer);
    case Stage::masked:
      return edited(model::Site::attn_scores) ? "as edited" : "later keys −∞";
    case Stage::pattern:
      return edited(model::Site::pattern) ? "as edited" : "softmax of each row";
  }
  return {};
}

/// The four matrices and what their maps are made of.
struct Numbers {
  std::shared_ptr<const Stages> stages;
  PatternScale weights;
  std::array<viz::ColorScale, kStages> scales;
  std::vector<std::uint8_t> absent;  ///< differences of tokens without a counterpart
  std::vector<int> keys;             ///< those that the query sees
  bool same = false;                 ///< nothing differs

  float at(Stage stage, int query, int key) const { return stages->matrix(stage).at(query, key); }
};

/// Masking does not affect the remaining scores: stages 2 and 3 share a scale, unless edits made scores
/// larger. A difference is infinite if only one side is masked.
std::array<viz::ColorScale, kStages> stage_scales(const ViewContext& c, const Stages& stages,
                                                  const viz::ColorScale& pattern) {
  const auto signed_scale = [&](Stage stage) {
    return viz::diverging_scale(static_cast<double>(viz::value_range(stages.matrix(stage)).magnitude()));
  };
  const viz::ColorScale scaled = signed_scale(Stage::scaled), own = signed_scale(Stage::masked);
  viz::ColorScale masked = stages.masked.causal() && own.high <= scaled.high ? scaled : own;
  if (c.differs()) {
    masked.values_above = std::ranges::count(stages.values.masked, INFINITY) > 0;
    masked.values_below = std::ranges::count(stages.values.masked, -INFINITY) > 0;
  }
  return {signed_scale(Stage::scores), scaled, masked, pattern};
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Stages> answer) {
  Numbers n;
  const Stages& stages = *answer;
  n.weights =
      pattern_scale(c, stages.matrix(Stage::pattern), "weight", stages.masked.causal(), common_range(c));
  n.scales = stage_scales(c, stages, n.weights.scale);
  const int query = c.selection.query;
  for (int key = 0; key < stages.values.length; ++key)
    if (!stages.masked(query, key) && !std::isnan(stages.matrix(Stage::scores).at(query, key)))
      n.keys.push_back(key);
  if (c.differs()) {
    for (const float score : stages.values.scores) n.absent.push_back(std::isnan(score) ? 1 : 0);
    const auto is_zero = [](float value) { return !std::isfinite(value) || value == 0; };
    n.same = std::ranges::all_of(stages.values.scores, is_zero) &&
             std::ranges::all_of(stages.values.pattern, is_zero);
  }
  n.stages = std::move(answer);
  return n;
}

AttentionMap stage_map(const ViewContext& c, const Numbers& n, Stage stage) {
  const auto i = static_cast<std::size_t>(stage);
  AttentionMap map{{}, difference_prefix(c) + std::string("score"), kNames[i].title, stage_note(c, stage)};
  map.cells.matrix = n.stages->matrix(stage);
  map.cells.masked = n.absent;
  if (stage == Stage::pattern) map.scale_title = n.weights.title;
  if (stage == Stage::masked || stage == Stage::pattern)
    map.cells = colored_cells(map.cells.matrix, stage == Stage::pattern ? n.weights : PatternScale{},
                              n.stages->masked);
  map.cells.scale = n.scales[i];
  if (stage != Stage::pattern) map.cells.pooling = viz::Pooling::mean;  // they have both signs
  map.id = static_cast<int>(stage);
  return map;
}

const ListRows kRows{kKey, first_row_option("first-stage-key", true, -1), "keys", ListKeys::pages};

/// The query's numbers, the largest weights or differences first.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(n.keys.size()));
  const int query = c.selection.query;
  list->refers_to = [&n, query](int row) { return Ref{.query = query, .key = n.keys[row]}; };
  list->text("key", 9, [&](int row) { return token_name(c.run->tokens, n.keys[row]); });
  for (const Stage stage : kAllStages) {
    const bool is_weight = stage == Stage::pattern;
    list->number(kNames[static_cast<std::size_t>(stage)].file, is_weight ? 8 : 3 - static_cast<int>(stage),
                 [&n, query, stage](int row) { return n.at(stage, query, n.keys[row]); },
                 {.digits = is_weight ? 4 : 3, .scientific = is_weight ? 0.0005 : 0});
  }
  list->order_by([&n, query](int row) { return std::abs(n.at(Stage::pattern, query, n.keys[row])); });
  list->table.row_names = "strongest keys", list->table.first_number = 1, list->least_rows = 4;
  const auto chosen = std::ranges::find(n.keys, c.selection.key);
  list->table.marked = list->kept = chosen == n.keys.end() ? -1 : static_cast<int>(chosen - n.keys.begin());
  list->table.mark = c.theme->key;
  return list;
}

/// A row for each cell of the four matrices.
Table table(const ViewContext& c, const Numbers& n) {
  Table result{key_column("query"), note_column("query token"), key_column("key"), note_column("key token")};
  for (const StageName& name : kNames) result.columns.emplace_back(difference_column_prefix(c) + name.file);
  result.ranked_by = result.columns.back().name;
  add_facts_of_heads(result, c);
  const std::vector<std::string>& tokens = c.run->tokens.labels;
  for (int query = 0; query < n.stages->values.length; ++query)
    for (int key = 0; key < n.stages->values.length; ++key)
      add_row(result, query, tokens[query], key, tokens[key],
              kAllStages | std::views::transform([&](Stage stage) { return n.at(stage, query, key); }));
  return result;
}

void add_cell_facts(Facts& facts, const ViewContext& c, const Numbers& n, int query, int key) {
  for (const Stage stage : kAllStages)
    facts.number(kNames[static_cast<std::size_t>(stage)].file, n.at(stage, query, key));
  if (n.stages->masked(query, key)) facts.tip(masked_words(c, query, key));
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = need_of_heads(it, StagesOf{c.selection.layer, c.selection.head});
  if (!answer) return;
  const Numbers& n = it.keep(numbers_of(c, answer));
  const double stage = c.options[kScoreStage];
  const auto shown = static_cast<std::size_t>(std::max(1L, std::lround(stage)) - 1);
  it.title =
      (stage >= 1 ? kNames[shown].title + std::string(", ") : "From scores to weights, ") + name_of_heads(c);
  it.subtitle = c.differs()  ? ""
                : stage >= 1 ? stage_note(c, kAllStages[shown])
                             : "softmax(q·k × " + scale_factor(c.config(), c.selection.layer) + ", " +
                                   stage_note(c, Stage::masked) + ")";
  it.table = [&] { return table(c, n); };

  std::vector<AttentionMap> all;
  for (const Stage one : kAllStages)
    if (stage < 1 || one == kAllStages[shown]) all.push_back(stage_map(c, n, one));
  auto maps = std::make_unique<AttentionMaps>(kCell, std::move(all));
  maps->cell_facts = [&](Facts& facts, int query, int key) { add_cell_facts(facts, c, n, query, key); };
  BoxPtr list;
  if (stage < 1 && !n.keys.empty()) list = may_be_left_out(list_of(c, n), "the query's numbers");
  it.same = n.same;
  it.body = rows(boxes(std::move(maps), std::move(list)));
}

View view() {
  View view = attention_matrix_view(
      make_view("scores", "Scores", declare,
                "the four stages of attention of one head: scores, scaled scores, masked scores, pattern"));
  view.options = {&kScoreStage, &kOfHeads, &kValueScale, &kValueMax,  &kWithoutKey0,
                  &kDragAction, &kShape,   &kZoom,       &kRows.first};
  view.shown_heads = name_of_heads;
  view.landmarks = {{"masked", kCell, always<Stage::masked>}, {"pattern", kCell, always<Stage::pattern>}};
  return view;
}

}  // namespace headscope::app::scores
