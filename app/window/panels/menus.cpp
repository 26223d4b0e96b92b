// Menus: they open at a button or at the mouse, and close by themselves.
#include <algorithm>
#include <iterator>

#include "app/window/commands.h"
#include "app/window/input.h"
#include "app/window/panels/panels.h"
#include "app/window/sessions.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// Lines of a menu from the top down.
class Lines {
 public:
  Lines(Ui& ui, const Rect& rect) : ui_(ui), at_(rect) {}
  bool row(const Ui::Row& row, float height) {
    const bool pressed = ui_.row({at_.x, at_.y, at_.w, height}, row);
    at_.y += height;
    return pressed;
  }
  void gap(float height) {
    ui_.line({at_.x, at_.y + height / 2}, {at_.right(), at_.y + height / 2}, ui_.theme().line);
    at_.y += height;
  }
  void heading(std::string_view words, float height) {
    ui_.text(words, {at_.x + ui_.u(10), at_.y, at_.w - ui_.u(20), height}, ui_.theme().text_muted,
             viz::FontStyle::medium, 0.85F);
    at_.y += height;
  }

 private:
  Ui& ui_;
  Rect at_;
};

void draw_examples(Ui& ui) {
  const auto& examples = ui.state.examples;
  const float row = ui.u(46), width = std::min(ui.u(640), ui.seen.frame.width - ui.u(40));
  const float height = row * static_cast<float>(std::max<std::size_t>(1, examples.size()));
  const auto rect =
      ui.begin_menu(Menu::examples, ui.below_button(Menu::examples, false, width), width, height);
  if (!rect) return;
  Lines lines(ui, *rect);
  if (examples.empty())
    lines.row({.label = "No example prompts were found beside the program.", .enabled = false}, row);
  for (const ExamplePrompt& e : examples)
    if (lines.row({.label = e.title, .more = e.look_for, .marked = ui.state.prompt.edit.text == e.text}, row))
      ui.actions.emplace_back(SetPrompt{e.text, e.head, e.look_for});
  ui.end_menu();
}

/// Those that were opened lately and are no discovered ones.
std::vector<DiscoveredModel> recent_models(const UiState& state) {
  std::vector<DiscoveredModel> lines;
  for (const std::filesystem::path& folder : state.recent_models) {
    const bool known = std::ranges::any_of(
        state.models, [&](const DiscoveredModel& model) { return model.folder == folder; });
    if (!known) lines.push_back({model_name(folder), folder});
  }
  return lines;
}

/// Those that could be fetched: the ones that everybody knows, as far as they are not here.
std::vector<KnownModel> models_to_fetch(const UiState& state) {
  std::vector<KnownModel> lines;
  if (!state.can_fetch) return lines;
  for (const KnownModel& known : known_models()) {
    const bool here =
        std::ranges::find(state.models, known.repository, &DiscoveredModel::name) != state.models.end();
    if (!here) lines.push_back(known);
  }
  return lines;
}

void draw_models(Ui& ui) {
  if (ui.moment.open == Menu::models) ui.actions.emplace_back(FindModels{});
  const auto& models = ui.state.models;
  const auto recent = recent_models(ui.state);
  const float row = ui.u(46), small = ui.u(34), heading = recent.empty() ? 0 : ui.u(24), gap = ui.u(9);
  const float width = std::min(ui.u(540), ui.seen.frame.width - ui.u(40));
  const auto distant = models_to_fetch(ui.state);
  const float line = ui.u(30),
              distant_height = distant.empty() ? 0 : ui.u(28) + line * static_cast<float>(distant.size());
  const float height =
      row * static_cast<float>(models.size() + recent.size()) + heading + distant_height + gap + small;
  const auto rect = ui.begin_menu(Menu::models, ui.below_button(Menu::models, true, width), width, height);
  if (!rect) return;
  Lines lines(ui, *rect);
  const auto draw = [&](const DiscoveredModel& model) {
    const bool open = ui.snapshot.model && ui.snapshot.model->folder == model.folder;
    if (lines.row({.label = model.name, .more = model.folder.string(), .marked = open}, row) && !open)
      ui.actions.emplace_back(OpenModel{model.folder});
  };
  std::ranges::for_each(models, draw);
  if (!recent.empty()) lines.heading("Opened lately", heading);
  std::ranges::for_each(recent, draw);
  if (!distant.empty()) lines.heading("To fetch from the Hugging Face hub", ui.u(28));
  for (const KnownModel& known : distant)
    if (lines.row({.label = std::string(known.repository),
                   .right = bytes_text(known.bytes),
                   .tip = "Fetch it into the Hugging Face cache, and open it then",
                   .enabled = !ui.state.fetching.model},
                  line))
      ui.actions.emplace_back(FetchModel{{std::string(known.repository)}});
  lines.gap(gap);
  if (lines.row({.label = "Open a folder…", .right = keys_of(command(CommandId::open))}, small))
    ui.actions.emplace_back(ShowDialog{Dialog::open});
  ui.end_menu();
}

