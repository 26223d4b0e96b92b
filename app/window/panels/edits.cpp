// The bars under the prompt: the edits, the second prompt or model, and the shown side of the comparison.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

using viz::Rect;

namespace {

constexpr float kRow = 28, kGap = 6;

/// Whether there is a second prompt or model that could be used.
bool has_second(const UiState& state, const Snapshot& snapshot) {
  return state.second.on || (!state.second.model.empty() && snapshot.second_problem.empty());
}

/// Why nothing is compared; empty: something is.
std::string comparison_problem(const UiState& state, const Snapshot& snapshot) {
  const model::Edits active = state.edits.active();
  const bool same = state.second.model.empty() && !state.second.is_file && active.empty() &&
                    state.ids.empty() && state.second.text.edit.text == state.prompt.edit.text;
  if (state.second.on && same) return "Both prompts are the same: there is nothing to compare.";
  if (has_second(state, snapshot)) return "";
  const bool unedited =
      std::ranges::all_of(active, [](const auto& edit) { return model::patches_from_second(edit); });
  return unedited ? "No active edit has a baseline to compare with." : "";
}

std::vector<Ui::Segment> sides(const UiState& state, const Snapshot& snapshot) {
  const std::string why = comparison_problem(state, snapshot);
  if (!has_second(state, snapshot))
    return {Ui::Segment{"Edited", "Show the edited run", why},
            {"Baseline", "Show the unedited run", why},
            {"Difference", "Show edited minus baseline, in views that can show differences", why}};
  const std::string what = state.second.on ? "prompt" : "model";
  return {Ui::Segment{"First", "Show the first " + what, why},
          {"Second", "Show the second " + what + ", unedited", why},
          {"Difference", "Show first minus second, in views that can show differences", why}};
}

/// The sides of the comparison.
Ui::Part sides(Ui& ui) {
  const bool compares = comparison_problem(ui.state, ui.snapshot).empty();
  return ui.choice("Show", sides(ui.state, ui.snapshot), compares ? static_cast<int>(ui.state.side) : -1,
                   ui.input.frame.width, [](int side) -> Action { return SetSide{static_cast<Side>(side)}; });
}

void list_becomes(Ui& ui, EditList list, bool dragging = false) {
  ui.actions.emplace_back(ListEdits{std::move(list), dragging});
}

EditList switched(EditList list, std::size_t index) {
  list.edits[index].on = !list.edits[index].on;
  return list;
}

EditList removed(EditList list, std::size_t index) {
  list.edits.erase(list.edits.begin() + static_cast<std::ptrdiff_t>(index));
  return list;
}

/// One edit: a switch, its text, which opens its menu, and a button that removes it.
Ui::Part chip(Ui& ui, std::size_t index) {
  const ListedEdit& listed = ui.state.edits.edits[index];
  const std::string words = edit_words(listed.edit);
  const float side = ui.u(24);
  const auto draw = [=, &ui, &listed](const Rect& rect) {
    const EditList& list = ui.state.edits;
    const bool lacks = model::patches_from_second(listed.edit) &&
                       (ui.state.second.model.empty() || !ui.snapshot.second_problem.empty());
    const bool beyond = ui.snapshot.run && is_beyond(listed.edit, ui.snapshot.run->run->length());
    const Ui::Look plain = Ui::Look::plain;
    ui.stroke(rect, listed.on && !lacks && !beyond ? ui.theme().accent : ui.theme().line, 1, ui.u(6));
    if (ui.button({rect.x, rect.y, side, rect.h}, listed.on ? "●" : "○",
                  {.look = plain,
                   .tip = listed.on ? "Switch this edit off" : "Switch this edit on",
                   .name = "Switch " + words}))
      list_becomes(ui, switched(list, index));
    if (ui.button({rect.x + side, rect.y, rect.w - 2 * side, rect.h}, words,
                  {.look = plain,
                   .tip = edit_brief(listed.edit) + (beyond  ? ": this prompt has no such position"
                                                     : lacks ? ": there is no second model to patch from"
                                                             : "")})) {
      ui.widgets.open = Menu::edit;
      ui.widgets.menu_edit = index;
      ui.widgets.menu_at = {rect.x, rect.bottom() + ui.u(4)};
    }
    if (ui.button({rect.right() - side, rect.y, side, rect.h}, "×",
                  {.look = plain, .tip = "Remove this edit", .name = "Remove " + words}))
      list_becomes(ui, removed(list, index));
  };
  return {ui.button_width(words) + 2 * side, draw};
}

/// Each of these draws a bar and returns its bottom.
float draw_edits(Ui& ui, const Rect& row, bool with_sides) {
  std::vector<Ui::Part> parts{ui.label("Edits"), ui.field(Field::edits, "add an edit: L1H6.z=0", ui.u(260))};
  if (with_sides) parts.push_back(sides(ui));
  for (std::size_t i = 0; i < ui.state.edits.edits.size(); ++i) parts.push_back(chip(ui, i));
  const float bottom = ui.flow(row, parts, 3 * row.h);
  if (ui.state.edits_bar.problem.empty()) return bottom;
  ui.small(ui.state.edits_bar.problem, {row.x, bottom, row.w, ui.u(20)}, ui.theme().error);
  return bottom + ui.u(20);
}

float draw_second(Ui& ui, const Rect& row, bool with_sides) {
  const SecondPrompt& second = ui.state.second;
  std::vector<Ui::Part> parts{
      ui.label(second.is_file ? "Second file" : "Second prompt"),
      ui.field(Field::second,
               second.is_file ? "a file of attention patterns to compare with" : "a prompt to compare with",
               0),
      ui.choice("Compare",
                {{"By position", "Compare the tokens at the same positions"},
                 {"By token",
                  "Compare the tokens of the longest common subsequence, for prompts with added or missing "
                  "words"}},
                static_cast<int>(second.alignment), row.w, [](int way) -> Action {
                  return CompareWith{true, static_cast<Alignment>(way)};
                })};
  if (with_sides) parts.push_back(sides(ui));
  parts.push_back(ui.sign("×", "Close the second prompt",
                          with_keys("Close the second prompt", command("Second prompt")),
                          CompareWith{false, second.alignment}));
  ui.place(row, parts);
  if (!shows_second_tokens(ui.state, ui.snapshot)) return row.bottom();
  const Rect card{row.x, row.bottom() + ui.u(2), row.w, tokens_height(ui, 1)};
  ui.begin_pane("second tokens", card);
  ui.picture(token_strip(), {card.x + ui.u(kGap), card.y, card.w - 2 * ui.u(kGap), card.h}, Side::baseline);
  ui.end_pane();
  return card.bottom();
}

/// A button with the second model's name, which opens the list of models.
float draw_second_model(Ui& ui, const Rect& row, bool with_sides) {
  const std::filesystem::path& folder = ui.state.second.model;
  const Snapshot& snapshot = ui.snapshot;
  const bool there = snapshot.second_model && snapshot.second_model->folder == folder;
  const bool loads = !there && (snapshot.busy == Busy::loading || snapshot.busy == Busy::loading_second);
  Ui::Part progress = ui.words(there && ui.state.second.on        ? "the second prompt runs in it"
                               : there                            ? "the same prompt runs in it"
                               : !snapshot.second_problem.empty() ? snapshot.second_problem
                               : loads                            ? "loading, " + percent(snapshot.fraction)
                                                                  : "loading",
                               snapshot.second_problem.empty() ? ui.theme().text_muted : ui.theme().error);
  progress.grows = true;
  std::vector<Ui::Part> parts{
      ui.label("Second model"),
      ui.menu_button(model_name(folder), Menu::second_model,
                     {.menu = true,
                      .tip = with_keys("Choose another model to compare with", command("Second model…")),
                      .name = "Choose the second model"}),
      std::move(progress)};
  if (with_sides && has_second(ui.state, snapshot)) parts.push_back(sides(ui));
  parts.push_back(ui.sign("×", "Close the second model", "Close the second model", CompareModel{}));
  ui.place(row, parts);
  return row.bottom();
}

std::string all_as_text(const EditList& list) {
  model::Edits all;
  for (const ListedEdit& listed : list.edits) all.push_back(listed.edit);
  return edit_text(all);
}

void draw_slider(Ui& ui, const Rect& line, std::size_t index, const Strength& strength) {
  const float pad = ui.u(10), label = ui.u(64), number = ui.u(56);
  const Rect rect{line.x + pad, line.y, line.w - 2 * pad, line.h};
  ui.text(strength.name, rect, ui.theme().text_muted);
  const auto moved =
      ui.slider({rect.x + label, rect.y, rect.w - label - number, rect.h}, "Strength", strength.value,
                {strength.low, strength.high, strength.step, strength.default_value}, "Strength of the edit");
  ui.small(exact(static_cast<float>(strength.value)), rect, ui.theme().text, viz::Align::right);
  if (!moved) return;
  const double rounded = std::round(*moved / strength.step) * strength.step;
  EditList next = ui.state.edits;
  next.edits[index].edit = with_strength(next.edits[index].edit, rounded);
  list_becomes(ui, std::move(next), ImGui::IsMouseDown(0));
}

}  // namespace

