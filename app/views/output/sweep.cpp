#include "app/run/analyses/sweep.h"

#include <algorithm>
#include <cmath>

#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/output/sweep_words.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/difference.h"
#include "app/views/parts/edit_menu.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/landmarks.h"
#include "app/views/parts/list.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/token_axes.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

enum Role { kCell };           // row: layer; col: head or position
constexpr int kWholeRow = -1;  // in place of a column

bool over_heads(const ViewContext& c) {
  return c.options[kSweptOver] != SweepOver::positions;
}

/// Whether a column is the MLP, which no head can be selected for.
bool is_mlp(const ViewContext& c, int column) {
  return over_senders(c.options) && column == c.run->run->config.n_head;
}

std::string with_sign(double value) {
  return (value > 0 ? "+" : "") + exact(value);
}

viz::ColorScale scale_of(const ViewContext& c, const Sweep& sweep, const std::vector<float>& values) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(values));
  if (c.options[kSweptMetric] == SweepMetric::divergence)
    return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  std::vector<float> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (over_heads(c) || sweep.columns == 1 || i % static_cast<std::size_t>(sweep.columns) > 0)
      others.push_back(values[i]);
  return beyond_rounding(viz::robust_scale(viz::Matrix::row(others), 0, range));
}

// ---- the drawing ----

/// Calls visit(first cell, end) for each run of cells of a row that are not known yet.
template <class Visit>
void for_each_unknown(const Sweep& sweep, const Visit& visit) {
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) {
      if (sweep.knows(layer, column)) continue;
      int end = column;
      while (end < sweep.columns && !sweep.knows(layer, end)) ++end;
      visit(layer, column, end);
      column = end;
    }
}

/// Covers cells that are not known yet with the background: whole ones, or with estimates the upper and the
/// lower quarter, which a cell of a single pixel's width shows as well.
void cover_unknown(Picture& picture, const ViewContext& c, const Sweep& sweep, const viz::Region& grid) {
  const bool estimated = sweep.estimates_metric(c.options[kSweptMetric]);
  for_each_unknown(sweep, [&](int layer, int column, int end) {
    viz::Rect rect = grid.cell_rect(layer, column);
    rect.w = grid.cell_rect(layer, end).x - rect.x;
    if (!estimated) {
      picture.scene.add(viz::FillRect{rect, c.theme->surface});
      return;
    }
    const float h = rect.h / 4;
    picture.scene.add(viz::FillRect{{rect.x, rect.y, rect.w, h}, c.theme->surface});
    picture.scene.add(viz::FillRect{{rect.x, rect.bottom() - h, rect.w, h}, c.theme->surface});
  });
  picture.scene.add(viz::StrokeRect{grid.rect, c.theme->line, 1});
}

/// Whether the run has a place's edit, alone or joined with others; cells are measured on top of the run's
/// edits.
bool is_applied(const ViewContext& c, const SweepOf& question, const SweepPlace& place) {
  if (c.run->prompt.edits.empty()) return false;
  const model::Edits edits = question.edits(place);
  return !edits.empty() && std::ranges::any_of(c.run->prompt.edits, [&](const model::Edit& edit) {
    const EditList applied{.edits = {{edit, true}}};
    return with_joined_edit(applied, edits.front()) == applied;
  });
}

/// Draws a dot in a corner of the cell.
void mark_applied(Picture& picture, const ViewContext& c, const viz::Rect& cell) {
  const float size = std::clamp(0.2F * std::min(cell.w, cell.h), 2.F, 0.5F * c.font_size);
  const viz::Rect dot{cell.right() - 1.7F * size, cell.y + 0.7F * size, size, size};
  const float ring = 0.25F * size;
  picture.scene.add(viz::FillRect{dot.inset(-ring), c.theme->surface, size / 2 + ring});
  picture.scene.add(viz::FillRect{dot, c.theme->text, size / 2});
}

