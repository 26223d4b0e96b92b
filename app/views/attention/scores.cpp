#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/views/parts/comparison_words.h"
#include "app/views/parts/difference.h"
#include "app/views/parts/file_rows.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/token_axes.h"
#include "app/views/parts/weight_colors.h"
#include "app/views/view.h"

namespace headscope::app {
namespace {

enum Role { kCell };  // row: query, col: key; Region::id: the stage

constexpr std::array<Stage, kStages> kAllStages{Stage::scores, Stage::scaled, Stage::masked, Stage::pattern};

struct Arrangement {
  int rows = 1;
  int cols = 4;
};

/// The arrangement with the largest maps: side by side, two by two, or on top of each other.
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

/// Names of a stage in pictures and in files.
struct StageName {
  const char* title;
  const char* file;
};
constexpr std::array<StageName, kStages> kNames{
    {{"1 scores", "scores"}, {"2 scaled", "scaled"}, {"3 masked", "masked"}, {"4 pattern", "pattern"}}};

std::string stage_note(const ViewContext& c, Stage stage, bool causal) {
  switch (stage) {
    case Stage::scores:
      return "q·k";
    case Stage::scaled:
      return "× " + scale_factor(c.run->run->config, c.selection.layer);
    case Stage::masked:
      return causal ? "later keys −∞" : "as edited";
    case Stage::pattern:
      return "softmax of each row";
  }
  return {};
}

/// Scales of the stages. Masking does not affect the remaining scores: stages 2 and 3 share a scale, except
/// with edited scores. A difference is infinite if only one side is masked.
std::array<viz::ColorScale, kStages> stage_scales(const Stages& stages, const viz::ColorScale& pattern,
                                                  bool is_difference) {
  const auto signed_scale = [&](Stage stage) {
    return viz::diverging_scale(static_cast<double>(viz::value_range(stages.matrix(stage)).magnitude()));
  };
  const viz::ColorScale scaled = signed_scale(Stage::scaled);
  viz::ColorScale masked = stages.masked.causal() ? scaled : signed_scale(Stage::masked);
  for (const float value :
       is_difference ? std::span<const float>(stages.values.masked) : std::span<const float>()) {
    masked.values_above |= value == INFINITY;
    masked.values_below |= value == -INFINITY;
  }
  return {signed_scale(Stage::scores), scaled, masked, pattern};
}

/// The layout of the four stages. If there is no room for each stage's labels, only those at the left and on
/// top are drawn.
struct Panels {
  Arrangement grid;
  bool shared = false;
  viz::LabelRoom left, top;  ///< if shared
  float foot = 0;            ///< under the maps, for words about pooling
  std::array<viz::Rect, kStages> places;
};

/// Splits an area into rows and columns; those of the first column and the first row are larger by `more`.
std::array<viz::Rect, kStages> places_in(viz::Rect area, Arrangement grid, viz::Point size, viz::Point more,
                                         float gap) {
  std::array<viz::Rect, kStages> places;
  for (int i = 0; i < kStages; ++i) {
    const auto row = static_cast<float>(i / grid.cols), col = static_cast<float>(i % grid.cols);
    viz::Rect& place = places[i];
    place = {area.x + col * (size.x + gap), area.y + row * (size.y + gap), size.x, size.y};
    (col > 0 ? place.x : place.w) += more.x;
    (row > 0 ? place.y : place.h) += more.y;
  }
  return places;
}

/// `title` and `scale`: the room that each stage needs above its map and next to it. Shared column labels
/// have no title above them.
Panels place_panels(viz::Rect area, const viz::AxisLabels& rows, const viz::AxisLabels& cols, float title,
                    float scale, const viz::Style& style) {
  Panels panels;
  panels.grid = arrange(area, style);
  const float em = style.font_size, wide_gap = 5 * style.unit(), gap = 3 * style.unit();
  const auto across = static_cast<float>(panels.grid.cols), down = static_cast<float>(panels.grid.rows);
  const viz::Point own{(area.w - wide_gap * (across - 1)) / across, (area.h - wide_gap * (down - 1)) / down};
  panels.places = places_in(area, panels.grid, own, {}, wide_gap);
  if (own.x >= 16 * em) return panels;
  const float width = area.w - (across - 1) * gap - across * scale,
              height = area.h - (down - 1) * gap - down * (title + 1);
  float side = std::min(width / across, height / down);
  for (int pass = 0; pass < 2; ++pass) {
    const float cell = std::max(1.F, side) / static_cast<float>(rows.labels.size());
    panels.left = viz::row_label_room(rows, cell, std::min(0.3F * width, 7 * em), style);
    const float free = height - down * (width - panels.left.size) / across;
    panels.top = viz::column_label_room({cols.labels, "", {}, -1}, cell,
                                        std::clamp(free, 3.6F * em, 7.5F * em), style);
    side = std::floor(std::min((width - panels.left.size) / across, (height - panels.top.size) / down));
  }
  constexpr float kMinSide = 3;  // ems; below, labels are unreadable
  panels.shared = side >= kMinSide * em;
  if (panels.shared) {
    const bool pools = side * style.device_scale < static_cast<float>(rows.labels.size());
    const float foot = style.line(style.small()) + style.unit();
    if (pools && height - panels.top.size >= down * (side + foot)) panels.foot = foot;
    const float wide = (area.w - panels.left.size - (across - 1) * gap) / across;
    panels.places = places_in(area, panels.grid, {wide, title + side + 1 + panels.foot},
                              {panels.left.size, panels.top.size}, gap);
  }
  return panels;
}

/// Draws the row and column labels if panels share them or are narrow.
void share_labels(Picture& picture, const ViewContext& c, const Panels& panels, int stage,
                  viz::Heatmap& map) {
  const viz::Rect& panel = panels.places[stage];
  const viz::Style style = style_of(c);
  if (!panels.shared) {
    if (panel.w >= 16 * style.font_size) return;
    map.rows.labels = map.cols.labels = {};
    picture.whole = false;
    return;
  }
  const bool first_col = stage % panels.grid.cols == 0, first_row = stage < panels.grid.cols;
  map.row_room = first_col ? panels.left : viz::LabelRoom{};
  map.col_room = first_row ? panels.top : viz::LabelRoom{};
  map.says_pooling = panels.foot > 0;
  if (!first_col) map.rows = {};
  if (!first_row) map.cols = {};
  map.cols.title.clear();
  const float u = style.unit(), line = style.line(style.font_size) + u;
  if (stage == 0)
    viz::add_label(picture.scene, style, "key",
                   {panel.x + panels.left.size - 2 * u, panel.y + line + u + panels.top.size / 2},
                   style.small(), c.theme->key, viz::FontStyle::medium, viz::Align::right);
  picture.whole = false;
}

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.font_size) + u;
  const bool causal = stages->masked.causal(), is_difference = c.side == Side::difference;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(
      picture, c,
      "From scores to weights, " + head_name(c.selection.layer, c.selection.head) + difference_suffix(c),
      is_difference ? difference_words(c)
                    : "softmax(q·k × " + scale_factor(c.run->run->config, c.selection.layer) + " + mask)");
  const PatternScale weights =
      pattern_scale(c, stages->matrix(Stage::pattern), "weight", causal, range_of_differences(c));
  const std::array<viz::ColorScale, kStages> scales = stage_scales(*stages, weights.scale, is_difference);
  const auto scale_title = [&](Stage stage) {
    return stage == Stage::pattern ? weights.title : difference_prefix(c) + std::string("score");
  };
  // The four grids are aligned: each reserves the width of the widest legend.
  float scale_width = 0;
  for (const Stage stage : kAllStages)
    scale_width = std::max(scale_width, viz::color_scale_width(scales[static_cast<std::size_t>(stage)],
                                                               scale_title(stage), std::nullopt, style));
  const Panels panels =
      place_panels(area, token_axis(c, "query", c.theme->query, c.selection.query),
                   token_axis(c, "key", c.theme->key, c.selection.key), line + u, scale_width + 4 * u, style);
  // Tokens without a counterpart have no difference.
  std::vector<std::uint8_t> absent;
  if (is_difference)
    for (const float score : stages->values.scores) absent.push_back(std::isnan(score) ? 1 : 0);
  for (const Stage stage : kAllStages) {
    const int i = static_cast<int>(stage);
    const viz::Rect& panel = panels.places[i];
    const float y = panel.y + line / 2;
    viz::add_label(picture.scene, style, kNames[i].title, {panel.x, y}, style.font_size, c.theme->text,
                   viz::FontStyle::medium, viz::Align::left, panel.w);
    const float used = style.width(kNames[i].title, style.font_size, viz::FontStyle::medium) + 2 * u;
    paint_note(picture, c, stage_note(c, stage, is_difference || causal), {panel.x + used, y},
               panel.w - used);

    viz::Heatmap map = attention_map(c, stages->matrix(stage), kCell);
    if (stage == Stage::pattern) color_weights(map, weights);
    map.cells.scale = scales[i];
    if (stage != Stage::pattern) map.cells.pooling = viz::Pooling::mean;  // they have both signs
    if (stage == Stage::masked || stage == Stage::pattern) {
      hatch_masked(map.cells, stages->masked);
    } else {
      map.cells.masked = absent;
    }
    map.scale_title = scale_title(stage);
    map.least_scale_width = scale_width;
    map.centered = false;
    map.id = i;
    share_labels(picture, c, panels, i, map);
    paint_shape(
        picture.scene, c,
        viz::paint_heatmap(picture, map, {panel.x, panel.y + line + u, panel.w, panel.h - line - u}, style));
  }
  return picture;
}

