#include "app/run/analyses/sweep.h"
#include "app/counted.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_options.h"
#include "app/views/parts/comparison_words.h"
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
constexpr const char* kNoSenders = "nothing sends to layer 0: choose a receiver in a later layer";

const auto kMetric = with_flag(
    "metric",
    make_option<SweepMetric>("sweep-metric", "Metric", "how the prediction is compared with the run's",
                             {.default_value = 1, .choices = choices_of(kSweepMetrics), .keys = "cC"}));
const auto kEdit = choice_option<SweepEdit>("sweep-change", "Edit", "wW", "the edit applied to each",
                                            choices_of(kSweepEdits));

const auto kSite = make_option<int>(
    "sweep-site", "Site", "the site edited in each layer, position by position",
    {.flag = "site",
     .default_value = 0,
     .choices = choices_of(kSweepSites),
     .keys = "xX",
     .applies = [](const Options& options) { return options[kSweptOver] == SweepOver::positions; }});

const auto kToken = make_option<int>(
    "sweep-rank", "Token",
    "the token, by its rank among the predictions (of the unedited run, while edits are on)",
    {.default_value = 1, .low = 1, .high = 100, .keys = "lL", .applies = [](const Options& options) {
       return options[kMetric] != SweepMetric::divergence;
     }});
const auto kAgainst = applying_if(
    [](const Options& options) { return options[kMetric] == SweepMetric::difference; },
    make_option<int>("sweep-other-rank", "Against",
                     "the other token, by its rank among the predictions (auto: the most probable other one)",
                     other_rank_option()));
const auto kTokenId =
    make_option<int>("sweep-id", "Token id", "the token by its id, instead of its rank", token_id_option());
const auto kAgainstId = make_option<int>("sweep-other-id", "Other token id",
                                         "the other token by its id, instead of its rank", token_id_option());

// ---- the question ----

SweepOf question_of(const ViewContext& c) {
  SweepOf question;
  question.over = c.options[kSweptOver];
  if (question.over == SweepOver::positions) question.site = kSweepSites[c.options[kSite]].value;
  if (question.over == SweepOver::senders) question.receiver = receiver_of(c);
  question.edit = c.options[kEdit];
  if (question.edit == SweepEdit::patch && c.run) question.from = patch_prompt_of(*c.run);
  const auto token = token_choice(c, kTokenId, kToken);
  question.token = token.value_or(TokenChoice{});  // By::none until it is known
  question.against = other_token_choice(c, token, kAgainstId, kAgainst).value_or(TokenChoice{});
  question.position = std::max(0, c.selection.query);
  question.estimates = question.has_estimates();
  question.largest_of = c.options[kMetric];
  return question;
}

bool has_source(const SweepOf& question) {
  return question.edit != SweepEdit::patch || !question.from.tokens.empty();
}
bool has_senders(const SweepOf& question) {
  return question.over != SweepOver::senders || question.receiver.has_senders();
}
bool can_be_asked(const SweepOf& question) {
  const auto known = [](const TokenChoice& token) { return token.by != TokenChoice::By::none; };
  return has_source(question) && has_senders(question) && known(question.token) && known(question.against);
}

bool names_one_twice(const ViewContext& c, const SweepOf& question) {
  return c.options[kMetric] == SweepMetric::difference && is_one_twice(c, question.token, question.against);
}

// ---- words ----

/// Whether a column is a head, or after these the MLP.
bool over_heads(const ViewContext& c) {
  return c.options[kSweptOver] != SweepOver::positions;
}

/// Whether a column is the MLP, which no head can be selected for.
bool is_mlp(const ViewContext& c, int column) {
  return over_senders(c.options) && column == c.run->run->config.n_head;
}

std::string quoted(const ViewContext& c, int id) {
  return "“" + label_of(c, id) + "”";
}

/// The source of patches, with the second model's name.
std::string source_words(const PromptRun& run) {
  if (!compares_models(run)) return "the " + second_name(run);
  return (compares_texts(run) ? "the second prompt in " : "") + run.baseline->model->name;
}

/// "Each head zeroed", "mlp_out replaced by its mean, by layer and position", "Paths into L9 H6 q, each
/// sender zeroed".
std::string title_of(const ViewContext& c, const SweepOf& question) {
  const bool paths = question.over == SweepOver::senders;
  const std::string what = paths ? "Paths into " + receiver_name(question.receiver) + ", each sender"
                           : over_heads(c) ? "Each head"
                                           : std::string(kSite.choices[c.options[kSite]].name);
  const std::string how = question.edit == SweepEdit::zero   ? " zeroed"
                          : question.edit == SweepEdit::mean ? " replaced by its mean"
                          : c.compared() && compares_different_inputs(*c.run)
                              ? " patched from " + source_words(*c.run)
                              : " patched from the unedited run";
  return what + how + (over_heads(c) ? "" : ", by layer and position");
}

