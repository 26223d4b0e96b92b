#include <algorithm>
#include <array>
#include <cmath>

#include "app/views/common.h"

namespace headscope::app {
namespace {

enum Role { kCell };  // row: query, col: key; Region::id: the stage

constexpr std::array<Stage, kStages> kAllStages{Stage::scores, Stage::scaled, Stage::masked, Stage::pattern};

struct Arrangement {
  int rows = 1;
  int cols = 4;
};

/// Side by side, two by two, or on top of each other: whichever gives the largest maps.
Arrangement arrange(viz::Rect area, const viz::Style& style) {
  const float labels = 9 * style.font_size, title = 2.5F * style.font_size;
  Arrangement best;
  float largest = -1e9F;
  for (const Arrangement a : {Arrangement{1, 4}, Arrangement{2, 2}, Arrangement{4, 1}}) {
    const float side = std::min(area.w / static_cast<float>(a.cols) - labels,
                                area.h / static_cast<float>(a.rows) - title - labels / 2);
    if (side > largest) {
      largest = side;
      best = a;
    }
  }
  return best;
}

std::string stage_title(Stage stage) {
  constexpr std::array<const char*, kStages> kTitles{"1 scores", "2 scaled", "3 masked", "4 pattern"};
  return kTitles[static_cast<std::size_t>(stage)];
}

std::string stage_note(Stage stage, const model::Config& config, int layer) {
  switch (stage) {
    case Stage::scores:
      return "q·k";
    case Stage::scaled:
      return "× " + scale_factor(config, layer);
    case Stage::masked:
      return "later keys −∞";
    case Stage::pattern:
      return "softmax of each row";
  }
  return {};
}

/// Scales of the stages. Masking changes no score that remains: stages 2 and 3 share theirs.
std::array<viz::ColorScale, kStages> stage_scales(const Stages& stages, const viz::ColorScale& pattern) {
  auto signed_scale = [&](Stage stage) {
    return viz::diverging_scale(static_cast<double>(viz::value_range(stages.matrix(stage)).magnitude()));
  };
  const viz::ColorScale scaled = signed_scale(Stage::scaled);
  return {signed_scale(Stage::scores), scaled, scaled, pattern};
}

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  const viz::Style style = style_of(c);
  const float u = style.unit();
  Picture picture = blank(c);
  const viz::Rect area =
      paint_title(picture, c, "From scores to weights, " + head_name(c.selection.layer, c.selection.head),
                  "softmax(q·k × " + scale_factor(c.run->run->config, c.selection.layer) + " + mask)");
  const Arrangement grid = arrange(area, style);
  const float gap = 5 * u, line = style.line(style.font_size) + u;
  const float w = (area.w - gap * static_cast<float>(grid.cols - 1)) / static_cast<float>(grid.cols);
  const float h = (area.h - gap * static_cast<float>(grid.rows - 1)) / static_cast<float>(grid.rows);
  const PatternScale weights = pattern_scale(stages->matrix(Stage::pattern), c.options, "weight");

  const std::array<viz::ColorScale, kStages> scales = stage_scales(*stages, weights.scale);
  auto scale_title = [&](Stage stage) {
    return stage == Stage::pattern ? weights.title : std::string("score");
  };
  // The four grids line up: each leaves the room that the widest legend takes.
  float scale_width = 0;
  for (const Stage stage : kAllStages) {
    scale_width = std::max(scale_width, viz::color_scale_width(scales[static_cast<std::size_t>(stage)],
                                                               scale_title(stage), std::nullopt, style));
  }