Picture build(const ViewContext& c) {
  const SweepOf question = sweep_question(c);
  if (!c.run) {
    static_cast<void>(c.ask(question));
    return *waiting(c);
  }
  if (!has_source(question))
    return message(c, c.side == Side::baseline
                          ? "patches come from this run; show the other run to see their effect"
                          : "nothing to patch from: set a second prompt or model, or edit "
                            "this run");
  if (const std::string why = refuse_sweep(c, question).why; !why.empty()) return message(c, why);
  if (!can_be_asked(question)) return message(c, kComputing);
  const auto sweep = c.ask(question);
  if (auto words = waiting(c, question, sweep != nullptr)) return *words;
  const viz::Style style = style_of(c);
  viz::Rect area = below_title(c);
  const float line = style.line(style.small());
  const auto [wide, narrow] = words_on_estimates(c, *sweep);
  const std::string& on_estimates = style.width(wide, style.small()) <= area.w ? wide : narrow;
  area.h -= (on_estimates.empty() ? 1.5F : 2.5F) * line;
  if (area.w < 10 * c.font_size || area.h < 6 * c.font_size) return too_small(c, "for a sweep");
  Picture picture = blank(c);
  paint_title(picture, c, sweep_title(c, question), sweep_subtitle(c, question, *sweep));
  const std::vector<float> values = shown_values(c, *sweep);
  std::vector<std::string> layers, heads;
  for (int layer = 0; layer < sweep->layers; ++layer) layers.push_back("L" + std::to_string(layer));
  for (int column = 0; column < sweep->columns; ++column)
    heads.push_back(is_mlp(c, column) ? "MLP" : "H" + std::to_string(column));
  viz::Heatmap map;
  map.cells.matrix = viz::Matrix::row_major(values, sweep->layers, sweep->columns);
  map.cells.scale = scale_of(c, *sweep, values);
  std::vector<std::uint8_t> nothing;  // cells without a source of patches
  std::vector<std::pair<int, int>> applied;
  for (int layer = 0; layer < sweep->layers; ++layer)
    for (int column = 0; column < sweep->columns; ++column) {
      const SweepPlace place = question.place_of(layer, column);
      nothing.push_back(question.has_edits(place) ? 0 : 1);
      if (is_applied(c, question, place)) applied.emplace_back(layer, column);
    }
  map.cells.masked = nothing;
  map.rows = selectable_axis(c, layers, "layer", c.selection.layer);
  if (over_heads(c)) {
    map.cols = selectable_axis(c, heads, over_senders(c.options) ? "sender" : "head", c.selection.head);
  } else {
    map.cols = token_axis(c, "position", c.theme->key, c.selection.key);
    map.cols.labels = map.cols.labels.first(sweep->columns);
    map.stretch = 0;
  }
  map.scale_title = sweep_scale_title(c);
  map.centered = !c.trimmed;
  map.saves_width = true;
  map.titles_in_corner = c.printed && is_column_wide(c);
  if (over_heads(c) && c.printed && c.width > c.height) map.stretch = 1.7F;  // a slide is wide
  map.role = kCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style);
  const float below = grid.rect.bottom() + viz::flat_scale_height(map, area, style);
  if (!is_complete(*sweep)) cover_unknown(picture, c, *sweep, grid);
  for (const auto& [layer, column] : applied) mark_applied(picture, c, grid.cell_rect(layer, column));
  const int marked = over_heads(c) ? c.selection.head : c.selection.key;
  if (marked >= 0 && marked < sweep->columns)
    picture.scene.add(viz::StrokeRect{grid.cell_rect(c.selection.layer, marked), c.theme->accent, 2, 1});
  const std::string words = sweep_state(c, question, *sweep) + (applied.empty() ? "" : "   • already edited");
  float y = std::min(area.bottom(), below + line / 2) + line;
  for (const std::string& one : {words, on_estimates}) {
    viz::add_label(picture.scene, style, one, {area.x, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, area.w);
    y += line;
  }
  return picture;
}

// ---- the mouse ----

/// The cell of a hit.
std::size_t cell_of(const Sweep& sweep, const viz::Hit& hit) {
  return static_cast<std::size_t>(hit.row) * static_cast<std::size_t>(sweep.columns) +
         static_cast<std::size_t>(hit.col);
}

/// The answer; null while there is none, and if the hit is not one of its cells.
std::shared_ptr<const Sweep> sweep_at(const ViewContext& c, const viz::Hit& hit) {
  if (!c.run) return nullptr;
  const SweepOf question = sweep_question(c);
  if (!can_be_asked(question)) return nullptr;
  auto sweep = c.ask(question);
  return sweep && hit.row < sweep->layers && hit.col < sweep->columns ? sweep : nullptr;
}

