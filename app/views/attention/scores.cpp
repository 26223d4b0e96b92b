#include <array>
#include <ranges>

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace scores {

enum Role {
  kCell,    // row: query, col: key; Region::id: the stage
  kNumber,  // likewise
  kStop,    // id: a stage to show
};

/// The stage shown alone, counted from 1; 0: all of them.
const Option<double> kScoreStage =
    make_option<double>("score-stage", "Stage",
                        "one stage in a large map: 1 scores, 2 scaled, 3 masked, 4 pattern; "
                        "between two stages, colours are blended",
                        {.phrase = "stage {} of 4",
                         .default_value = 0.0,
                         .default_name = "all",
                         .low = 1,
                         .high = kStages,
                         .drag_step = 0.01,
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
std::string stage_note(const ViewContext& c, Stage stage, bool is_difference) {
  const auto edited = [&](model::Site site) {
    return !is_difference && is_edited_at(c, site, c.selection.layer, c.selection.head);
  };
  switch (stage) {
    case Stage::scores:
      return "q·k";
    case Stage::scaled:
      return "× " + scale_factor(c.run->run->config, c.selection.layer);
    case Stage::masked:
      return edited(model::Site::attn_scores) ? "as edited" : "later keys −∞";
    case Stage::pattern:
      return edited(model::Site::pattern) ? "as edited" : "softmax of each row";
  }
  return {};
}

/// Scales of the stages. Masking does not affect the remaining scores: stages 2 and 3 share a scale, unless
/// edits made scores larger. A difference is infinite if only one side is masked.
std::array<viz::ColorScale, kStages> stage_scales(const Stages& stages, const viz::ColorScale& pattern,
                                                  bool is_difference) {
  const auto signed_scale = [&](Stage stage) {
    return viz::diverging_scale(static_cast<double>(viz::value_range(stages.matrix(stage)).magnitude()));
  };
  const viz::ColorScale scaled = signed_scale(Stage::scaled);
  const viz::ColorScale own = signed_scale(Stage::masked);
  viz::ColorScale masked = stages.masked.causal() && own.high <= scaled.high ? scaled : own;
  for (const float value :
       is_difference ? std::span<const float>(stages.values.masked) : std::span<const float>()) {
    masked.values_above |= value == INFINITY;
    masked.values_below |= value == -INFINITY;
  }
  return {signed_scale(Stage::scores), scaled, masked, pattern};
}

/// How the four maps are arranged.
struct Arrangement {
  int rows = 1;
  int cols = 4;
  bool level_scales = false;  ///< the colour scales are above the maps, not next to them
};

/// The layout of the four stages. Labels are shared: those of the queries are at the left, those of the keys
/// on top.
struct Panels {
  Arrangement grid;
  float side = 0;               ///< of a map
  bool labels = false;          ///< whether there is room for labels
  viz::LabelRoom left, top;     ///< their room
  float heading = 0, foot = 0;  ///< above each map, and under it for words about pooling
  int lines = 0;                ///< keys of the chosen query whose numbers are under each map
  std::array<viz::Rect, kStages> places = {};
  bool is_left(int stage) const { return stage % grid.cols == 0; }
  bool is_top(int stage) const { return stage < grid.cols; }
};

float numbers_height(int lines, const viz::Style& style) {
  return lines > 0 ? static_cast<float>(lines + 1) * style.line(style.small()) + style.unit() : 0;
}

/// The maps of one arrangement, as large as the area allows above `lines` lines of numbers. `scale`: the
/// width of the widest colour scale next to a map.
Panels panels_of(Arrangement grid, viz::Rect area, const viz::AxisLabels& rows, const viz::AxisLabels& cols,
                 float scale, int lines, const viz::Style& style) {
  constexpr float kMinSide = 3;  // ems; below, labels are unreadable
  const float em = style.font_size, u = style.unit(), gap = 3 * u, small = style.line(style.small()) + u;
  const auto across = static_cast<float>(grid.cols), down = static_cast<float>(grid.rows);
  Panels panels;
  panels.grid = grid;
  // Below the first row of maps, the labels of the first queries reach half a line up.
  panels.heading = style.line(em) + u + (grid.level_scales ? small : 0) + (grid.rows > 1 ? small / 2 : 0);
  const float own = panels.heading + 1 + numbers_height(lines, style);
  const float width = area.w - (across - 1) * gap - (grid.level_scales ? 0 : across * scale);
  const float height = area.h - (down - 1) * gap - down * own;
  const float unlabelled = panels.side = std::floor(std::min(width / across, height / down));
  for (int pass = 0; pass < 2; ++pass) {
    const float cell = std::max(1.F, panels.side) / static_cast<float>(rows.labels.size());
    panels.left = viz::row_label_room(rows, cell, std::min(0.3F * width, 7 * em), style);
    const float free = height - down * (width - panels.left.size) / across;
    panels.top = viz::column_label_room({cols.labels, "", {}, -1}, cell,
                                        std::clamp(free, 3.6F * em, 7.5F * em), style);
    panels.side =
        std::floor(std::min((width - panels.left.size) / across, (height - panels.top.size) / down));
  }
  panels.labels = panels.side >= kMinSide * em;
  if (!panels.labels) panels.left = panels.top = {}, panels.side = unlabelled;
  const bool pools = panels.side * style.device_scale < static_cast<float>(rows.labels.size());
  const float most = (area.h - panels.top.size - (down - 1) * gap) / down;  // height of a panel
  if (pools && most >= panels.side + own + small) panels.foot = small;
  const float left_over = most - panels.side - own - panels.foot;
  panels.lines = lines > 0 ? lines + static_cast<int>(left_over / style.line(style.small())) : 0;
  const viz::Point size{(area.w - panels.left.size - (across - 1) * gap) / across, most};
  for (int i = 0; i < kStages; ++i) {
    const auto row = static_cast<float>(i / grid.cols), col = static_cast<float>(i % grid.cols);
    viz::Rect& place = panels.places[i];
    place = {area.x + col * (size.x + gap), area.y + row * (size.y + gap), size.x, size.y};
    (col > 0 ? place.x : place.w) += panels.left.size;
    (row > 0 ? place.y : place.h) += panels.top.size;
  }
  return panels;
}

/// The arrangement with the largest maps: side by side, two by two, or on top of each other; with numbers
/// under the maps if these do not shrink much. `scale`: the width of the widest colour scale next to a map;
/// `fit_above(width)`: whether all scales fit above maps.
template <class FitAbove>
Panels place_panels(viz::Rect area, const viz::AxisLabels& rows, const viz::AxisLabels& cols, float scale,
                    const FitAbove& fit_above, int keys, const viz::Style& style) {
  constexpr int kWantedLines = 4, kMaxLines = 12;
  constexpr float kNumbersCost = 0.7F;  // fraction of the maps' side that must remain
  const auto largest = [&](int lines) {
    Panels best;
    for (const bool level_scales : {false, true})
      for (const auto& [down, across] : {std::pair{1, 4}, {2, 2}, {4, 1}}) {
        const Panels panels = panels_of({down, across, level_scales}, area, rows, cols, scale, lines, style);
        if (level_scales && !fit_above(panels.places[1].w)) continue;
        if (panels.side > best.side * (level_scales ? 1.05F : 1)) best = panels;
      }
    return best;
  };
  const Panels maps = largest(0), both = largest(std::min(kWantedLines, keys));
  Panels best = both.labels && both.side >= kNumbersCost * maps.side ? both : maps;
  best.lines = std::min({best.lines, kMaxLines, keys});
  return best;
}

/// Draws the shared labels, or none if there is no room.
void share_labels(Picture& picture, const ViewContext& c, const Panels& panels, int stage,
                  viz::Heatmap& map) {
  const viz::Style style = style_of(c);
  const viz::Rect& panel = panels.places[stage];
  map.row_room = panels.is_left(stage) ? panels.left : viz::LabelRoom{};
  map.col_room = panels.is_top(stage) ? panels.top : viz::LabelRoom{};
  map.says_pooling = panels.foot > 0;
  if (!panels.labels || !panels.is_left(stage)) map.rows = {};
  if (!panels.labels || !panels.is_top(stage)) map.cols = {};
  map.cols.title.clear();
  if (!panels.labels) picture.whole = false;
  if (stage == 0 && panels.labels)
    viz::add_label(
        picture.scene, style, "key",
        {panel.x + panels.left.size - 2 * style.unit(), panel.y + panels.heading + panels.top.size / 2},
        style.small(), c.theme->key, viz::FontStyle::medium, viz::Align::right);
}

/// The keys of the chosen query whose numbers are shown, in order: the chosen one, those that an edit sets,
/// and those with the strongest weights, or with the largest differences.
std::vector<int> listed_keys(const ViewContext& c, const Stages& stages, int count) {
  const viz::Matrix weights = stages.matrix(Stage::pattern);
  const auto strength = [&](int key) {
    const auto [layer, head, query, chosen] = c.selection;
    return key == chosen || is_edited_cell(c, layer, head, query, key) ? INFINITY
                                                                       : std::abs(weights.at(query, key));
  };
  std::vector<int> keys;
  for (int key = 0; key < weights.cols; ++key)
    if (!stages.masked(c.selection.query, key) && !std::isnan(strength(key))) keys.push_back(key);
  std::ranges::stable_sort(keys, std::greater{}, strength);
  keys.resize(std::min(keys.size(), static_cast<std::size_t>(count)));
  std::ranges::sort(keys);
  return keys;
}

/// Draws a stage's numbers for some keys of the chosen query, under its map.
void paint_numbers(Picture& picture, const ViewContext& c, const Stages& stages, const Panels& panels,
                   Stage stage, std::span<const int> keys) {
  if (panels.lines == 0) return;
  const viz::Style style = style_of(c);
  const int i = static_cast<int>(stage), query = c.selection.query;
  const float u = style.unit(), line = style.line(style.small());
  const viz::Rect& panel = panels.places[i];
  const viz::Matrix values = stages.matrix(stage);
  const float x = panel.x + (panels.is_left(i) ? panels.left.size : 0);
  float y =
      panel.y + panels.heading + (panels.is_top(i) ? panels.top.size : 0) + panels.side + 1 + panels.foot + u;
  const auto draw = [&](std::string_view words, float at, viz::Color color, viz::Align align, float room) {
    viz::add_label(picture.scene, style, words, {at, y + line / 2}, style.small(), color,
                   viz::FontStyle::regular, align, room);
  };
  const auto seen = static_cast<std::size_t>(stages.masked.count_of(query));
  std::string name = panels.is_left(i) ? "query " + token_name(c.run->tokens, query) : "";
  const bool same_line = panels.grid.cols == 1, counted = keys.size() < seen;
  const std::string keys_shown = std::to_string(keys.size()) + " of " + std::to_string(seen) + " keys";
  std::string count = "strongest " + keys_shown;
  if (!same_line && style.width(count, style.small()) > panels.side) count = keys_shown;
  if (same_line && counted) name += ", " + count;
  draw(name, x, c.theme->query, viz::Align::left, panels.side);
  if (!same_line && counted && i == 1) draw(count, x, c.theme->text_muted, viz::Align::left, panels.side);
  y += line;
  float largest = 0;
  for (const int key : keys)
    if (std::isfinite(values.at(query, key))) largest = std::max(largest, std::abs(values.at(query, key)));
  const int digits = stage == Stage::pattern ? 4 : viz::decimals_for(static_cast<double>(largest));
  for (const int key : keys) {
    const auto value = static_cast<double>(values.at(query, key));
    constexpr double kSmall = 0.0005;
    const std::string number =
        value != 0 && std::abs(value) < kSmall ? viz::number(value, 2) : viz::fixed_number(value, digits);
    const viz::Color color = key == c.selection.key ? c.theme->key : c.theme->text;
    const float width = style.width(number, style.small());
    draw(std::to_string(key) + " " + c.run->tokens.labels[key], x, color, viz::Align::left,
         panels.side - width - 2 * u);
    draw(number, x + panels.side, color, viz::Align::right, panels.side);
    viz::Region region{kNumber, i, {x, y, panels.side, line}};
    region.first_row = query, region.first_col = key;
    region.row_count = values.rows, region.col_count = values.cols;
    picture.regions.push_back(region);
    y += line;
  }
}

/// What the maps of all stages are made of.
struct Maps {
  std::shared_ptr<const Stages> stages;
  PatternScale weights;
  std::array<viz::ColorScale, kStages> scales;
  std::vector<std::uint8_t> absent;  ///< differences of tokens without a counterpart
  bool causal = true;
  bool is_difference = false;
};

Maps maps_of(const ViewContext& c, std::shared_ptr<const Stages> stages) {
  Maps maps;
  maps.is_difference = c.side == Side::difference;
  maps.causal = stages->masked.causal();
  maps.weights =
      pattern_scale(c, stages->matrix(Stage::pattern), "weight", maps.causal, range_of_differences(c));
  maps.scales = stage_scales(*stages, maps.weights.scale, maps.is_difference);
  if (maps.is_difference)
    for (const float score : stages->values.scores) maps.absent.push_back(std::isnan(score) ? 1 : 0);
  maps.stages = std::move(stages);
  return maps;
}

std::string scale_title(const ViewContext& c, const Maps& maps, Stage stage) {
  return stage == Stage::pattern ? maps.weights.title : difference_prefix(c) + std::string("score");
}

/// Width of the widest colour scale next to a map: all maps are aligned.
float scale_width(const ViewContext& c, const Maps& maps) {
  float width = 0;
  for (const Stage stage : kAllStages)
    width = std::max(width, viz::color_scale_width(maps.scales[static_cast<std::size_t>(stage)],
                                                   scale_title(c, maps, stage), std::nullopt, style_of(c)));
  return width;
}

/// A stage's map, with axes and the colours of the stage.
viz::Heatmap stage_map(const ViewContext& c, const Maps& maps, Stage stage) {
  viz::Heatmap map = attention_map(c, maps.stages->matrix(stage), kCell);
  if (stage == Stage::pattern) color_weights(map, maps.weights);
  map.cells.scale = maps.scales[static_cast<std::size_t>(stage)];
  if (stage != Stage::pattern) map.cells.pooling = viz::Pooling::mean;  // they have both signs
  if (stage == Stage::masked || stage == Stage::pattern) {
    hatch_masked(map.cells, maps.stages->masked);
  } else {
    map.cells.masked = maps.absent;
  }
  map.scale_title = scale_title(c, maps, stage);
  map.saves_width = false;
  map.id = static_cast<int>(stage);
  return map;
}

bool nothing_differs(const Maps& maps) {
  const auto is_zero = [](float value) { return !std::isfinite(value) || value == 0; };
  return maps.is_difference && std::ranges::all_of(maps.stages->values.scores, is_zero) &&
         std::ranges::all_of(maps.stages->values.pattern, is_zero);
}

/// A note over the maps would cover their headings and scales.
std::string difference_subtitle(const ViewContext& c, const Maps& maps) {
  const std::string words = difference_words(c, ": hatched");
  if (!nothing_differs(maps)) return words;
  return c.in_pane ? words + ". " + no_difference_words(c, c.selection.layer) : words + kNoDifference;
}

viz::Rect paint_heading(Picture& picture, const ViewContext& c, const Maps& maps) {
  return paint_title(
      picture, c,
      "From scores to weights, " + head_title(c, c.selection.layer, c.selection.head) + difference_suffix(c),
      maps.is_difference
          ? difference_subtitle(c, maps)
          : "softmax(q·k × " + scale_factor(c.run->run->config, c.selection.layer) + " + mask)" +
                (is_edited_at(c, model::Site::pattern, c.selection.layer, c.selection.head) ? ", then edited"
                                                                                            : ""));
}

Picture build_all(const ViewContext& c, const Maps& maps) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), line = style.line(style.font_size) + u;
  const Stages& stages = *maps.stages;
  Picture picture = blank(c);
  const viz::Rect area = paint_heading(picture, c, maps);
  const float upright = scale_width(c, maps);
  const auto fit_above = [&](float width) {
    return std::ranges::all_of(maps.scales, [&](const viz::ColorScale& scale) {
      viz::Scene measured;
      return viz::paint_color_scale_in(measured, scale, "", std::nullopt, {}, width, style);
    });
  };
  const Panels panels = place_panels(area, token_axis(c, "query", c.theme->query, c.selection.query),
                                     token_axis(c, "key", c.theme->key, c.selection.key), upright + 4 * u,
                                     fit_above, c.selection.query + 1, style);
  if (panels.side < 2 * style.font_size) return too_small(c, "for the four maps");
  const std::vector<int> keys = listed_keys(c, stages, panels.lines);
  for (const Stage stage : kAllStages) {
    const int i = static_cast<int>(stage);
    const viz::Rect& panel = panels.places[i];
    const float y = panel.y + line / 2;
    viz::add_label(picture.scene, style, kNames[i].title, {panel.x, y}, style.font_size, c.theme->text,
                   viz::FontStyle::medium, viz::Align::left, panel.w);
    const float used = style.width(kNames[i].title, style.font_size, viz::FontStyle::medium) + 2 * u;
    viz::add_whole_label(picture.scene, style, stage_note(c, stage, maps.is_difference), {panel.x + used, y},
                         panel.w - used, c.theme->text_muted);

    viz::Heatmap map = stage_map(c, maps, stage);
    map.show_scale = !panels.grid.level_scales;
    map.least_scale_width = map.show_scale ? upright : 0;
    map.centered = false;
    share_labels(picture, c, panels, i, map);
    const viz::Rect place{panel.x, panel.y + panels.heading,
                          map.row_room->size + panels.side + (map.show_scale ? upright + 4 * u : 0),
                          map.col_room->size + panels.side + 1 + panels.foot};
    paint_shape(picture.scene, c, viz::paint_heatmap(picture, map, place, style));
    if (panels.grid.level_scales) {
      const viz::Point at{panel.x, panel.y + line + style.line(style.small()) / 2};
      viz::paint_color_scale_in(picture.scene, map.cells.scale, "", std::nullopt, at, panel.w, style);
    }
    paint_numbers(picture, c, stages, panels, stage, keys);
  }
  return picture;
}

/// Draws the stages as stops of a line, with a knob at the current one or between two. Returns the height
/// that it takes.
float paint_stops(Picture& picture, const ViewContext& c, const Maps& maps, viz::Rect area, Stage shown) {
  const viz::Style style = style_of(c);
  const float u = style.unit(), small = 0.6F * u, large = 1.4F * u, gap = 3 * u;
  const float each = std::min((area.w + gap) / kStages, 14 * style.font_size);
  const float y = area.y + u + large, words = y + large + u, line = style.line(style.font_size);
  const auto place = [&](float stage) { return viz::Point{area.x + large + each * stage, y}; };
  const auto at = [&](Stage stage) { return place(static_cast<float>(stage)); };
  picture.scene.add_line(at(Stage::scores), at(Stage::pattern), c.theme->text_muted, 0.5F * u);
  bool notes = true;  // all of them or none
  for (const Stage stage : kAllStages)
    notes &= style.width(stage_note(c, stage, maps.is_difference), style.small()) <= each - gap;
  for (const Stage stage : kAllStages) {
    const int i = static_cast<int>(stage);
    const float x = at(stage).x - large;
    picture.scene.add_disc(at(stage), small, c.theme->text_muted);
    viz::add_label(picture.scene, style, kNames[i].title, {x, words + line / 2}, style.font_size,
                   stage == shown ? c.theme->text : c.theme->text_muted, viz::FontStyle::medium,
                   viz::Align::left, each - u);
    if (notes)
      viz::add_muted(picture.scene, style, stage_note(c, stage, maps.is_difference),
                     {x, words + line + style.line(style.small()) / 2}, viz::Align::left, each);
    picture.regions.push_back(viz::Region::grid(
        kStop, i, {x, area.y, each - gap, words + line + (notes ? style.line(style.small()) : 0) - area.y}, 1,
        1));
  }
  picture.scene.add_disc(place(static_cast<float>(c.options[kScoreStage] - 1)), large, c.theme->accent);
  return words + line + (notes ? style.line(style.small()) : 0) + u - area.y;
}

/// One stage in a large map.
Picture build_one(const ViewContext& c, const Maps& maps, Stage stage) {
  Picture picture = blank(c);
  viz::Rect area = paint_heading(picture, c, maps);
  const float stops = paint_stops(picture, c, maps, area, stage);
  area.y += stops, area.h -= stops;
  viz::Heatmap map = stage_map(c, maps, stage);
  map.least_scale_width = scale_width(c, maps);
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style_of(c));
  paint_shape(picture.scene, c, grid);
  return picture;
}

