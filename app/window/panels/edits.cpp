// The bars under the prompt: the edits, the second prompt or model, and the shown side of the comparison.
#include <algorithm>
#include <utility>
#include <vector>

#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/views/parts/names.h"
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

/// The sides of the comparison.
Ui::Part sides(Ui& ui) {
  const std::string why = comparison_problem(ui.state, ui.snapshot);
  const std::string what = ui.state.second.on ? "prompt" : "model";
  const auto side = [&](Side shown, const char* label, const std::string& tip) {
    return MenuItem{.label = label, .actions = {SetSide{shown}}, .tip = "Show " + tip, .unavailable = why};
  };
  const std::string where = ", in views that can show differences";
  std::vector<MenuItem> items;
  if (has_second(ui.state, ui.snapshot))
    items = {side(Side::run, "First", "the first " + what),
             side(Side::baseline, "Second", "the second " + what + ", unedited"),
             side(Side::difference, "Difference", "first minus second" + where)};
  else
    items = {side(Side::run, "Edited", "the edited run"),
             side(Side::baseline, "Baseline", "the unedited run"),
             side(Side::difference, "Difference", "edited minus baseline" + where)};
  return ui.choice("Show", std::move(items), why.empty() ? static_cast<int>(ui.state.side) : -1,
                   ui.input.frame.width);
}

Action switch_edit(EditList list, std::size_t index) {
  list.edits[index].on = !list.edits[index].on;
  return ListEdits{std::move(list)};
}

Action remove_edit(EditList list, std::size_t index) {
  list.edits.erase(list.edits.begin() + static_cast<std::ptrdiff_t>(index));
  return ListEdits{std::move(list)};
}

/// One edit: a switch, its text, which opens its menu, and a button that removes it.
Ui::Part chip(Ui& ui, std::size_t index) {
  const EditList& list = ui.state.edits;
  const ListedEdit& listed = list.edits[index];
  const std::string words = edit_words(listed.edit);
  const bool lacks = model::patches_from_second(listed.edit) &&
                     (ui.state.second.model.empty() || !ui.snapshot.second_problem.empty());
  const bool beyond = ui.snapshot.run && is_beyond(listed.edit, ui.snapshot.run->run->length());
  const char* const problem = beyond  ? ": this prompt has no such position"
                              : lacks ? ": there is no second model to patch from"
                                      : "";
  const auto draw_text = [=, &ui, tip = edit_brief(listed.edit) + problem](const Rect& rect) {
    if (!ui.button(rect, words, {.look = Ui::Look::plain, .tip = tip})) return;
    ui.widgets.open = Menu::edit;
    ui.widgets.menu_edit = index;
    ui.widgets.menu_at = {rect.x, rect.bottom() + ui.u(4)};
  };
  Ui::Part parts =
      ui.joined({ui.sign(listed.on ? "●" : "○", "Switch " + words,
                         listed.on ? "Leave out this edit" : "Apply this edit", switch_edit(list, index)),
                 {ui.button_width(words), draw_text},
                 ui.sign("×", "Remove " + words, "Remove this edit", remove_edit(list, index))});
  const viz::Color frame = listed.on && !lacks && !beyond ? ui.theme().accent : ui.theme().line;
  return {parts.width, [=, &ui](const Rect& rect) {
            ui.stroke(rect, frame, 1, ui.u(6));
            parts.draw(rect);
          }};
}

/// Each of these draws a bar at the top of a rectangle and cuts it off.
void draw_edits(Ui& ui, Rect& rest, bool with_sides) {
  std::vector<Ui::Part> parts{ui.label("Edits"), ui.field(Field::edits, "add an edit: L1H6.z=0", ui.u(260))};
  if (with_sides) parts.push_back(sides(ui));
  for (std::size_t i = 0; i < ui.state.edits.edits.size(); ++i) parts.push_back(chip(ui, i));
  ui.flow(rest, ui.u(kRow), parts, 3 * ui.u(kRow));
  if (const std::string& problem = ui.state.edits_bar.problem; !problem.empty())
    ui.small(problem, cut_top(rest, ui.u(20)), ui.theme().error);
}