ViewActions on_key(const ViewContext& c, const Gesture& gesture) {
  const bool sideways = gesture.key == Key::left || gesture.key == Key::right;
  if (!over_heads(c) || gesture.modifiers.shift || !sideways) return keys_along_layers(c, gesture);
  return {MoveHead{0, gesture.key == Key::left ? -1 : 1}};
}

/// Dragging over cells applies the edits of all of them, whether or not the sweep knows them yet.
ViewActions edits_of_drag(const ViewContext& c, const Picture& picture, const viz::Hit& hit,
                          const Gesture& gesture) {
  const SweepOf question = sweep_question(c);
  if (!has_source(question) || !can_edit(c)) return {};
  const model::Config& config = c.run->run->config;
  const int columns = over_heads(c) ? config.n_head + over_senders(c.options) : c.run->run->length();
  ViewActions actions;
  for (const auto& [layer, column] : dragged_cells(picture, hit, gesture)) {
    if (layer >= config.n_layer || column >= columns) continue;
    for (model::Edit& edit : question.edits(layer, gesture.modifiers.shift ? kWholeRow : column))
      actions.emplace_back(DragEdit{std::move(edit)});
  }
  return actions;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture);
  if (hit != nullptr && gesture.kind == Gesture::Kind::drag) return edits_of_drag(c, picture, *hit, gesture);
  if (hit == nullptr || !sweep_at(c, *hit)) return {};
  if (gesture.kind == Gesture::Kind::double_click) {
    const model::Edits edits =
        sweep_question(c).edits(hit->row, gesture.modifiers.shift ? kWholeRow : hit->col);
    return edits.empty() ? ViewActions{} : toggled(edits.front());
  }
  if (gesture.kind != Gesture::Kind::click) return {};
  if (is_mlp(c, hit->col)) return {SelectHead{hit->row, c.selection.head}};
  if (over_heads(c)) return {SelectHead{hit->row, hit->col}};
  return {SelectHead{hit->row, c.selection.head}, SelectKey{hit->col}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto sweep = sweep_at(c, hit);
  if (!sweep) return facts;
  viz::paint_crosshair(facts.overlay, region_of(picture, hit), hit.row, hit.col, c.theme->text_muted,
                       over_heads(c) ? c.theme->text_muted : c.theme->key, style_of(c));
  const SweepOf question = sweep_question(c);
  const SweepPlace place = question.place_of(hit.row, hit.col);
  const std::size_t cell = cell_of(*sweep, hit);
  facts.say(place_name(c, place));
  const auto add = [&](const char* apply, const char* back, const model::Edits& edits) {
    if (edits.empty()) return;
    const std::string words = "“" + edit_words(edits.front()) + "”";
    facts.commands.push_back({(is_edited(c, edits.front()) ? back : apply) + words, toggled(edits.front())});
  };
  const model::Edits edits = question.edits(place);
  add("Apply ", "Undo ", edits);
  add("Apply to the whole row: ", "Undo for the whole row: ", question.edits(hit.row, kWholeRow));
  if (!over_heads(c)) facts.commands.push_back(choose_query(c, hit.col));
  if (over_heads(c) && !is_mlp(c, hit.col)) {
    facts.commands.push_back({"Show " + head_name(hit.row, hit.col), {SelectHead{hit.row, hit.col}}});
    if (hit.row > 0) facts.commands.push_back(show_paths(c.options, hit.row, hit.col));
  }
  if (edits.empty()) {
    const bool before = question.over != SweepOver::senders || question.receiver.is_after(hit.row);
    facts.say(before ? "no counterpart in the other prompt" : "not before the receiver");
    return facts;
  }
  const std::string words = edit_words(edits.front());
  facts.copy("the edit “" + words + "”", edit_text(edits.front()));
  const double estimate = shown_estimate(c, *sweep, cell);
  const auto say_estimate = [&] {
    if (!std::isnan(estimate))
      facts.said.push_back({.label = sweep_scale_title(c) + ", estimated",
                            .value = with_sign(estimate),
                            .copied = plain(estimate)});
  };
  if (!sweep->known[cell]) {
    say_estimate();
    facts.say(kComputing);
    return facts;
  }
  facts.say(words);
  const SweepMetric metric = c.options[kSweptMetric];
  const double before = sweep->before.of(metric), after = sweep->readings[cell].of(metric);
  const double difference = shown_difference(c, *sweep, cell);
  facts.said.push_back(
      {.label = sweep_scale_title(c), .value = with_sign(difference), .copied = plain(difference)});
  if (metric != SweepMetric::divergence) facts.say("from " + exact(before) + " to " + exact(after));
  say_estimate();
  return facts;
}