/// The image of a map's cells; null: it has none.
viz::Image* cells_of(Picture& picture) {
  for (viz::Item& item : picture.scene.items)
    if (auto* image = std::get_if<viz::Image>(&item)) return image;
  return nullptr;
}

/// Colours between those of two maps of one size, of which masked cells are transparent.
std::shared_ptr<const viz::Bitmap> cross_fade(const viz::Bitmap& from, const viz::Bitmap& to, float part) {
  auto mixed = std::make_shared<viz::Bitmap>(to);
  for (std::size_t i = 0; i < mixed->pixels.size() && i < from.pixels.size(); ++i) {
    const viz::Color a = from.pixels[i], b = to.pixels[i];
    const float of_a = (1 - part) * a.a, of_b = part * b.a, alpha = of_a + of_b;
    const auto channel = [&](std::uint8_t x, std::uint8_t y) {
      return static_cast<std::uint8_t>(alpha > 0 ? std::lround((x * of_a + y * of_b) / alpha) : 0);
    };
    mixed->pixels[i] = {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b),
                        static_cast<std::uint8_t>(std::lround(alpha))};
  }
  return mixed;
}

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  const Maps maps = maps_of(c, stages);
  const double at = c.options[kScoreStage];
  if (at < 1) return build_all(c, maps);
  const int before = std::min(static_cast<int>(at), kStages) - 1;
  const auto part = static_cast<float>(at - 1 - before);
  Picture first = build_one(c, maps, static_cast<Stage>(before));
  if (part <= 0 || before + 1 == kStages) return first;
  Picture second = build_one(c, maps, static_cast<Stage>(before + 1));
  Picture& nearer = part < 0.5F ? first : second;
  viz::Image *from = cells_of(first), *to = cells_of(second), *shown = cells_of(nearer);
  if (from && to) shown->bitmap = cross_fade(*from->bitmap, *to->bitmap, part), shown->content_id = 0;
  return std::move(nearer);
}