/// The four matrices below each other: a row for each stage and query, a column for each key.
Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (!stages) return {};
  Table result{{"stage", "query", "token"}, {}};
  add_key_columns(result, c);
  for (const Stage stage : kAllStages)
    for (int query = 0; query < stages->values.length; ++query)
      add_query_row(result, c, {kNames[static_cast<std::size_t>(stage)].file}, stages->matrix(stage), query);
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts = facts_of_matrix(c, hit);
  const auto stages = current_stages(c);
  if (!stages || region_of(picture, hit).role != kCell || hit.row >= stages->values.length ||
      hit.col >= stages->values.length) {
    return facts;
  }
  add_cell(facts, c, picture, kCell, hit);
  const auto value = [&](Stage stage) { return stages->matrix(stage).at(hit.row, hit.col); };
  const auto digits = [&](Stage stage) { return viz::number(static_cast<double>(value(stage)), 4); };
  const bool is_difference = c.side == Side::difference, masked = stages->masked(hit.row, hit.col);
  facts.number(difference_prefix(c) + std::string("score"), value(Stage::scores), Fact::Location::tooltip);
  facts.number("scaled", value(Stage::scaled), Fact::Location::tooltip);
  facts.number("masked", value(Stage::masked), Fact::Location::tooltip);
  if (masked && !is_difference) facts.said.back().unit = "(" + why_masked(hit.row, hit.col) + ")";
  facts.number("weight", value(Stage::pattern),
               is_difference ? Fact::Location::both : Fact::Location::tooltip);
  if (is_difference) return facts;
  facts.say("q·k = " + digits(Stage::scores) + "; × " + scale_factor(c.run->run->config, c.selection.layer) +
            " = " + digits(Stage::scaled) +
            (masked ? "; masked → −∞; softmax → 0" : "; softmax → " + digits(Stage::pattern)));
  return facts;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return zoom_scrolls(kZoom, c, picture, kCell);
}

}  // namespace

View scores_view() {
  View view = attention_matrix_view();
  view.id = "scores";
  view.title = "Scores";
  view.help = "the four stages of attention of one head: scores, scaled, masked, pattern";
  view.options = {&kValueScale, &kValueMax, &kWithoutKey0, &kDragAction, &kShape, &kZoom};
  view.scrolls = scrolls;
  view.build = build;
  view.facts = facts;
  view.table = table;
  return view;
}

}  // namespace headscope::app
