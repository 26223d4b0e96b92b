// The menus that open at a button or at the mouse.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "app/counted.h"
#include "app/window/commands.h"
#include "app/window/input.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// At most the window's width.
float menu_width(const Ui& ui, float width) {
  return std::min(ui.u(width), ui.input.frame.width - ui.u(40));
}

void draw_examples(Ui& ui) {
  const float row = ui.u(46), width = menu_width(ui, 640);
  draw_menu(ui, Menu::examples, ui.below_button(Menu::examples, false, width), width, [&](MenuLayout& lines) {
    if (ui.state.examples.empty())
      lines.row({.label = "No example prompts were found next to the program.",
                 .unavailable = "examples/prompts.md is missing."},
                row);
    for (int i = 0; const TourStop& e : ui.state.examples)
      lines.row({.label = e.title, .more = e.caption.front().words, .marked = &e == shown_example(ui.state)},
                row, ShowExample{i++});
  });
}

/// The recent models that discovery did not find.
std::vector<DiscoveredModel> recent_models(const UiState& state) {
  std::vector<DiscoveredModel> lines;
  for (const std::filesystem::path& folder : state.recent_models)
    if (std::ranges::find(state.models, folder, &DiscoveredModel::folder) == state.models.end())
      lines.push_back({model_name(folder), folder});
  return lines;
}

/// The well-known models that are not on this machine and can be fetched.
std::vector<KnownModel> models_to_fetch(const UiState& state) {
  std::vector<KnownModel> lines;
  if (!state.can_fetch) return lines;
  for (const KnownModel& known : kKnownModels)
    if (std::ranges::find(state.models, known.repository, &DiscoveredModel::name) == state.models.end())
      lines.push_back(known);
  return lines;
}

void draw_models(Ui& ui) {
  if (ui.moment.open == Menu::models) ui.actions.emplace_back(FindModels{});
  const float row = ui.u(46), width = menu_width(ui, 540);
  draw_menu(ui, Menu::models, ui.below_button(Menu::models, true, width), width, [&](MenuLayout& lines) {
    const auto draw = [&](const DiscoveredModel& model) {
      const bool open = ui.snapshot.model && ui.snapshot.model->folder == model.folder;
      if (lines.row({.label = model.name, .more = system::text_of(model.folder), .marked = open}, row) &&
          !open)
        ui.actions.emplace_back(OpenModel{model.folder});
    };
    std::ranges::for_each(ui.state.models, draw);
    const auto recent = recent_models(ui.state);
    if (!recent.empty()) lines.heading("Recent", ui.u(24));
    std::ranges::for_each(recent, draw);
    const auto distant = models_to_fetch(ui.state);
    if (!distant.empty()) lines.heading("On the Hugging Face hub", ui.u(28));
    for (const KnownModel& known : distant)
      lines.row({.label = std::string(known.repository),
                 .right = bytes_text(known.bytes),
                 .tip = "Fetch it into the Hugging Face cache and open it",
                 .unavailable = ui.state.fetching.model ? "Another model is being fetched." : ""},
                ui.u(30), FetchModel{{std::string(known.repository)}});
    lines.gap();
    lines.row({.label = "Open folder…", .right = keys_of(command(CommandId::open))}, ui.u(34),
              ShowDialog{Dialog::open});
  });
}

/// The models to compare with; whether one has the right shape is known only after loading.
void draw_second_models(Ui& ui) {
  if (ui.moment.open == Menu::second_model) ui.actions.emplace_back(FindModels{});
  const float small = ui.u(34), width = menu_width(ui, 540);
  const viz::Point otherwise = ui.below_button(Menu::models, true, width);
  const viz::Point at = ui.below_button(Menu::second_model, false, width, otherwise);
  draw_menu(ui, Menu::second_model, at, width, [&](MenuLayout& lines) {
    std::vector<DiscoveredModel> models = ui.state.models;
    std::ranges::move(recent_models(ui.state), std::back_inserter(models));
    std::erase_if(models, [&](const DiscoveredModel& model) {
      return is_open(model.folder, ui.snapshot) || may_hold_patterns(model.folder);
    });
    const std::filesystem::path& chosen = ui.state.second.model;
    for (const DiscoveredModel& model : models)
      lines.row(
          {.label = model.name, .more = system::text_of(model.folder), .marked = model.folder == chosen},
          ui.u(46), CompareModel{model.folder});
    if (!models.empty()) lines.gap();
    lines.row({.label = "Compare with folder…"}, small, ShowDialog{.dialog = Dialog::open, .second = true});
    if (!chosen.empty()) lines.row({.label = "No second model"}, small, CompareModel{});
  });
}

void draw_more(Ui& ui) {
  const float width = ui.u(380);
  draw_menu(ui, Menu::more, ui.below_button(Menu::more, true, width), width, [&](MenuLayout& lines) {
    for (const Command& command : commands()) {
      if (command.label.empty()) continue;
      if (command.begins_group) lines.gap();
      const auto action = command.act ? command.act(ui.state) : std::nullopt;
      const bool possible = action || command.opens != Menu::none;
      if (!lines.row({.label = label_of(command, ui.state),
                      .right = keys_of(command),
                      .unavailable = possible ? "" : std::string(command.unavailable)},
                     ui.u(29)))
        continue;
      if (action) ui.actions.push_back(*action);
      if (command.opens != Menu::none) ui.moment.open = command.opens;
    }
  });
}

