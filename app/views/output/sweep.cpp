#include "app/run/analyses/sweep.h"

#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/sweep_grid.h"
#include "app/views/output/sweep_question.h"
#include "app/views/output/sweep_words.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace sweep {

/// All places of a row together: a head, or a layer, of senders its heads.
SweepPlace whole_row(const SweepOf& question, const SweepPlace& place) {
  if (question.over == SweepOver::head_positions) return {.layer = place.layer, .head = place.head};
  return question.place_of(place.layer, -1);
}

/// What is drawn below the picture's title.
struct Drawn {
  float bottom = 0;
  bool applied = false;  ///< some edit is there already
};

Drawn paint_grid(Picture& picture, const ViewContext& c, const SweepOf& question, const Sweep& sweep,
                 const viz::Rect& area) {
  const std::vector<float> values = shown_values(c, sweep);
  SweptCells cells{question, sweep, values};
  const SweepGrid grid = sweep_grid(c.run->run->config, question);
  for (int row = 0; row < grid.rows; ++row)
    for (int col = 0; col < grid.cols; ++col)
      cells.nothing.push_back(question.has_edits(grid.place(question, row, col)) ? 0 : 1);
  cells.applied = applied_places(c, question);
  const float bottom = paint_sweep_grid(picture, c, cells, area, kSweptCell);
  return {bottom, !cells.applied.empty()};
}

/// Nothing if there is no room.
std::optional<Drawn> paint_list(Picture& picture, const ViewContext& c, const SweepOf& question,
                                const Sweep& sweep, const viz::Rect& area) {
  const std::vector<std::size_t> cells = listed_cells(question, sweep, c.options[kSweptMetric]);
  List list = sweep_list(c, question, sweep, cells);
  if (!list.lay_out(area)) return std::nullopt;
  list.paint(picture);
  const bool applied = std::ranges::any_of(
      cells, [&](std::size_t cell) { return is_applied(c, question, question.place_of(sweep, cell)); });
  const float bottom = list.layout().note_below ? area.bottom() : picture.regions.back().rect.bottom();
  return Drawn{bottom, applied};
}

Picture build(const ViewContext& c) {
  const SweepOf question = sweep_question(c);
  if (auto words = waiting_for_run(c, question)) return *words;
  if (question.edit == SweepEdit::list_mean)
    if (auto words = waiting_for_means(c, means_of(c, question))) return *words;
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
  const auto [wide, narrow] = words_on_estimates(c, question, *sweep);
  const std::string& on_estimates = style.width(wide, style.small()) <= area.w ? wide : narrow;
  area.h -= (on_estimates.empty() ? 1.5F : 2.5F) * line;
  if (area.w < 10 * c.font_size || area.h < 6 * c.font_size) return too_small(c, "for a sweep");
  Picture picture = blank(c);
  paint_title(picture, c, sweep_title(*c.run, question), sweep_subtitle(c, question, *sweep));
  const auto drawn = is_listed(question.over) ? paint_list(picture, c, question, *sweep, area)
                                              : paint_grid(picture, c, question, *sweep, area);
  if (!drawn) return too_small(c, "for a sweep");
  const std::string words = sweep_state(c, question, *sweep) + (drawn->applied ? "   • already edited" : "");
  float y = std::min(area.bottom(), drawn->bottom + line / 2) + line;
  for (const std::string& one : {words, on_estimates}) {
    viz::add_label(picture.scene, style, one, {area.x, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, area.w);
    y += line;
  }
  return picture;
}

/// A cell of the answer.
struct CellAt {
  std::shared_ptr<const Sweep> sweep;
  SweepOf question;
  std::size_t cell = 0;
  SweepPlace place;
};

/// Nothing while there is no answer, and if the hit is not one of its cells.
std::optional<CellAt> cell_at(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  if (!c.run) return std::nullopt;
  CellAt at;
  at.question = sweep_question(c);
  if (!can_be_asked(at.question)) return std::nullopt;
  at.sweep = c.ask(at.question);
  if (!at.sweep) return std::nullopt;
  const viz::Region& region = region_of(picture, hit);
  if (is_listed(at.question.over)) {
    const std::vector<std::size_t> cells = listed_cells(at.question, *at.sweep, c.options[kSweptMetric]);
    if (region.role != kSweptRow || region.id >= std::ssize(cells)) return std::nullopt;
    at.cell = cells[static_cast<std::size_t>(region.id)];
  } else {
    const SweepGrid grid = sweep_grid(c.run->run->config, at.question);
    if (region.role != kSweptCell || hit.row >= grid.rows || hit.col >= grid.cols) return std::nullopt;
    at.cell = grid.cell(hit.row, hit.col);
  }
  at.place = at.question.place_of(*at.sweep, at.cell);
  return at;
}

ViewActions on_key(const ViewContext& c, const Gesture& gesture) {
  const SweepOver over = c.options[kSweptOver];
  const bool by_position = over == SweepOver::positions || over == SweepOver::head_positions;
  const bool sideways = gesture.key == Key::left || gesture.key == Key::right;
  if (by_position || gesture.modifiers.shift || !sideways) return keys_along_layers(c, gesture);
  return {MoveHead{0, gesture.key == Key::left ? -1 : 1}};
}

/// Dragging over cells applies the edits of all of them, whether or not the sweep knows them yet.
ViewActions edits_of_drag(const ViewContext& c, const Picture& picture, const viz::Hit& hit,
                          const Gesture& gesture) {
  const SweepOf question = sweep_question(c);
  if (!has_source(question) || !can_edit(c) || is_listed(question.over)) return {};
  if (region_of(picture, hit).role != kSweptCell) return {};
  const SweepGrid grid = sweep_grid(c.run->run->config, question);
  ViewActions actions;
  for (const auto& [row, col] : dragged_cells(picture, hit, gesture)) {
    if (row >= grid.rows || col >= grid.cols) continue;
    const SweepPlace place = grid.place(question, row, col);
    for (model::Edit& edit : question.edits(gesture.modifiers.shift ? whole_row(question, place) : place))
      actions.emplace_back(DragEdit{std::move(edit)});
  }
  return actions;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  const bool moves = gesture.kind == Gesture::Kind::key || gesture.kind == Gesture::Kind::wheel;
  if (moves && is_listed(c.options[kSweptOver]))
    return list_gesture(kSweptRows, nullptr, nullptr, c, picture, hit, gesture);
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture);
  if (hit != nullptr && gesture.kind == Gesture::Kind::drag) return edits_of_drag(c, picture, *hit, gesture);
  const auto at = hit != nullptr ? cell_at(c, picture, *hit) : std::nullopt;
  if (!at) return {};
  if (gesture.kind == Gesture::Kind::double_click) {
    const bool row = gesture.modifiers.shift && !is_listed(at->question.over);
    const model::Edits edits = at->question.edits(row ? whole_row(at->question, at->place) : at->place);
    return edits.empty() ? ViewActions{} : toggled(edits.front());
  }
  if (gesture.kind != Gesture::Kind::click) return {};
  ViewActions actions{SelectHead{at->place.layer, at->place.head.value_or(c.selection.head)}};
  if (at->place.position) actions.emplace_back(SelectKey{*at->place.position});
  return actions;
}