// ---- the table ----

/// A row for each cell that is known or estimated.
Table table(const ViewContext& c) {
  const SweepOf question = sweep_question(c);
  const auto sweep = c.run && can_be_asked(question) ? c.ask(question) : nullptr;
  if (!sweep) return {};
  const SweepMetric metric = c.options[kSweptMetric];
  const std::string name = std::string(app::name_of(kSweepMetrics, metric)) +
                           (metric == SweepMetric::divergence ? " in bits" : "");
  const std::string column_name = over_senders(c.options) ? "sender" : over_heads(c) ? "head" : "position";
  Table result{{"layer", column_name, "token", "edit", "change of " + name, name + " with it"}, {}};
  const bool estimated = sweep->estimates_metric(metric);
  if (estimated) result.header.push_back("estimated change of " + name);
  for (std::size_t cell = 0; cell < sweep->known.size(); ++cell) {
    const bool known = sweep->known[cell];
    if (!known && !estimated) continue;
    const SweepPlace place = question.place_of(*sweep, cell);
    const model::Edits edits = question.edits(place);
    const auto number = [&](double value) { return known ? plain(value) : std::string(); };
    add_row(result, place.layer,
            place.is_mlp ? "MLP" : std::to_string(place.position.value_or(place.head.value_or(0))),
            place.position ? c.run->tokens.labels[*place.position] : "",
            edits.empty() ? "" : edit_words(edits.front()), number(shown_difference(c, *sweep, cell)),
            number(shown_value(metric, sweep->readings[cell].of(metric))));
    if (estimated) result.rows.back().back() = plain(shown_estimate(c, *sweep, cell));
  }
  return result;
}

viz::Point figure_size(const ViewContext& c) {
  if (!c.run) return {60 * c.font_size, 40 * c.font_size};
  const model::Config& config = c.run->run->config;
  const float columns =
      static_cast<float>(over_heads(c) ? config.n_head + over_senders(c.options) : c.selection.query + 1);
  const float cell = over_heads(c) ? 2.6F : 1.8F;
  if (c.printed && over_heads(c))  // cells are square
    return {c.width, static_cast<float>(config.n_layer) * c.width / columns + 14 * c.font_size};
  return {std::clamp(columns * cell + 14, 48.F, 120.F) * c.font_size,
          (static_cast<float>(config.n_layer) * 2.4F + 14) * c.font_size};
}

std::string refuse(const ViewContext& c) {
  if (std::string words = refuse_token_id(c, {&kSweptTokenId, &kSweptAgainstId}); !words.empty())
    return words;
  if (!c.run) return "";
  const auto [why, option] = refuse_sweep(c, sweep_question(c));
  return option == nullptr ? why : why + "; see --" + std::string(option->flag_name());
}

}  // namespace

const View& view_of_sweeps() {
  return *find_view("sweep");
}

View sweep_view() {
  View view = make_view(
      Group::output, "sweep", "Sweep",
      "how much a prediction changes when each head, each layer at each position, or each path to a head or "
      "the logits is ablated or patched",
      build, facts, table);
  view.options = {&kSweptMetric,  &kSweptOver,     &kSweptEdit,     &kSweptSite,
                  &kReceiver,     &kReceiverLayer, &kReceiverHead,  &kSweptToken,
                  &kSweptAgainst, &kSweptTokenId,  &kSweptAgainstId};
  view.tokens = {&kSweptToken,     &kSweptTokenId, &kSweptAgainst,
                 &kSweptAgainstId, &kSweptMetric,  static_cast<int>(SweepMetric::difference)};
  view.commands = query_steps("Previous query", "Next query");
  view.on = on;
  view.shows_parts = true;
  view.refuse = refuse;
  view.figure_size = figure_size;
  view.caption = {true, false, true};
  view.on_baseline = [](const ViewContext& c) { return c.options[kSweptEdit] == SweepEdit::patch; };
  view.landmarks = {landmark<kCell>("grid")};
  return view;
}

}  // namespace headscope::app
