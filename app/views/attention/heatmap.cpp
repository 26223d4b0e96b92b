#include "app/run/sources/pattern_file.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace heatmap {

enum Role { kCell };  // row: query, col: key

enum class Cells { weights, values, rollout };

const Option<Cells> kCells = choice_option<Cells>(
    "cell-values", "Cells", "cC",
    "what cells show: weights, weighted values, or attention through all layers so far",
    {{"weights", "Weights", "The attention pattern: how much each query attends to each key"},
     {"values", "Weighted values",
      "The norm of weight × value through W_O: how much the head writes from each key",
      "norms of what the head writes"},
     {"rollout", "Rollout",
      "Attention rollout: the mean pattern of all heads, averaged with the identity for the residual stream, "
      "through "
      "the layers up to the chosen one",
      "rollout of all heads"}});

/// The texts for a kind of cells.
struct Words {
  std::string title, subtitle;
  std::string_view quantity;  ///< name of a cell's value
  std::string_view whole;     ///< the sum of a row
};

/// What is true of the rows' sums: a query whose keys are all masked has weights of 0.
std::string sum_words(const MaskedCells& masked, int queries) {
  for (int query = 0; query < queries; ++query)
    if (masked.count_of(query) == 0) return "; rows sum to 1, fully masked ones to 0";
  return "; rows sum to 1";
}

/// A rollout is of patterns alone: it counts heads that write nothing like all others.
std::string words_of_heads_off(const ViewContext& c) {
  for (int layer = 0; layer <= c.selection.layer; ++layer)
    for (int head = 0; head < c.run->run->config.n_head; ++head)
      if (output_factor(c, layer, head) == 0)
        return "; " + head_name(layer, head) + " is off, but its pattern counts";
  return "";
}

Words words_of(const ViewContext& c, const Pattern& pattern) {
  const std::string head = head_title(c, c.selection.layer, c.selection.head);
  const model::Plan* plan = c.run->run->plan.get();
  const bool rollout = c.options[kCells] == Cells::rollout;
  bool edited =
      false;  // such that the rows need not sum to 1; the rollout is of all layers up to the chosen one
  for (int layer = rollout ? 0 : c.selection.layer; plan != nullptr && layer <= c.selection.layer; ++layer)
    edited |= plan->edits({model::Site::pattern, layer}) ||
              (rollout && plan->edits({model::Site::attn_scores, layer}));
  const PatternFile* file = c.run->model->patterns.get();
  const bool even = file ? file->rows_sum_to_one() : !edited;
  const std::string mask = file ? "; " + file->mask_words() : "",
                    sums = (even ? sum_words(pattern.masked, pattern.length) : "") + mask;
  switch (c.options[kCells]) {
    case Cells::weights:
      break;
    case Cells::values:
      if (is_edited_output(c, c.selection.layer, c.selection.head))
        return {"What " + head + " would write from each key",
                "norm of weight × value through W_O, before the edit of its output", "norm", "the row's sum"};
      return {"What " + head + " writes from each key", "norm of weight × value through W_O", "norm",
              "the row's sum"};
    case Cells::rollout:
      return {"Attention rollout through L" + std::to_string(c.selection.layer),
              "mean of all heads, half residual stream in each layer" + sums + words_of_heads_off(c),
              "rollout", "what reaches this position"};
  }
  return {"Attention pattern of " + head, "how much each query attends to each key" + sums, "weight",
          "this query's attention"};
}

Reply<Pattern> pattern_reply(const ViewContext& c) {
  const auto [layer, head] = std::pair(c.selection.layer, c.selection.head);
  switch (c.options[kCells]) {
    case Cells::weights:
      break;
    case Cells::values:
      return reply_to(c, WeightedValuesOf{layer, head});
    case Cells::rollout:
      return reply_to(c, RolloutOf{layer});
  }
  return reply_to(c, PatternOf{layer, head});
}

Picture build(const ViewContext& c) {
  const auto [question, pattern] = pattern_reply(c);
  if (auto wait = waiting(c, question, pattern != nullptr)) return *wait;
  Picture picture = blank(c);
  const Words words = words_of(c, *pattern);
  const bool is_difference = c.side == Side::difference;
  const bool nothing_differs = is_difference && viz::value_range(pattern->matrix()).magnitude() == 0;
  const bool is_off =
      c.options[kCells] != Cells::rollout && output_factor(c, c.selection.layer, c.selection.head) == 0;
  const viz::ValueRange of_all =
      c.options[kCells] == Cells::weights ? range_of_differences(c) : viz::ValueRange{};
  const float own = viz::value_range(pattern->matrix()).magnitude();
  const bool is_shared = is_difference && own > 0 && of_all.magnitude() > own && c.options[kValueMax] <= 0;
  const viz::Rect area = paint_title(
      picture, c, words.title + difference_suffix(c),
      is_difference ? difference_words(c, ": hatched") + (nothing_differs ? kNoDifference : "") +
                          (c.options[kCells] == Cells::rollout ? words_of_heads_off(c) : "") +
                          (is_shared ? "; colours of all heads: here up to " + viz::number(own, 3) : "")
                    : (is_off ? "writes nothing; " : "") + words.subtitle);
  const PatternScale scale =
      pattern_scale(c, pattern->matrix(), words.quantity, pattern->masked.causal(), of_all);
  viz::Heatmap map = attention_map(c, pattern->matrix(), kCell);
  if (const viz::Matrix& m = map.cells.matrix; m.col_stride == 1)
    map.cols.strengths = {m.data + m.row_stride * c.selection.query, static_cast<std::size_t>(m.cols)};
  color_weights(map, scale);
  hatch_masked(map.cells, pattern->masked);
  map.scale_title = scale.title;
  map.centered = !c.trimmed;
  const bool is_slide = c.printed && c.width > c.height;
  if (c.in_pane || is_slide) map.stretch = 1.35F;  // the map takes the room there is
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style_of(c));
  paint_shape(picture.scene, c, grid);
  // In a figure its subtitle says so.
  if (nothing_differs && c.in_pane) paint_no_difference(picture, c, c.selection.layer, grid.rect);
  return picture;
}