std::string with_sign(double value) {
  return (value > 0 ? "+" : "") + exact(value);
}

/// What is done at a place: its edits, those of its row, and what else can be shown of it.
void add_commands(std::vector<MenuLine>& menu, const ViewContext& c, const CellAt& at) {
  const auto add = [&](const char* apply, const char* back, const SweepPlace& place) {
    const model::Edits edits = at.question.edits(place);
    if (edits.empty()) return;
    const std::string words = "“" + edit_words(at.question, place) + "”";
    menu.push_back({(is_edited(c, edits.front()) ? back : apply) + words, toggled(edits.front())});
  };
  add("Apply ", "Undo ", at.place);
  if (!is_listed(at.question.over))
    add("Apply to the whole row: ", "Undo for the whole row: ", whole_row(at.question, at.place));
  if (at.place.position) menu.push_back(choose_query(c, *at.place.position));
  if (!at.place.head) return;
  const int layer = at.place.layer, head = *at.place.head;
  menu.push_back({"Show " + head_name(layer, head), {SelectHead{layer, head}}});
  if (layer > 0) menu.push_back(show_paths(c.options, layer, head));
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto at = cell_at(c, picture, hit);
  if (!at) return {};
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  if (region.role == kSweptRow)
    facts = facts_of_row(c, region.rect);
  else
    viz::paint_crosshair(facts.overlay, region, hit.row, hit.col, c.theme->text_muted,
                         at->place.position ? c.theme->key : c.theme->text_muted, style_of(c));
  facts.say(place_name(c, at->place));
  add_commands(facts.commands, c, *at);
  const model::Edits edits = at->question.edits(at->place);
  if (edits.empty()) {
    const bool before =
        at->question.over != SweepOver::senders || at->question.receiver.is_after(at->place.layer);
    facts.say(before ? "no counterpart in the other prompt" : "not before the receiver");
    return facts;
  }
  const std::string words = edit_words(at->question, at->place);
  facts.copy("the edit “" + words + "”", edit_text(edits.front()));
  const Sweep& sweep = *at->sweep;
  const double estimate = shown_estimate(c, sweep, at->cell);
  const auto say_estimate = [&] {
    if (!std::isnan(estimate))
      facts.said.push_back({.label = sweep_scale_title(c) + ", estimated",
                            .value = with_sign(estimate),
                            .copied = plain(estimate)});
  };
  if (!sweep.known[at->cell]) {
    say_estimate();
    facts.say(kComputing);
    return facts;
  }
  facts.say(words);
  const SweepMetric metric = c.options[kSweptMetric];
  const double before = sweep.before.of(metric), after = sweep.readings[at->cell].of(metric);
  const double difference = shown_difference(c, sweep, at->cell);
  facts.said.push_back(
      {.label = sweep_scale_title(c), .value = with_sign(difference), .copied = plain(difference)});
  if (metric != SweepMetric::divergence) facts.say("from " + exact(before) + " to " + exact(after));
  say_estimate();
  return facts;
}