std::string side_words(const UiState& state) {
  if (state.side == Side::difference) return "difference";
  if (!state.second.is_set()) return state.side == Side::run ? "edited" : "baseline";
  return std::string(state.side == Side::run ? "first " : "second ") + (state.second.on ? "prompt" : "model");
}

float draw_edit_bars(Ui& ui, const Rect& room) {
  const UiState& s = ui.state;
  Rect row{room.x, room.y, room.w, ui.u(kRow)};
  bool with_sides = true;  // at the first bar
  const auto draw = [&](bool shown, float (*bar)(Ui&, const Rect&, bool)) {
    if (shown) row.y = bar(ui, row, std::exchange(with_sides, false)) + ui.u(kGap);
  };
  draw(shows_edits(s), draw_edits);
  draw(s.second.on, draw_second);
  draw(!s.second.model.empty(), draw_second_model);
  if (!with_sides) ui.area(WindowArea::kEdits, {room.x, room.y, room.w, row.y - ui.u(kGap) - room.y});
  if (s.edits_bar.dragging && !ImGui::IsMouseDown(0)) list_becomes(ui, s.edits);
  return row.y;
}

void draw_edit_menu(Ui& ui) {
  const EditList& list = ui.state.edits;
  const std::size_t index = ui.widgets.menu_edit;
  if (index >= list.edits.size()) return;
  const ListedEdit& listed = list.edits[index];
  const std::string text = edit_brief(listed.edit);
  if (!ui.begin_menu(Menu::edit, std::clamp(ui.width(text) + ui.u(40), ui.u(280), ui.u(520)))) return;
  ui.heading(text);
  if (const auto strength = strength_of(listed.edit)) draw_slider(ui, ui.next(ui.u(34)), index, *strength);
  if (ui.row({.label = listed.on ? "Switch off" : "Switch on"})) list_becomes(ui, switched(list, index));
  ui.row({.label = "Copy as text"}, CopyText{edit_text(listed.edit)});
  ui.row({.label = "Copy all edits as text"}, CopyText{all_as_text(list)});
  if (ui.row({.label = "Remove"})) list_becomes(ui, removed(list, index));
  ui.end_menu();
}

}  // namespace headscope::app