/// A row for each cell of the four matrices.
Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (!stages) return {};
  Table result{key_column("query"), note_column("query token"), key_column("key"), note_column("key token")};
  for (const StageName& name : kNames) result.columns.emplace_back(difference_column_prefix(c) + name.file);
  result.ranked_by = result.columns.back().name;
  add_head_facts(result, c);
  const std::vector<std::string>& tokens = c.run->tokens.labels;
  for (int query = 0; query < stages->values.length; ++query)
    for (int key = 0; key < stages->values.length; ++key)
      add_row(result, query, tokens[query], key, tokens[key],
              kAllStages |
                  std::views::transform([&](Stage stage) { return stages->matrix(stage).at(query, key); }));
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  if (const viz::Region& region = region_of(picture, hit); region.role == kStop) {
    Facts facts;
    facts.say("stage " + std::string(kNames[static_cast<std::size_t>(region.id)].title));
    return facts;
  }
  Facts facts = facts_of_matrix(c, hit);
  const auto stages = current_stages(c);
  if (!stages || hit.row >= stages->values.length || hit.col >= stages->values.length) {
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

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!hit || region_of(picture, *hit).role == kCell) return matrix_gesture(c, picture, hit, gesture);
  if (gesture.kind != Gesture::Kind::click) return {};
  const viz::Region& region = region_of(picture, *hit);
  if (region.role == kStop) return {SetOption{&kScoreStage, region.id + 1.0}};
  return {clicked_key(c, hit->col)};
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return zoom_scrolls(kZoom, c, picture, kCell);
}

}  // namespace scores

View scores_view() {
  using namespace scores;
  View view = attention_matrix_view(make_view(
      Group::attention, "scores", "Scores",
      "the four stages of attention of one head: scores, scaled, masked, pattern", build, facts, table));
  view.options = {&kScoreStage, &kValueScale, &kValueMax, &kWithoutKey0, &kDragAction, &kShape, &kZoom};
  view.on = on;
  view.scrolls = scrolls;
  view.print_shape = [](const ViewContext& c) {
    if (c.options[kScoreStage] >= 1) return 0.95F;
    return is_column_wide(c) ? 1.25F : 1.15F;
  };
  view.landmarks = {landmark("scores", kCell, static_cast<int>(Stage::scores)),
                    landmark("scaled", kCell, static_cast<int>(Stage::scaled)),
                    landmark("masked", kCell, static_cast<int>(Stage::masked)),
                    landmark("pattern", kCell, static_cast<int>(Stage::pattern))};
  return view;
}

}  // namespace headscope::app