/// "logit of “·the” − “·a”".
std::string metric_name(const ViewContext& c, const Sweep& sweep) {
  const SweepMetric metric = c.options[kMetric];
  if (metric == SweepMetric::divergence) return "KL(run ‖ edited), bits";
  return (metric == SweepMetric::probability ? "probability of " : "logit of ") + quoted(c, sweep.token) +
         (metric == SweepMetric::difference ? " − " + quoted(c, sweep.against) : "");
}

/// "; 11 of 27 positions patched, each from the equal token": which ones a patch reaches.
std::string patched_words(const ViewContext& c, const SweepOf& question) {
  if (question.edit != SweepEdit::patch || !c.compared() || !compares_texts(*c.run)) return "";
  const std::vector<int>& aligned = c.run->aligned;
  const auto count = std::ssize(aligned) - std::ranges::count(aligned, -1);
  return "; " + grouped(count) + " of " + counted(std::ssize(aligned), "position") + " patched, " +
         (matches_other_positions(*c.run) ? "from equal tokens" : "from the same positions");
}

std::string subtitle_of(const ViewContext& c, const SweepOf& question, const Sweep& sweep) {
  const std::string after = " after " + token_name(c.run->tokens, sweep.position),
                    patched = patched_words(c, question);
  if (c.options[kMetric] == SweepMetric::divergence) return metric_name(c, sweep) + "," + after + patched;
  return metric_name(c, sweep) + after + ": what each cell changes, from " +
         viz::number(sweep.before.of(c.options[kMetric]), 4) +
         (c.run->prompt.edits.empty() ? " in this run" : " in the edited run") + patched +
         (over_senders(c.options) ? "; direct paths, past other heads and MLPs" : "");
}

std::string scale_title(const ViewContext& c) {
  const SweepMetric metric = c.options[kMetric];
  if (metric == SweepMetric::divergence) return "KL, bits";
  if (metric == SweepMetric::difference) return "Δ logit difference";
  return "Δ " + std::string(app::name_of(kSweepMetrics, metric));
}

std::string cell_name(const ViewContext& c, int layer, int column) {
  if (over_senders(c.options)) return sender_name(receiver_of(c), layer, column);
  if (over_heads(c)) return head_name(layer, column);
  return "L" + std::to_string(layer) + " at " + token_name(c.run->tokens, column);
}

std::string with_sign(double value) {
  return (value > 0 ? "+" : "") + exact(value);
}

// ---- the numbers ----

double difference_in(const ViewContext& c, const Sweep& sweep, int layer, int column) {
  const SweepMetric metric = c.options[kMetric];
  return shown_value(metric, sweep.difference(metric, layer, column));
}

/// The estimate of the metric's difference in a cell; NaN if there is none.
double estimate_in(const ViewContext& c, const Sweep& sweep, int layer, int column) {
  const SweepMetric metric = c.options[kMetric];
  return sweep.estimates_metric(metric) ? sweep.estimate(metric, layer, column)
                                        : std::numeric_limits<double>::quiet_NaN();
}

/// The metric's difference in each cell, layer by layer, or where it is not known its estimate.
std::vector<float> values_of(const ViewContext& c, const Sweep& sweep) {
  std::vector<float> values;
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column)
      values.push_back(static_cast<float>(sweep.knows(layer, column) ? difference_in(c, sweep, layer, column)
                                                                     : estimate_in(c, sweep, layer, column)));
  return values;
}

viz::ColorScale scale_of(const ViewContext& c, const Sweep& sweep, const std::vector<float>& values) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(values));
  if (c.options[kMetric] == SweepMetric::divergence)
    return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  std::vector<float> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (over_heads(c) || sweep.columns == 1 || i % static_cast<std::size_t>(sweep.columns) > 0)
      others.push_back(values[i]);
  return beyond_rounding(viz::robust_scale(viz::Matrix::row(others), 0, range));
}

/// The strongest difference so far.
std::string strongest_words(const ViewContext& c, const Sweep& sweep) {
  double most = 0;
  std::string name;
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) {
      const double difference = sweep.knows(layer, column) ? difference_in(c, sweep, layer, column) : 0;
      if (!(std::abs(difference) > std::abs(most))) continue;
      most = difference;
      name = cell_name(c, layer, column);
    }
  if (name.empty()) return "no effect";
  return "strongest: " + name + "  " + (most > 0 ? "+" : "") + viz::number(most, 4);
}

bool is_complete(const Sweep& sweep) {
  return sweep.known_count() == std::ssize(sweep.known);
}