/// Rank of a key among the keys of its query, 1 for the largest weight.
int rank_of(const Pattern& answer, int query, int key) {
  const viz::Matrix pattern = answer.matrix();
  int rank = 1;
  for (int k = 0; k < answer.masked.end_of(query); ++k)
    rank += !answer.masked(query, k) && pattern.at(query, k) > pattern.at(query, key);
  return rank;
}

double sum_of_row(const Pattern& pattern, int row) {
  double sum = 0;
  for (int col = 0; col < pattern.keys(); ++col) sum += static_cast<double>(pattern.matrix().at(row, col));
  return sum;
}

/// A row for each cell that is not masked.
Table table(const ViewContext& c) {
  const auto pattern = pattern_reply(c).answer;
  if (!pattern) return {};
  Table result{key_column("query"), note_column("query token"), key_column("key"), note_column("key token"),
               difference_column_prefix(c) + std::string(words_of(c, *pattern).quantity)};
  result.ranked_by = result.columns.back().name;
  result.about("layer", c.selection.layer);
  if (c.options[kCells] != Cells::rollout) result.about("head", c.selection.head);
  for (int query = 0; query < pattern->length; ++query)
    for (int key = 0; key < pattern->masked.end_of(query); ++key)
      if (!pattern->masked(query, key))
        add_row(result, query, c.run->tokens.labels[query], key, key_tokens(*c.run).labels[key],
                pattern->matrix().at(query, key));
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts = facts_of_matrix(c, hit);
  const auto answer = pattern_reply(c).answer;
  if (!answer || hit.row >= answer->length || hit.col >= answer->keys()) return facts;
  add_cell(facts, c, picture, kCell, hit);
  if (answer->masked(hit.row, hit.col)) {
    if (c.side == Side::difference) {
      facts.say("masked on both sides, or a token without counterpart");
      return facts;
    }
    facts.say("masked: " + why_masked(hit.row, hit.col));
    facts.say(c.options[kCells] != Cells::rollout ? "score −∞, weight exactly 0"
                                                  : "nothing from it reaches this position",
              Fact::Location::tooltip);
    return facts;
  }
  const float weight = answer->matrix().at(hit.row, hit.col);
  const Words words = words_of(c, *answer);
  facts.number(difference_prefix(c) + std::string(words.quantity), weight);
  if (const std::string query = counterpart_words(c, hit.row), key = counterpart_words(c, hit.col);
      c.side == Side::difference && has_own_keys(*c.run) && !(query.empty() && key.empty()))
    facts.say(query.empty() ? "key " + key
              : key.empty() ? "query " + query
                            : "query " + query + ", key " + key,
              Fact::Location::tooltip);
  if (c.side == Side::difference || !std::isfinite(weight)) return facts;
  const double part = c.options[kCells] == Cells::values
                          ? static_cast<double>(weight) / sum_of_row(*answer, hit.row)
                          : static_cast<double>(weight);
  facts.say((std::isfinite(part) ? percent(part) + " of " + std::string(words.whole) + ", " : "") + "rank " +
                std::to_string(rank_of(*answer, hit.row, hit.col)) + " of " +
                std::to_string(answer->masked.count_of(hit.row)),
            Fact::Location::tooltip);
  return facts;
}

/// Between the map and its legend, and below the map and its note on pooling.
std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  if (picture.regions.empty()) return {};
  const viz::Region& grid = picture.regions.front();
  const viz::Style style = style_of(c);
  const float u = style.unit(), bar = kScrollBar * c.font_size;
  const viz::PooledCells pooled = viz::pooled_cells(grid, style);
  const bool words = pooled.rows > 1 || pooled.cols > 1;
  float bottom = grid.rect.bottom() + u + (words ? style.line(style.small()) : 0);
  // In a narrow pane the colour bar, an image, stands there, too.
  for (const viz::Item& item : picture.scene.items)
    if (const auto* image = std::get_if<viz::Image>(&item); image && image->dest.y > grid.rect.bottom())
      bottom = std::max(bottom, image->dest.bottom() + 2 * u);
  return zoom_scrolls(kZoom, c.options, grid, grid.rect,
                      std::min(grid.rect.right() + 0.75F * u, c.width - bar),
                      std::min(bottom, c.height - bar));
}

}  // namespace heatmap

View heatmap_view() {
  using namespace heatmap;
  View view = attention_matrix_view(make_view(
      Group::attention, "heatmap", "Heatmap",
      "attention pattern of one head: a row for each query, a column for each key", build, facts, table));
  view.part = Part::attention;
  view.options = {&kCells, &kValueScale, &kValueMax, &kWithoutKey0, &kDragAction, &kShape, &kZoom};
  view.shown_heads = [](const ViewContext& c) {
    const auto& [layer, head, query, key] = c.selection;
    if (c.options[kCells] != Cells::rollout) return head_name(layer, head);
    return (layer == 0 ? "layer 0" : "layers 0–" + std::to_string(layer));
  };
  view.scrolls = scrolls;
  view.needs = Capability::patterns;
  view.print_shape = [](const ViewContext&) { return 1.6F; };
  view.landmarks = attention_landmarks(kCell);
  return view;
}

}  // namespace headscope::app