  for (const Stage stage : kAllStages) {
    const int i = static_cast<int>(stage), row = i / grid.cols, col = i % grid.cols;
    const viz::Rect panel{area.x + static_cast<float>(col) * (w + gap),
                          area.y + static_cast<float>(row) * (h + gap), w, h};
    const std::string title = stage_title(stage);
    viz::add_label(picture.scene, style, title, {panel.x, panel.y + line / 2}, style.font_size, c.theme->text,
                   viz::FontStyle::medium, viz::Align::left, panel.w);
    const float used = style.width(title, style.font_size, viz::FontStyle::medium) + 2 * u;
    viz::add_label(picture.scene, style, stage_note(stage, c.run->run->config, c.selection.layer),
                   {panel.x + used, panel.y + line / 2}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, panel.w - used);

    viz::Heatmap map;
    map.cells.matrix = stages->matrix(stage);
    map.cells.masked_above_diagonal = stage == Stage::masked || stage == Stage::pattern;
    map.cells.scale = scales[static_cast<std::size_t>(stage)];
    map.scale_title = scale_title(stage);
    if (stage != Stage::pattern) map.cells.pooling = viz::Pooling::mean;  // of either sign
    if (stage == Stage::pattern) {
      map.cells.outside_column = weights.outside_column;
      map.cells.row_factors = weights.row_factors;
      map.outside_text = "key 0";
    }
    map.least_scale_width = scale_width;
    map.rows = token_axis(c, "query", c.theme->query, c.selection.query);
    map.cols = token_axis(c, "key", c.theme->key);
    if (panel.w < 16 * style.font_size) {
      map.rows.labels = map.cols.labels = {};
      picture.whole = false;
    }
    map.framed_row = c.selection.query;
    map.frame = c.theme->query;
    map.shown = shown_cells(part_of(c.options[kZoom], map.cells.matrix.rows, map.cells.matrix.cols));
    map.centered = false;
    map.role = kCell;
    map.id = i;
    viz::paint_heatmap(picture, map, {panel.x, panel.y + line + u, panel.w, panel.h - line - u}, style);
  }
  return picture;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto stages = current_stages(c);
  Hover result;
  if (!stages || picture.regions[static_cast<std::size_t>(hit.region)].role != kCell ||
      hit.row >= stages->values.length || hit.col >= stages->values.length) {
    return result;
  }
  for (const viz::Region& region : picture.regions) {
    if (region.role != kCell) continue;
    viz::paint_crosshair(result.overlay, region, hit.row, hit.col, c.theme->query, c.theme->key, style_of(c));
  }
  const bool masked = hit.col > hit.row;
  auto value = [&](Stage stage) { return exact(stages->matrix(stage).at(hit.row, hit.col)); };
  auto digits = [&](Stage stage) {
    return viz::number(static_cast<double>(stages->matrix(stage).at(hit.row, hit.col)), 4);
  };
  const std::string query = "query " + token_name(c.run->tokens, hit.row),
                    key = "key " + token_name(c.run->tokens, hit.col);
  const std::string factor = "× " + scale_factor(c.run->run->config, c.selection.layer);
  result.lines = {query,
                  key,
                  "score " + value(Stage::scores),
                  "scaled " + value(Stage::scaled),
                  "masked " + value(Stage::masked) + (masked ? " (this key comes after the query)" : ""),
                  "weight " + value(Stage::pattern),
                  "q·k = " + digits(Stage::scores) + "; " + factor + " = " + digits(Stage::scaled) +
                      (masked ? "; masked → −∞; softmax → 0" : "; softmax → " + digits(Stage::pattern))};
  result.status = head_name(c.selection.layer, c.selection.head) + "   " + query + " → " + key + "   " +
                  result.lines.back();
  return result;
}

/// The four matrices one below the other: a row for each stage and query, a column a key.
Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  Table result;
  if (!stages) return result;
  constexpr std::array<const char*, kStages> kNames{"scores", "scaled", "masked", "pattern"};
  result.header = {"stage", "query", "token"};
  for (int key = 0; key < stages->values.length; ++key) {
    result.header.push_back(std::to_string(key) + " " + c.run->tokens.labels[static_cast<std::size_t>(key)]);
  }
  for (const Stage stage : kAllStages) {
    const viz::Matrix matrix = stages->matrix(stage);
    for (int query = 0; query < matrix.rows; ++query) {
      std::vector<std::string> row{kNames[static_cast<std::size_t>(stage)], std::to_string(query),
                                   c.run->tokens.labels[static_cast<std::size_t>(query)]};
      for (int key = 0; key < matrix.cols; ++key) row.push_back(plain(matrix.at(query, key)));
      result.rows.push_back(std::move(row));
    }
  }
  return result;
}

}  // namespace

View scores_view() {
  View view;
  view.id = "scores";
  view.title = "Scores";
  view.help = "the four stages of attention of one head: scores, scaled, masked, pattern";
  view.options = {&kValueScale, &kValueMax, &kWithoutKey0, &kZoom};
  view.commands = attention_matrix_commands();
  view.on = on_attention_matrix;
  view.refuse = refuse_zoom;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