/// A row for each cell that is known or estimated.
Table table(const ViewContext& c) {
  const SweepOf question = sweep_question(c);
  const auto sweep = c.run && can_be_asked(question) ? c.ask(question) : nullptr;
  if (!sweep) return {};
  const SweepMetric metric = c.options[kSweptMetric];
  const std::string unit = metric == SweepMetric::divergence ? "bits" : "";
  const bool estimated = sweep->estimates_metric(metric);
  std::optional<SweepReading> source;  // what is patched from
  if (question.edit == SweepEdit::patch && token_count(metric) > 0)
    if (const auto next = compared_next(c)) source = source_reading(*sweep, next->logits);
  Table result{"part", key_column("layer")};
  result.ranked_by = "change";
  const SweepOver over = question.over;
  const bool by_position = over == SweepOver::positions || over == SweepOver::head_positions,
             by_head = over != SweepOver::positions && !is_listed(over),
             by_neuron = over == SweepOver::neurons;
  if (by_head) result.add_columns({key_column("head")});
  if (by_position) result.add_columns({key_column("position"), note_column("token")});
  if (by_neuron) result.add_columns({key_column("neuron")});
  result.add_columns({note_column("edit"), Column("change", unit), Column("with the edit", unit)});
  if (estimated) result.add_columns({Column("estimated change", unit)});
  if (source) result.add_columns({"restored"});
  for (const std::size_t cell : listed_cells(question, *sweep, metric)) {
    const SweepPlace place = question.place_of(*sweep, cell);
    const bool known = sweep->known[cell];
    if (!question.has_edits(place) || (!known && !estimated)) continue;
    const auto if_known = [&](double number) { return known ? std::optional(number) : std::nullopt; };
    const double change = shown_difference(c, *sweep, cell);
    TableRow row;
    add_cells(row, part_name(place), place.layer);
    if (by_head) add_cells(row, place.head);
    if (by_position) add_cells(row, place.position, c.run->tokens.labels[place.position.value()]);
    if (by_neuron) add_cells(row, place.neuron);
    add_cells(row, edit_words(question, place), if_known(change), if_known(sweep->readings[cell].of(metric)));
    if (estimated) add_cells(row, shown_estimate(c, *sweep, cell));
    if (source) add_cells(row, if_known(restored(*sweep, *source, metric, change)));
    result.add(std::move(row));
  }
  const int tokens = token_count(metric);
  add_measured(result, c,
               {name_of(kSweepMetrics, metric), sweep->position, tokens > 0 ? sweep->token : -1,
                tokens > 1 ? sweep->against : -1});
  result.fact("edit", sweep_title(*c.run, question));
  result.fact("before", sweep->before.of(metric), unit);
  if (source) result.fact("second", source->of(metric), unit);
  if (estimated) result.fact("rank correlation", sweep->estimate_correlation(metric));
  return result;
}

viz::Point figure_size(const ViewContext& c) {
  if (!c.run) return {60 * c.font_size, 40 * c.font_size};
  const SweepOf question = sweep_question(c);
  if (is_listed(question.over)) return sweep_list_size(c, question);
  return sweep_grid_size(c, sweep_grid(c.run->run->config, question));
}

std::string refuse(const ViewContext& c) {
  return refuse_sweep_options(c, c.run ? refuse_sweep(c, sweep_question(c)) : SweepRefusal{});
}

}  // namespace sweep

View sweep_view() {
  using namespace sweep;
  View view = make_view(
      Group::output, "sweep", "Sweep",
      "how much a prediction changes when each head, each layer or head at each position, each MLP, "
      "the strongest neurons, or each path to a head or the logits is ablated or patched",
      build, facts, table);
  view.options = {&kSweptMetric,   &kSweptOver,    &kSweptEdit,     &kSweptSite,  &kSweptNeurons, &kReceiver,
                  &kReceiverLayer, &kReceiverHead, &kMeasuredToken, &kOtherToken, &kFirstSwept};
  view.named_tokens = swept_tokens;
  view.with_other_token = &kSweptMetric;
  view.with_other_token_value = static_cast<int>(SweepMetric::difference);
  view.with_second = &kSweptEdit;
  view.with_second_value = static_cast<int>(SweepEdit::patch);
  view.on = on;
  view.has_list = true;
  view.scrolls = [](const ViewContext& c, const Picture& picture) {
    return list_scrolls(kSweptRows, c, picture);
  };
  view.shows_parts = true;
  view.refuse = refuse;
  view.figure_size = figure_size;
  view.caption = {true, false, true};
  view.on_baseline = [](const ViewContext& c) { return c.options[kSweptEdit] == SweepEdit::patch; };
  view.list_mean = &kSweptEdit;
  view.list_mean_value = static_cast<int>(SweepEdit::list_mean);
  view.landmarks = {landmark("grid", kSweptCell), landmark("list", kSweptRow)};
  return view;
}

}  // namespace headscope::app