/// "3 hours ago"
std::string time_since(std::filesystem::file_time_type then) {
  using namespace std::chrono;
  const auto age = duration_cast<minutes>(std::filesystem::file_time_type::clock::now() - then);
  if (age < minutes(1)) return "just now";
  if (age < hours(1)) return counted(age.count(), "minute") + " ago";
  if (age < days(2)) return counted(duration_cast<hours>(age).count(), "hour") + " ago";
  return counted(duration_cast<days>(age).count(), "day") + " ago";
}

void draw_sessions(Ui& ui) {
  const float row = ui.u(46), small = ui.u(34), width = menu_width(ui, 540);
  draw_menu(ui, Menu::sessions, ui.below_button(Menu::more, true, width), width, [&](MenuLayout& lines) {
    for (const std::filesystem::path& file : ui.state.recent_sessions)
      lines.row({.label = system::text_of(file.stem()),
                 .more = system::text_of(file.parent_path()),
                 .marked = file == ui.state.session},
                row, OpenFile{file});
    for (const EndedSession& last : ui.state.last_sessions)
      lines.row({.label = &last == ui.state.last_sessions.data() ? "Last session" : "Earlier session",
                 .right = "closed or killed " + time_since(last.written)},
                small, OpenFile{last.file});
    const Command &save = command(CommandId::save_session_as), &open = command(CommandId::open);
    lines.row({.label = std::string(save.label), .right = keys_of(save)}, small, *save.act(ui.state));
    lines.row({.label = "Open session or figure…", .right = keys_of(open)}, small, *open.act(ui.state));
  });
}

/// Opens the menu of the focused picture, or of the text with the caret, by keyboard.
void open_at_keyboard(Ui& ui) {
  Moment& moment = ui.moment;
  if (moment.open != Menu::picture || moment.menu_view) return;
  moment.open = Menu::none;
  for (const PlacedPicture& placed : ui.out.pictures)
    if (placed.id == moment.keyboard_item) return ui.open_menu(placed, std::nullopt);
  for (const PlacedField& placed : ui.out.fields)
    if (placed.field == moment.field && moment.keyboard_item == 0)
      return ui.open_menu(placed, placed.look.rect.center());
}

/// The view's lines for the place under the mouse, then the lines that every picture has.
void draw_picture_menu(Ui& ui) {
  Moment& moment = ui.moment;
  if (!moment.menu_view) return;
  const View& view = *moment.menu_view;
  const std::string id(view.id);
  const float row = ui.u(30);
  float width = ui.u(220);
  for (const MenuLine& line : moment.menu_lines)
    width = std::max(width, ui.width(line.label, viz::FontStyle::medium) + ui.u(56));
  const bool drawn = draw_menu(ui, Menu::picture, moment.menu_at, width, [&](MenuLayout& lines) {
    for (const MenuLine& line : moment.menu_lines)
      lines.row({.label = line.label}, row, DoAll{line.actions, false, moment.menu_side});
    if (!moment.menu_lines.empty()) lines.gap();
    lines.row({.label = "Export picture…"}, row, ShowDialog{Dialog::export_, id});
    lines.row({.label = "Copy data"}, row, CopyNumbers{id});
    if (view.place != Place::tab) return;
    const bool alone = ui.state.second_view.empty();
    if (!lines.row({.label = alone ? "Add a second view" : "Show only this view"}, row)) return;
    if (id == ui.state.second_view) ui.actions.emplace_back(ShowView{id});
    ui.actions.push_back(toggle_second_view(ui.state));
  });
  if (!drawn && !ui.out.settling && moment.open != Menu::picture) moment.menu_view = nullptr;
}

}  // namespace

void draw_text_menu(Ui& ui) {
  draw_menu(ui, Menu::text, ui.moment.menu_at, ui.u(220), [&](MenuLayout& lines) {
    const Field field = ui.moment.menu_field;
    const TextState& edit = field_of(ui.state, field).edit;
    const bool selected = !edit.selection().empty();
    const auto line = [&](const char* label, const char* key, bool possible, const char* unavailable) {
      return lines.row({.label = label, .right = key, .unavailable = possible ? "" : unavailable}, ui.u(30));
    };
    const char* const unselected = "No text is selected.";
    const auto asks = [&](EditorRequest request) {
      std::ranges::move(meaning_of(request, field, edit), std::back_inserter(ui.actions));
    };
    if (line("Cut", "Ctrl+X", selected, unselected)) asks(EditorRequest::cut);
    if (line("Copy", "Ctrl+C", selected, unselected)) asks(EditorRequest::copy);
    if (line("Paste", "Ctrl+V", true, "")) asks(EditorRequest::paste);
    if (line("Select all", "Ctrl+A", !edit.text.empty(), "There is no text."))
      ui.actions.emplace_back(TypeInField{field, SelectAll{}});
    lines.gap();
    const auto possible = [&](bool forward) { return can_undo(ui.state, field, forward); };
    if (line("Undo", "Ctrl+Z", possible(false), "There is nothing to undo.")) asks(EditorRequest::undo);
    if (line("Redo", "Ctrl+Shift+Z", possible(true), "There is nothing to redo.")) asks(EditorRequest::redo);
  });
}

void draw_menus(Ui& ui) {
  draw_examples(ui);
  draw_models(ui);
  draw_second_models(ui);
  draw_more(ui);
  draw_sessions(ui);
  open_at_keyboard(ui);
  draw_picture_menu(ui);
  if (ui.state.dialog == Dialog::none) draw_text_menu(ui);
}

}  // namespace headscope::app