void draw_second(Ui& ui, Rect& rest, bool with_sides) {
  const SecondPrompt& second = ui.state.second;
  const auto by = [](const char* label, Alignment alignment, const char* what) {
    return MenuItem{
        .label = label, .actions = {CompareWith{true, alignment}}, .tip = std::string("Compare ") + what};
  };
  std::vector<Ui::Part> parts{
      ui.label(second.is_file ? "Second file" : "Second prompt"),
      ui.field(Field::second,
               second.is_file ? "a file of attention patterns to compare with" : "a prompt to compare with",
               0),
      ui.choice("Compare",
                {by("By position", Alignment::position, "the tokens at the same positions"),
                 by("By token", Alignment::subsequence,
                    "the tokens of the longest common subsequence, for prompts with added or missing words")},
                static_cast<int>(second.alignment), rest.w)};
  if (with_sides) parts.push_back(sides(ui));
  parts.push_back(ui.sign("×", "Close the second prompt",
                          with_keys("Close the second prompt", command("Second prompt")),
                          CompareWith{false, second.alignment}));
  ui.place(cut_top(rest, ui.u(kRow)), parts);
  if (!shows_second_tokens(ui.state, ui.snapshot)) return;
  cut_top(rest, ui.u(2));
  const Rect card = cut_top(rest, tokens_height(ui, 1));
  ui.begin_pane("second tokens", card);
  ui.picture(token_strip(), {card.x + ui.u(kGap), card.y, card.w - 2 * ui.u(kGap), card.h}, Side::baseline);
  ui.end_pane();
}

/// A button with the second model's name, which opens the list of models.
void draw_second_model(Ui& ui, Rect& rest, bool with_sides) {
  const std::filesystem::path& folder = ui.state.second.model;
  const Snapshot& snapshot = ui.snapshot;
  const bool there = snapshot.second_model && snapshot.second_model->folder == folder;
  const bool loads = !there && (snapshot.busy == Busy::loading || snapshot.busy == Busy::loading_second);
  const std::string progress = there && ui.state.second.on        ? "the second prompt runs in it"
                               : there                            ? "the same prompt runs in it"
                               : !snapshot.second_problem.empty() ? snapshot.second_problem
                               : loads                            ? "loading, " + percent(snapshot.fraction)
                                                                  : "loading";
  std::vector<Ui::Part> parts{
      ui.label("Second model"),
      ui.menu_button(model_name(folder), Menu::second_model,
                     {.menu = true,
                      .tip = with_keys("Choose another model to compare with", command("Second model…")),
                      .name = "Choose the second model"}),
      ui.words(progress, snapshot.second_problem.empty() ? ui.theme().text_muted : ui.theme().error,
               Ui::kSmall, true)};
  if (with_sides && has_second(ui.state, snapshot)) parts.push_back(sides(ui));
  parts.push_back(ui.sign("×", "Close the second model", "Close the second model", CompareModel{}));
  ui.place(cut_top(rest, ui.u(kRow)), parts);
}

std::string all_as_text(const EditList& list) {
  model::Edits all;
  for (const ListedEdit& listed : list.edits) all.push_back(listed.edit);
  return edit_text(all);
}

void draw_slider(Ui& ui, Rect line, std::size_t index, const Strength& strength) {
  cut_left(line, ui.u(10));
  cut_right(line, ui.u(10));
  ui.text(strength.name, cut_left(line, ui.u(57)), ui.theme().text_muted);
  ui.small(exact(static_cast<float>(strength.value)), cut_right(line, ui.u(49)), ui.theme().text,
           viz::Align::right);
  const auto moved =
      ui.slider(line, "Strength", strength.value,
                {strength.low, strength.high, strength.step, strength.default_value}, "Strength of the edit");
  if (!moved) return;
  EditList next = ui.state.edits;
  next.edits[index].edit = with_strength(next.edits[index].edit, *moved);
  ui.actions.emplace_back(ListEdits{std::move(next), ImGui::IsMouseDown(0)});
}

}  // namespace

std::string side_words(const UiState& state) {
  if (state.side == Side::difference) return "difference";
  if (!state.second.is_set()) return state.side == Side::run ? "edited" : "baseline";
  return std::string(state.side == Side::run ? "first " : "second ") + (state.second.on ? "prompt" : "model");
}

void draw_edit_bars(Ui& ui, Rect& rest) {
  const UiState& s = ui.state;
  const float top = rest.y;
  bool with_sides = true;  // at the first bar
  const auto draw = [&](bool shown, void (*bar)(Ui&, Rect&, bool)) {
    if (!shown) return;
    bar(ui, rest, std::exchange(with_sides, false));
    cut_top(rest, ui.u(kGap));
  };
  draw(s.edits_bar.open || !s.edits.edits.empty(), draw_edits);
  draw(s.second.on, draw_second);
  draw(!s.second.model.empty(), draw_second_model);
  if (!with_sides) ui.area(WindowArea::kEdits, {rest.x, top, rest.w, rest.y - ui.u(kGap) - top});
  if (s.edits_bar.dragging && !ImGui::IsMouseDown(0)) ui.actions.emplace_back(ListEdits{s.edits});
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
  ui.row({.label = listed.on ? "Leave out this edit" : "Apply this edit"}, switch_edit(list, index));
  ui.row({.label = "Copy as text"}, CopyText{edit_text(listed.edit)});
  ui.row({.label = "Copy all edits as text"}, CopyText{all_as_text(list)});
  ui.row({.label = "Remove"}, remove_edit(list, index));
  ui.end_menu();
}

}  // namespace headscope::app
