// The menus that open at a button or at the mouse.
#include <algorithm>
#include <utility>

#include "app/window/commands.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

void draw_examples(Ui& ui) {
  if (!ui.begin_menu(Menu::examples, ui.u(640))) return;
  if (ui.state.examples.empty())
    ui.row({.label = "No example prompts were found next to the program.",
            .unavailable = "examples/prompts.md is missing."});
  for (int i = 0; const TourStop& e : ui.state.examples)
    ui.row({.label = e.title, .more = e.caption.front().words, .marked = &e == shown_example(ui.state)},
           ShowExample{i++});
  ui.end_menu();
}

/// A line of a model; returns whether it was pressed.
bool model_row(Ui& ui, const DiscoveredModel& model, bool marked) {
  return ui.row({.label = model.name, .more = system::text_of(model.folder), .marked = marked});
}

/// The models on this machine, then the recent ones that discovery did not find.
std::vector<DiscoveredModel> models_here(const UiState& state) {
  std::vector<DiscoveredModel> models = state.models;
  for (const std::filesystem::path& folder : state.recent_models)
    if (std::ranges::count(state.models, folder, &DiscoveredModel::folder) == 0)
      models.push_back({model_name(folder), folder});
  return models;
}

void draw_models(Ui& ui) {
  if (ui.widgets.open == Menu::models) ui.actions.emplace_back(FindModels{});
  if (!ui.begin_menu(Menu::models, ui.u(540))) return;
  std::size_t before = 0;
  for (const DiscoveredModel& model : models_here(ui.state)) {
    if (before++ == ui.state.models.size()) ui.heading("Recent");
    const bool open = ui.snapshot.model && ui.snapshot.model->folder == model.folder;
    if (model_row(ui, model, open) && !open) ui.actions.emplace_back(OpenModel{model.folder});
  }
  bool begins = true;
  for (const KnownModel& known : kKnownModels) {
    const bool is_here = std::ranges::count(ui.state.models, known.repository, &DiscoveredModel::name) > 0;
    if (is_here || !ui.state.can_fetch) continue;
    if (std::exchange(begins, false)) ui.heading("On the Hugging Face hub");
    ui.row({.label = std::string(known.repository),
            .right = bytes_text(known.bytes),
            .tip = "Fetch it into the Hugging Face cache and open it",
            .unavailable = ui.state.fetching.model ? "Another model is being fetched." : ""},
           FetchModel{{std::string(known.repository)}});
  }
  ui.separator();
  ui.row({.label = "Open folder…", .right = keys_of(command("Open…"))}, ShowDialog{Dialog::open});
  ui.end_menu();
}

/// The models to compare with; whether one has the right shape is known only after loading.
void draw_second_models(Ui& ui) {
  if (ui.widgets.open == Menu::second_model) ui.actions.emplace_back(FindModels{});
  if (!ui.begin_menu(Menu::second_model, ui.u(540))) return;
  const std::filesystem::path& chosen = ui.state.second.model;
  for (const DiscoveredModel& model : models_here(ui.state))
    if (!is_open(model.folder, ui.snapshot) && !may_hold_patterns(model.folder) &&
        model_row(ui, model, model.folder == chosen))
      ui.actions.emplace_back(CompareModel{model.folder});
  ui.row({.label = "Compare with folder…"}, ShowDialog{.dialog = Dialog::open, .second = true});
  if (!chosen.empty()) ui.row({.label = "No second model"}, CompareModel{});
  ui.end_menu();
}

void draw_more(Ui& ui) {
  if (!ui.begin_menu(Menu::more, ui.u(380))) return;
  for (const Command& command : commands()) {
    if (command.label.empty()) continue;
    const auto action = command.act ? command.act(ui.state) : std::nullopt;
    const bool possible = action || command.opens != Menu::none;
    const bool pressed = ui.row({.label = label_of(command, ui.state),
                                 .actions = action ? std::vector{*action} : std::vector<Action>(),
                                 .right = keys_of(command),
                                 .unavailable = possible ? "" : std::string(command.unavailable),
                                 .begins_group = (command.flags & Command::kBeginsGroup) != 0});
    if (pressed) ui.widgets.open = command.opens;
  }
  ui.end_menu();
}

/// Opens the menu of the focused picture, or of the text with the caret.
void open_focused(Ui& ui) {
  WidgetState& widgets = ui.widgets;
  if (widgets.open != Menu::focused) return;
  widgets.open = Menu::none;
  for (const PlacedPicture& placed : ui.out.pictures)
    if (placed.id == widgets.keyboard_item) return ui.open_menu(placed, std::nullopt);
  for (const PlacedField& placed : ui.out.fields)
    if (placed.field == widgets.field && widgets.keyboard_item == 0)
      return ui.open_menu(placed, placed.look.rect.center());
}

}  // namespace

void draw_menus(Ui& ui) {
  draw_examples(ui);
  draw_models(ui);
  draw_second_models(ui);
  draw_more(ui);
  open_focused(ui);
}

}  // namespace headscope::app