std::string words_under(const ViewContext& c, const Sweep& sweep) {
  const std::string words = strongest_words(c, sweep);
  if (is_complete(sweep)) return words;
  const int known = sweep.known_count();
  return "computing… " + grouped(known) + " of " + grouped(std::ssize(sweep.known)) +
         (known > 0 ? "; so far " + words : "");
}

/// What the picture says of estimates, and the same for a narrow one; empty: nothing.
std::pair<std::string, std::string> words_on_estimates(const ViewContext& c, const Sweep& sweep) {
  const SweepMetric metric = c.options[kMetric];
  const bool complete = is_complete(sweep);
  // In print, where room is for the plot, nothing hints at estimates once the cells are exact.
  if (sweep.estimates.empty() || (complete && c.printed)) return {};
  if (!sweep.estimates_metric(metric)) {
    if (complete) return {};
    return {"no estimates: KL is smallest at the run itself, so its slope is 0 there",
            "no estimates: KL's slope is 0 at the run"};
  }
  std::string words = complete ? "first-order estimates" : "half-height cells are first-order estimates",
              narrow = complete ? "estimates" : "half height: estimates";
  const double correlation = sweep.estimate_correlation(metric);
  if (std::isnan(correlation))
    return complete ? std::pair<std::string, std::string>() : std::pair(words, narrow);
  const std::string number = viz::fixed_number(correlation, 2);
  words += (complete ? ": rank correlation with the exact differences "
                     : "; rank correlation with the exact differences so far ") +
           number;
  narrow += (complete ? ": rank correlation " : "; rank correlation ") + number;
  return {words, narrow};
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
  const bool estimated = sweep.estimates_metric(c.options[kMetric]);
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

/// Whether the run has a cell's edit, alone or joined with others; cells are measured on top of the run's
/// edits.
bool is_applied(const ViewContext& c, const model::Edits& cell) {
  return !cell.empty() && std::ranges::any_of(c.run->prompt.edits, [&](const model::Edit& edit) {
    const EditList applied{.edits = {{edit, true}}};
    return with_joined_edit(applied, cell.front()) == applied;
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
  const SweepOf question = question_of(c);
  if (!c.run) {
    static_cast<void>(c.ask(question));
    return *waiting(c);
  }
  if (!has_senders(question)) return message(c, kNoSenders);
  if (!has_source(question))
    return message(c, c.side == Side::baseline
                          ? "patches come from this run; show the other run to see their effect"
                          : "nothing to patch from: set a second prompt or model, or edit "
                            "this run");
  if (!can_be_asked(question)) return message(c, kComputing);
  if (names_one_twice(c, question)) return message(c, kOneTwice);
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
  paint_title(picture, c, title_of(c, question), subtitle_of(c, question, *sweep));
  const std::vector<float> values = values_of(c, *sweep);
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
      const model::Edits cell = question.edits(layer, column);
      nothing.push_back(cell.empty() ? 1 : 0);
      if (is_applied(c, cell)) applied.emplace_back(layer, column);
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
  map.scale_title = scale_title(c);
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
  const std::string words = words_under(c, *sweep) + (applied.empty() ? "" : "   • already edited");
  float y = std::min(area.bottom(), below + line / 2) + line;
  for (const std::string& one : {words, on_estimates}) {
    viz::add_label(picture.scene, style, one, {area.x, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, area.w);
    y += line;
  }
  return picture;
}

// ---- the mouse ----

/// The answer; null while there is none, and if the hit is not one of its cells.
std::shared_ptr<const Sweep> sweep_at(const ViewContext& c, const viz::Hit& hit) {
  if (!c.run) return nullptr;
  const SweepOf question = question_of(c);
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
  const SweepOf question = question_of(c);
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
    const model::Edits edits = question_of(c).edits(hit->row, gesture.modifiers.shift ? kWholeRow : hit->col);
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
  facts.say(cell_name(c, hit.row, hit.col));
  const auto add = [&](const char* apply, const char* back, const model::Edits& edits) {
    if (edits.empty()) return;
    const std::string words = "“" + edit_words(edits.front()) + "”";
    facts.commands.push_back({(is_edited(c, edits.front()) ? back : apply) + words, toggled(edits.front())});
  };
  const SweepOf question = question_of(c);
  const model::Edits edits = question.edits(hit.row, hit.col);
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
  const double estimate = estimate_in(c, *sweep, hit.row, hit.col);
  const auto say_estimate = [&] {
    if (!std::isnan(estimate))
      facts.said.push_back(
          {.label = scale_title(c) + ", estimated", .value = with_sign(estimate), .copied = plain(estimate)});
  };
  if (!sweep->knows(hit.row, hit.col)) {
    say_estimate();
    facts.say(kComputing);
    return facts;
  }
  facts.say(words);
  const SweepMetric metric = c.options[kMetric];
  const double before = sweep->before.of(metric), after = sweep->at(hit.row, hit.col).of(metric);
  const double difference = difference_in(c, *sweep, hit.row, hit.col);
  facts.said.push_back(
      {.label = scale_title(c), .value = with_sign(difference), .copied = plain(difference)});
  if (metric != SweepMetric::divergence) facts.say("from " + exact(before) + " to " + exact(after));
  say_estimate();
  return facts;
}

// ---- the table ----

/// A row for each cell that is known or estimated.
Table table(const ViewContext& c) {
  const SweepOf question = question_of(c);
  const auto sweep = c.run && can_be_asked(question) ? c.ask(question) : nullptr;
  if (!sweep) return {};
  const SweepMetric metric = c.options[kMetric];
  const std::string name = std::string(app::name_of(kSweepMetrics, metric)) +
                           (metric == SweepMetric::divergence ? " in bits" : "");
  const std::string column_name = over_senders(c.options) ? "sender" : over_heads(c) ? "head" : "position";
  Table result{{"layer", column_name, "token", "edit", "change of " + name, name + " with it"}, {}};
  const bool estimated = sweep->estimates_metric(metric);
  if (estimated) result.header.push_back("estimated change of " + name);
  for (int layer = 0; layer < sweep->layers; ++layer)
    for (int column = 0; column < sweep->columns; ++column) {
      const bool known = sweep->knows(layer, column);
      if (!known && !estimated) continue;
      const model::Edits edits = question.edits(layer, column);
      const auto number = [&](double value) { return known ? plain(value) : std::string(); };
      add_row(result, layer, is_mlp(c, column) ? "MLP" : std::to_string(column),
              over_heads(c) ? "" : c.run->tokens.labels[column],
              edits.empty() ? "" : edit_words(edits.front()), number(difference_in(c, *sweep, layer, column)),
              number(shown_value(metric, sweep->at(layer, column).of(metric))));
      if (estimated) result.rows.back().back() = plain(estimate_in(c, *sweep, layer, column));
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
  if (std::string words = refuse_token_id(c, {&kTokenId, &kAgainstId}); !words.empty()) return words;
  if (c.run && !has_senders(question_of(c)))
    return std::string(kNoSenders) + "; see --" + std::string(kReceiverLayer.name);
  if (c.run && !can_be_asked(question_of(c)))
    return "there is nothing to patch from; see --" + std::string(kEdit.name);
  if (c.run && names_one_twice(c, question_of(c))) return kOneTwice;
  return "";
}

}  // namespace

Options sweep_options(const SweepOf& question, SweepMetric metric) {
  Options options;
  options.set(kMetric, metric);
  options.set(kSweptOver, question.over);
  options.set(kEdit, question.edit);
  const auto* const site = std::ranges::find(kSweepSites, question.site, &ChoiceOf<model::Site>::value);
  if (question.over == SweepOver::positions && site != std::end(kSweepSites))
    options.set(kSite, static_cast<int>(site - kSweepSites));
  if (question.over == SweepOver::senders) set_receiver(options, question.receiver);
  const auto set = [&](const TokenChoice& choice, const Option<int>& id, const Option<int>& rank) {
    if (choice.by == TokenChoice::By::id) options.set(id, choice.number);
    if (choice.by == TokenChoice::By::rank) options.set(rank, choice.number + 1);
  };
  set(question.token, kTokenId, kToken);
  set(question.against, kAgainstId, kAgainst);
  return options;
}

const View& view_of_sweeps() {
  return *find_view("sweep");
}

View sweep_view() {
  View view = make_view(
      Group::output, "sweep", "Sweep",
      "how much a prediction changes when each head, each layer at each position, or each path to a head or "
      "the logits is ablated or patched",
      build, facts, table);
  view.options = {&kMetric,       &kSweptOver, &kEdit,    &kSite,    &kReceiver, &kReceiverLayer,
                  &kReceiverHead, &kToken,     &kAgainst, &kTokenId, &kAgainstId};
  view.tokens = {&kToken,     &kTokenId, &kAgainst,
                 &kAgainstId, &kMetric,  static_cast<int>(SweepMetric::difference)};
  view.commands = query_steps("Previous query", "Next query");
  view.on = on;
  view.shows_parts = true;
  view.refuse = refuse;
  view.figure_size = figure_size;
  view.caption = {true, false, true};
  view.on_baseline = [](const ViewContext& c) { return c.options[kEdit] == SweepEdit::patch; };
  view.landmarks = {landmark<kCell>("grid")};
  return view;
}

}  // namespace headscope::app