/// Those that the open one may be compared with: which of them have its shape is known once they are loaded.
void draw_second_models(Ui& ui) {
  if (ui.moment.open == Menu::second_model) ui.actions.emplace_back(FindModels{});
  std::vector<DiscoveredModel> models = ui.state.models;
  std::ranges::move(recent_models(ui.state), std::back_inserter(models));
  std::erase_if(models, [&](const DiscoveredModel& model) {
    return is_open(model.folder, ui.snapshot) || may_hold_patterns(model.folder);
  });
  const std::filesystem::path& chosen = ui.state.second.model;
  const float row = ui.u(46), small = ui.u(34), gap = ui.u(9);
  const float width = std::min(ui.u(540), ui.seen.frame.width - ui.u(40));
  const float height = row * static_cast<float>(models.size()) + (models.empty() ? 0 : gap) +
                       small * (chosen.empty() ? 1.F : 2.F);
  const viz::Point beside = ui.below_button(Menu::models, true, width);
  const auto rect = ui.begin_menu(Menu::second_model,
                                  ui.below_button(Menu::second_model, false, width, beside), width, height);
  if (!rect) return;
  Lines lines(ui, *rect);
  for (const DiscoveredModel& model : models)
    if (lines.row({.label = model.name, .more = model.folder.string(), .marked = model.folder == chosen},
                  row))
      ui.actions.emplace_back(CompareModel{model.folder});
  if (!models.empty()) lines.gap(gap);
  if (lines.row({.label = "Compare with a folder…"}, small))
    ui.actions.emplace_back(ShowDialog{.dialog = Dialog::open, .second = true});
  if (!chosen.empty() && lines.row({.label = "No second model"}, small))
    ui.actions.emplace_back(CompareModel{});
  ui.end_menu();
}

void draw_more(Ui& ui) {
  const float row = ui.u(32), width = ui.u(380);
  const auto shown = [](const Command& command) { return !command.label.empty(); };
  const auto count = std::ranges::count_if(commands(), shown);
  const auto rect = ui.begin_menu(Menu::more, ui.below_button(Menu::more, true, width), width,
                                  row * static_cast<float>(count));
  if (!rect) return;
  Lines lines(ui, *rect);
  for (const Command& command : commands()) {
    if (!shown(command)) continue;
    const auto action = command.act ? command.act(ui.state) : std::nullopt;
    const bool possible = action || command.opens != Menu::none;
    if (!lines.row({.label = std::string(command.label), .right = keys_of(command), .enabled = possible},
                   row))
      continue;
    if (action) ui.actions.push_back(*action);
    if (command.opens != Menu::none) ui.moment.open = command.opens;
  }
  ui.end_menu();
}

/// By the keyboard: of the picture that has it, or of the text with the caret.
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

/// What can be done with every picture, under what the view itself offers at the place.
void draw_picture_menu(Ui& ui) {
  Moment& moment = ui.moment;
  if (!moment.menu_view) return;
  const View& view = *moment.menu_view;
  const std::string id(view.id);
  const bool tab = view.place == Place::tab;
  const float row = ui.u(30), gap = ui.u(9);
  float width = ui.u(220);
  for (const MenuLine& line : moment.menu_lines)
    width = std::max(width, ui.width(line.label, viz::FontStyle::medium) + ui.u(56));
  const auto own = static_cast<float>(moment.menu_lines.size());
  const float height = row * (own + (tab ? 3 : 2)) + (own > 0 ? gap : 0);
  const auto rect = ui.begin_menu(Menu::picture, moment.menu_at, width, height);
  if (!rect) {
    if (!ui.out.settling && moment.open != Menu::picture) moment.menu_view = nullptr;
    return;
  }
  Lines lines(ui, *rect);
  for (const MenuLine& line : moment.menu_lines)
    if (lines.row({.label = line.label}, row)) ui.actions.emplace_back(DoAll{line.actions});
  if (own > 0) lines.gap(gap);
  if (lines.row({.label = "Export this picture…"}, row))
    ui.actions.emplace_back(ShowDialog{Dialog::export_, id});
  if (lines.row({.label = "Copy its numbers"}, row)) ui.actions.emplace_back(CopyNumbers{id});
  if (tab) {
    const bool alone = ui.state.beside.empty();
    if (lines.row({.label = alone ? "A second view beside it" : "Only this view"}, row)) {
      if (id == ui.state.beside) ui.actions.emplace_back(ShowView{id});
      ui.actions.push_back(toggle_beside(ui.state));
    }
  }
  ui.end_menu();
}

}  // namespace

void draw_text_menu(Ui& ui) {
  const float row = ui.u(30), gap = ui.u(9);
  const auto rect = ui.begin_menu(Menu::text, ui.moment.menu_at, ui.u(220), 6 * row + gap);
  if (!rect) return;
  const Field field = ui.moment.menu_field;
  const TextState& edit = field_of(ui.state, field).edit;
  const bool selected = !edit.selection().empty();
  Lines lines(ui, *rect);
  const auto line = [&](const char* label, const char* key, bool enabled) {
    return lines.row({.label = label, .right = key, .enabled = enabled}, row);
  };
  const auto does = [&](TextCommand command) {
    ui.actions.emplace_back(TypeInField{field, std::move(command)});
  };
  const auto asks = [&](EditorRequest request) {
    std::ranges::move(meaning_of(request, field, edit), std::back_inserter(ui.actions));
  };
  if (line("Cut", "Ctrl+X", selected)) asks(EditorRequest::cut);
  if (line("Copy", "Ctrl+C", selected)) asks(EditorRequest::copy);
  if (line("Paste", "Ctrl+V", true)) asks(EditorRequest::paste);
  if (line("Select all", "Ctrl+A", !edit.text.empty())) does(SelectAll{});
  lines.gap(gap);
  if (line("Undo", "Ctrl+Z", !edit.history.done.empty())) does(Undo{});
  if (line("Redo", "Ctrl+Y", !edit.history.undone.empty())) does(Redo{});
  ui.end_menu();
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
