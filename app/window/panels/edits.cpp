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

constexpr float kRow = 28, kGap = 6, kProblem = 20;

void draw_label(Ui& ui, RowLayout& row, std::string_view words) {
  ui.text(words, row.left(std::ceil(ui.width(words, viz::FontStyle::medium, 0.93F))), ui.theme().text_muted,
          viz::FontStyle::medium, 0.93F);
}

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

std::array<Ui::Segment, 3> sides(const UiState& state, const Snapshot& snapshot) {
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

/// The sides of the comparison, at the right end of the row.
void draw_sides(Ui& ui, RowLayout& row) {
  const auto segments = sides(ui.state, ui.snapshot);
  const bool compares = comparison_problem(ui.state, ui.snapshot).empty();
  const int chosen = compares ? static_cast<int>(ui.state.side) : -1;
  const int pressed = ui.segmented(row.right(ui.segmented_width(segments)), "Show", segments, chosen);
  if (pressed >= 0) ui.actions.emplace_back(SetSide{static_cast<Side>(pressed)});
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

float chip_width(const Ui& ui, const std::string& words) {
  return std::ceil(ui.width(words, viz::FontStyle::medium)) + ui.u(66);
}

/// Of all edits, and the gaps after them.
float chips_width(const Ui& ui) {
  float width = 0;
  for (const ListedEdit& listed : ui.state.edits.edits)
    width += chip_width(ui, edit_words(listed.edit)) + ui.u(kGap);
  return width;
}

/// One edit: a switch, its text, which opens its menu, and a button that removes it.
void draw_chip(Ui& ui, const Rect& rect, std::size_t index) {
  const EditList& list = ui.state.edits;
  const ListedEdit& listed = list.edits[index];
  const bool on = listed.on;
  const bool beyond = ui.snapshot.run && is_beyond(listed.edit, ui.snapshot.run->run->length());
  const bool lacks = model::patches_from_second(listed.edit) &&
                     (ui.state.second.model.empty() || !ui.snapshot.second_problem.empty());
  const std::string words = edit_words(listed.edit);
  const viz::Theme& theme = ui.theme();
  const viz::Color color = on && !lacks ? theme.accent : theme.line;
  ui.stroke(rect, color, 1, ui.u(6));
  const Rect dot{rect.x, rect.y, ui.u(24), rect.h};
  if (ui.icon(dot, Icon::none, "Switch " + words, on ? "Switch this edit off" : "Switch this edit on"))
    list_becomes(ui, switched(list, index));
  const Rect mark{dot.center().x - ui.u(4), dot.center().y - ui.u(4), ui.u(8), ui.u(8)};
  if (on) {
    ui.fill(mark, lacks ? theme.text_muted : theme.accent, ui.u(4));
  } else {
    ui.stroke(mark, theme.text_muted, ui.u(1.4F), ui.u(4));
  }
  const Rect name{dot.right(), rect.y, rect.w - ui.u(48), rect.h};
  const char* const problem = beyond  ? ": this prompt has no such position"
                              : lacks ? ": there is no second model to patch from"
                                      : "";
  if (ui.icon(name, Icon::none, words, edit_brief(listed.edit) + problem)) {
    ui.moment.open = Menu::edit;
    ui.moment.menu_edit = index;
    ui.moment.menu_at = {rect.x, rect.bottom() + ui.u(4)};
  }
  ui.text(words, name.inset(ui.u(2)), on && !beyond && !lacks ? theme.text : theme.text_muted,
          viz::FontStyle::medium, 1, viz::Align::center);
  if (ui.icon({rect.right() - ui.u(24), rect.y, ui.u(24), rect.h}, Icon::close, "Remove " + words,
              "Remove this edit"))
    list_becomes(ui, removed(list, index));
}

/// The edits that fit, newest first; the others are in a list.
void draw_chips(Ui& ui, RowLayout& row) {
  const auto& edits = ui.state.edits.edits;
  const float more = ui.u(44), gap = ui.u(kGap);
  float room = row.rest().w, whole = 0;
  for (std::size_t i = 0; i < edits.size() && whole <= room; ++i)
    whole += chip_width(ui, edit_words(edits[i].edit)) + gap;
  const float widest = whole <= room ? room : ui.u(260);  // text is cut only if necessary
  const auto width_of = [&](const ListedEdit& edit) {
    return std::min(chip_width(ui, edit_words(edit.edit)), widest);
  };
  std::size_t first = edits.size();
  while (first > 0) {
    const float wide = width_of(edits[first - 1]) + gap;
    if (wide + (first > 1 ? more + gap : 0) > room) break;
    room -= wide;
    --first;
  }
  if (first > 0 &&
      ui.button(row.left(more), "+" + std::to_string(first), {.tip = "More edits", .name = "More edits"})) {
    ui.moment.open = Menu::edits;
    ui.moment.menu_at = {row.rest().x - more, row.rest().bottom() + ui.u(4)};
  }
  for (std::size_t i = first; i < edits.size(); ++i) draw_chip(ui, row.left(width_of(edits[i])), i);
}

void draw_edits(Ui& ui, const Rect& rect, bool with_sides) {
  const std::string& problem = ui.state.edits_bar.problem;
  RowLayout row(rect, ui.u(kGap));
  draw_label(ui, row, "Edits");
  if (with_sides) draw_sides(ui, row);
  const float least = ui.u(ui.state.edits.edits.empty() ? 260 : 150);
  const float most = std::max(least, std::min(ui.u(300), row.rest().w * 0.4F));
  const Rect field = row.right(std::clamp(row.rest().w - chips_width(ui) - ui.u(kGap), least, most));
  draw_chips(ui, row);
  ui.field(Field::edits, field, "add an edit: L1H6.z=0");
  if (!problem.empty())
    ui.small(problem, {rect.x, rect.bottom() + ui.u(kGap / 2), rect.w, ui.u(kProblem)}, ui.theme().error);
}

/// Of the second prompt and its tokens.
float second_height(const Ui& ui) {
  return ui.u(kRow + 2) + tokens_height(ui, 1);
}

void draw_second(Ui& ui, const Rect& rect, bool with_sides) {
  const SecondPrompt& second = ui.state.second;
  RowLayout row(rect, ui.u(kGap));
  draw_label(ui, row, second.is_file ? "Second file" : "Second prompt");
  if (ui.icon(row.right(ui.u(kRow)), Icon::close, "Close the second prompt",
              Tip("Close the second prompt", command(CommandId::second_prompt))))
    ui.actions.emplace_back(CompareWith{false, second.alignment});
  if (with_sides) draw_sides(ui, row);
  const std::array<Ui::Segment, 2> ways{
      Ui::Segment{"By position", "Compare the tokens at the same positions"},
      {"By token",
       "Compare the tokens of the longest common subsequence, for prompts with added or missing words"}};
  const int pressed =
      ui.segmented(row.right(ui.segmented_width(ways)), "Compare", ways, static_cast<int>(second.alignment));
  if (pressed >= 0) ui.actions.emplace_back(CompareWith{true, static_cast<Alignment>(pressed)});
  ui.field(Field::second, row.rest(),
           second.is_file ? "a file of attention patterns to compare with" : "a prompt to compare with");
  if (!shows_second_tokens(ui.state, ui.snapshot)) return;
  const Rect card{rect.x, rect.bottom() + ui.u(2), rect.w, tokens_height(ui, 1)};
  ui.begin_pane("second tokens", card);
  ui.picture(token_strip(), {card.x + ui.u(kGap), card.y, card.w - 2 * ui.u(kGap), card.h}, Side::baseline);
  ui.end_pane();
}

/// A button with the second model's name, which opens the list of models.
void draw_second_model(Ui& ui, const Rect& rect, bool with_sides) {
  const std::filesystem::path& folder = ui.state.second.model;
  RowLayout row(rect, ui.u(kGap));
  draw_label(ui, row, "Second model");
  if (ui.icon(row.right(ui.u(kRow)), Icon::close, "Close the second model", "Close the second model"))
    ui.actions.emplace_back(CompareModel{});
  if (with_sides && has_second(ui.state, ui.snapshot)) draw_sides(ui, row);
  const std::string name = model_name(folder);
  ui.menu_button(row.left(std::min(ui.button_width(name, true), row.rest().w)), name, Menu::second_model,
                 {.menu = true,
                  .tip = Tip("Choose another model to compare with", command(CommandId::second_model)),
                  .name = "Choose the second model"});
  const Snapshot& snapshot = ui.snapshot;
  const bool there = snapshot.second_model && snapshot.second_model->folder == folder;
  const bool loads = !there && (snapshot.busy == Busy::loading || snapshot.busy == Busy::loading_second);
  ui.small(there && ui.state.second.on        ? "the second prompt runs in it"
           : there                            ? "the same prompt runs in it"
           : !snapshot.second_problem.empty() ? snapshot.second_problem
           : loads                            ? "loading, " + percent(snapshot.fraction)
                                              : "loading",
           row.rest(), snapshot.second_problem.empty() ? ui.theme().text_muted : ui.theme().error);
}

struct Bar {
  float height = 0;
  void (*draw)(Ui& ui, const Rect& row, bool with_sides) = nullptr;
};

/// The bars that are shown, from the top.
std::vector<Bar> bars(const Ui& ui) {
  const UiState& s = ui.state;
  std::vector<Bar> shown;
  if (shows_edits(s))
    shown.push_back({ui.u(kRow + (s.edits_bar.problem.empty() ? 0 : kProblem)), draw_edits});
  if (s.second.on) shown.push_back({second_height(ui), draw_second});
  if (!s.second.model.empty()) shown.push_back({ui.u(kRow), draw_second_model});
  return shown;
}

std::string all_as_text(const EditList& list) {
  model::Edits all;
  for (const ListedEdit& listed : list.edits) all.push_back(listed.edit);
  return edit_text(all);
}

void draw_slider(Ui& ui, const Rect& rect, std::size_t index, const Strength& strength) {
  const EditList& list = ui.state.edits;
  const float label = ui.u(64), number = ui.u(56);
  ui.text(strength.name, {rect.x, rect.y, label, rect.h}, ui.theme().text_muted);
  const auto moved =
      ui.slider({rect.x + label, rect.y, rect.w - label - number, rect.h}, "Strength", strength.value,
                {strength.low, strength.high, strength.step, strength.default_value}, "Strength of the edit");
  ui.small(exact(static_cast<float>(strength.value)), {rect.right() - number, rect.y, number, rect.h},
           ui.theme().text, viz::Align::right);
  if (!moved) return;
  const double rounded = std::round(*moved / strength.step) * strength.step;
  EditList next = list;
  next.edits[index].edit = with_strength(next.edits[index].edit, rounded);
  list_becomes(ui, std::move(next), ImGui::IsMouseDown(0));
}

}  // namespace

std::string side_words(const UiState& state) {
  if (state.side == Side::difference) return "difference";
  if (!state.second.is_set()) return state.side == Side::run ? "edited" : "baseline";
  return std::string(state.side == Side::run ? "first " : "second ") + (state.second.on ? "prompt" : "model");
}

float edit_bars_height(const Ui& ui) {
  float height = 0;
  for (const Bar& bar : bars(ui)) height += bar.height + ui.u(kGap);
  return height;
}

void draw_edit_bars(Ui& ui, const Rect& rect) {
  float y = rect.y;
  bool with_sides = true;  // at the first bar
  for (const Bar& bar : bars(ui)) {
    if (y + bar.height > rect.bottom()) break;
    bar.draw(ui, {rect.x, y, rect.w, ui.u(kRow)}, std::exchange(with_sides, false));
    y += bar.height + ui.u(kGap);
  }
  if (y > rect.y) ui.area(WindowArea::kEdits, {rect.x, rect.y, rect.w, y - ui.u(kGap) - rect.y});
  if (ui.state.edits_bar.dragging && !ImGui::IsMouseDown(0)) list_becomes(ui, ui.state.edits);
}

void draw_edit_menus(Ui& ui) {
  const EditList& list = ui.state.edits;
  const float row = ui.u(30), pad = ui.u(10);
  const std::size_t index = ui.moment.menu_edit;
  if (index < list.edits.size()) {
    const ListedEdit& listed = list.edits[index];
    const std::string text = edit_brief(listed.edit);
    const float width = std::clamp(ui.width(text) + ui.u(40), ui.u(280), ui.u(520));
    draw_menu(ui, Menu::edit, ui.moment.menu_at, width, [&](MenuLayout& lines) {
      if (const auto line = lines.take(ui.u(28)))
        ui.text(text, {line->x + pad, line->y, line->w - 2 * pad, line->h}, ui.theme().text_muted);
      if (const auto strength = strength_of(listed.edit))
        if (const auto line = lines.take(ui.u(34)))
          draw_slider(ui, {line->x + pad, line->y, line->w - 2 * pad, row}, index, *strength);
      if (lines.row({.label = listed.on ? "Switch off" : "Switch on"}, row))
        list_becomes(ui, switched(list, index));
      lines.row({.label = "Copy as text"}, row, CopyText{edit_text(listed.edit)});
      lines.row({.label = "Copy all edits as text"}, row, CopyText{all_as_text(list)});
      if (lines.row({.label = "Remove"}, row)) list_becomes(ui, removed(list, index));
    });
  }
  draw_menu(ui, Menu::edits, ui.moment.menu_at, ui.u(420), [&](MenuLayout& lines) {
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
      const ListedEdit& listed = list.edits[i];
      if (lines.row({.label = edit_words(listed.edit),
                     .tip = edit_brief(listed.edit),
                     .marked = listed.on,
                     .closes = false},
                    row))
        list_becomes(ui, switched(list, i));
    }
  });
}

}  // namespace headscope::app
