#include "app/window/commands.h"

#include <algorithm>
#include <utility>

#include "app/ascii.h"
#include "app/text/output_text.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// One overload for each kind of event.
struct Keys {
  const UiState& state;
  const Snapshot& snapshot;
  const WindowPicture& window;
  WidgetState& widgets;
  FieldMetrics& metrics;
  Meaning out = {};

  void operator()(const KeyDown& e) {
    widgets.space_pressed = false;
    if (e.key == Key::escape) return escape();
    if (e.key == Key::tab && !e.modifiers.ctrl && !e.modifiers.alt)
      return step_item(e.modifiers.shift ? -1 : 1);
    if (e.key == Key::f6) return step_picture(e.modifiers.shift ? -1 : 1);
    if (widgets.menu != Menu::none) return press(e);
    const PlacedField* field = field_with_caret();
    const bool to_end = e.key == Key::home || e.key == Key::end;
    if (field && field->field == Field::help && to_end && state.help_form.search.edit.text.empty())
      return to_toolkit();  // scrolls the help, since the caret has nowhere to go
    if (field && field->field == Field::palette && palette_key(e)) return;
    if (field && field_key(*field, e)) return;
    if (command(e) || view_command(e)) return;
    if (state.dialog == Dialog::none && widgets.keyboard_item != 0) {
      for (const PlacedPicture& placed : window.pictures)
        if (placed.id == widgets.keyboard_item) return picture_key(placed, e);
    }
    if (widgets.keyboard_item != 0) return step_in_group(e) ? void() : press(e);
    if (e.key == Key::enter && !e.repeat) return enter();
    if (state.dialog == Dialog::help) to_toolkit();  // scrolls the help
  }

  void operator()(const TextTyped& e) {
    if (e.text == " " && std::exchange(widgets.space_pressed, false))
      return;  // this space already pressed an item
    const bool in_menu = widgets.menu != Menu::none;
    if (in_menu) {  // closes, since what is typed goes into the text
      widgets.close_menu = widgets.leave_keyboard = true;
      to_toolkit();
    } else if (widgets.keyboard_item != 0) {
      if (state.dialog != Dialog::none) return;
      focus(Field::prompt);
    }
    if (const PlacedField* field = placed(widgets.field, in_menu ? 1 : 0))
      add(TypeInField{field->field, Insert{e.text, true}});
  }

  /// Opens the first of several. A file of attention replaces the one that is compared with.
  void operator()(const FilesDropped& e) {
    const std::filesystem::path& path = e.paths.front();
    const bool is_second = may_hold_patterns(path) && state.second.on && state.second.is_file;
    add(is_second ? Action(TypeInField{Field::second, Replace{system::text_of(path)}}) : OpenFile{path});
    if (e.paths.size() > 1)
      add(ShowMessage{"Only " + terminal_safe(system::text_of(path)) + " is opened: drop one file at a time.",
                      true});
  }

  template <class Mouse>
  void operator()(const Mouse&) {
    to_toolkit();
  }

  void add(Action action) { out.actions.push_back(std::move(action)); }
  void to_toolkit() { out.to_toolkit = true; }
  /// Presses the focused item (once, however long the key is held) or moves the focus.
  void press(const KeyDown& e) {
    const bool presses = e.key == Key::space || e.key == Key::enter;
    if (presses && e.repeat) return;
    widgets.space_pressed = e.key == Key::space;
    to_toolkit();
  }

  /// The field in the topmost layer, or so far below it.
  const PlacedField* placed(Field field, int below = 0) const {
    for (const PlacedField& p : window.fields)
      if (p.field == field && p.layer == window.layer - below) return &p;
    return nullptr;
  }
  const PlacedField* field_with_caret() const {
    return widgets.keyboard_item == 0 ? placed(widgets.field) : nullptr;
  }

  void focus(Field field) {
    widgets.field = field;
    widgets.keyboard_item = 0;
  }

  void escape() {
    if (widgets.menu != Menu::none) {
      widgets.close_menu = true;
      return to_toolkit();
    }
    if (state.dialog != Dialog::none) return add(ShowDialog{Dialog::none});
    if (state.generation.running) return add(Generate{false});
    if (snapshot.busy == Busy::loading) return add(change(&UiState::load_cancel, state.load_request));
    if (!state.message.text.empty()) return add(ShowMessage{});
    focus(Field::prompt);
  }

  /// The items that the keyboard can reach, in order.
  std::vector<const WindowItem*> reachable() const {
    std::vector<const WindowItem*> items;
    for (const WindowItem& item : window.items)
      if (item.layer == window.layer && item.enabled && item.id != 0) items.push_back(&item);
    return items;
  }

  /// Tab visits the first item of each group, and in a menu all items.
  void step_item(int by) {
    std::vector<const WindowItem*> stops = reachable();
    if (stops.empty()) return;
    const PlacedField* caret = field_with_caret();
    auto now = std::ranges::find(stops, caret ? caret->id : widgets.keyboard_item, &WindowItem::id);
    const bool is_none = now == stops.end();
    if (widgets.menu == Menu::none) {
      const int group = is_none ? -1 : (*now)->group;
      stops.erase(std::ranges::unique(stops, {}, &WindowItem::group).begin(), stops.end());
      now = std::ranges::find(stops, group, &WindowItem::group);
    }
    const std::ptrdiff_t from = !is_none ? now - stops.begin() : by > 0 ? -1 : 0;
    go_to(stops[(from + by + std::ssize(stops)) % std::ssize(stops)]->id);
  }

  /// Arrow keys visit the items of a group, unless the focused one uses them itself.
  bool step_in_group(const KeyDown& e) {
    const bool sideways = e.key == Key::left || e.key == Key::right;
    if (!sideways && e.key != Key::up && e.key != Key::down) return false;
    const std::vector<const WindowItem*> items = reachable();
    const auto at = std::ranges::find(items, widgets.keyboard_item, &WindowItem::id);
    if (at == items.end() || (sideways && (*at)->uses_arrows)) return false;
    const std::ptrdiff_t to = at - items.begin() + (e.key == Key::left || e.key == Key::up ? -1 : 1);
    if (to >= 0 && to < std::ssize(items) && items[to]->group == (*at)->group) go_to(items[to]->id);
    return true;
  }

  void step_picture(int by) {
    if (state.dialog != Dialog::none || widgets.menu != Menu::none) return;
    std::vector<unsigned> stops;
    for (const PlacedField& field : window.fields)
      if (field.field == Field::prompt) stops.push_back(field.id);
    for (const PlacedPicture& picture : window.pictures) stops.push_back(picture.id);
    const auto found = std::ranges::find(stops, widgets.keyboard_item);
    const std::ptrdiff_t count = std::ssize(stops), at = found == stops.end() ? 0 : found - stops.begin();
    if (count > 0) go_to(stops[(at + by + count) % count]);
  }

  void go_to(unsigned id) {
    for (const PlacedField& field : window.fields)
      if (field.id == id) return focus(field.field);
    widgets.focus = id;  // in the next frame
  }

  bool field_key(const PlacedField& placed, const KeyDown& e) {
    const TextState& edit = field_of(state, placed.field).edit;
    const KeyMeaning meaning = key_meaning(edit, metrics[placed.field], placed.look, e);
    if (const auto* command = std::get_if<TextCommand>(&meaning)) {
      add(TypeInField{placed.field, *command});
      return true;
    }
    const auto* request = std::get_if<EditorRequest>(&meaning);
    if (!request) return false;
    for (Action& action : meaning_of(*request, placed.field, edit)) add(std::move(action));
    return true;
  }

  const std::vector<PaletteEntry>& entries() const {
    return found_entries(widgets, state, snapshot, window.pictures);
  }

  /// Moves among the entries of the palette.
  bool palette_key(const KeyDown& e) {
    constexpr int kPage = 10;
    const int by = e.key == Key::up          ? -1
                   : e.key == Key::down      ? 1
                   : e.key == Key::page_up   ? -kPage
                   : e.key == Key::page_down ? kPage
                                             : 0;
    if (by == 0) return false;
    const auto last = static_cast<int>(entries().size()) - 1;
    const int chosen = std::clamp(state.palette.chosen + by, 0, std::max(0, last));
    add([chosen](UiState& now, ReduceContext&) { now.palette.chosen = chosen; });
    return true;
  }

  /// Enter outside a text: presses the dialog's main button or returns to the prompt.
  void enter() {
    const auto can_write = [](const FileForm& form) {  // only the button replaces an existing file
      return !form.path.edit.text.empty() && form.state != Writing::writes && form.state != Writing::exists;
    };
    if (state.dialog == Dialog::export_ && can_write(state.export_form)) add(DoExport{});
    if (state.dialog == Dialog::save && can_write(state.save_form))
      add(SaveSession{system::path_of(state.save_form.path.edit.text)});
    if (state.dialog == Dialog::open)
      if (auto action = opening(state)) add(*std::move(action));
    // The help stays after a search, so that the next one is not typed into the prompt.
    if (state.dialog == Dialog::help && state.help_form.search.edit.text.empty()) add(ShowDialog{});
    if (state.dialog == Dialog::palette && state.palette.chosen < std::ssize(entries())) {
      perform(entries()[state.palette.chosen], out.actions, widgets.open);
      if (widgets.open != Menu::none) to_toolkit();
    }
    if (state.dialog != Dialog::none) return;
    const PlacedField* field = field_with_caret();
    if (field && field->field == Field::edits) return add(TypeEdits{});
    if (!field || field->field != Field::option)
      focus(Field::prompt);  // an option's next value is typed there
  }

  bool command(const KeyDown& e) {
    if (e.key == Key::none) return false;                  // commands without a key have it
    const Key key = e.key == Key{'+'} ? Key{'='} : e.key;  // both enlarge the text, whichever needs Shift
    for (const Command& command : commands()) {
      if (command.key != key || command.modifiers != e.modifiers) continue;
      const bool fits_dialog = state.dialog == Dialog::none || (command.flags & Command::kInDialogs) != 0;
      if (!fits_dialog || (e.repeat && (command.flags & Command::kRepeats) == 0)) return true;
      if (command.opens != Menu::none) {
        widgets.open = command.opens;
        to_toolkit();
      } else if (auto action = command.act(state)) {
        add(*std::move(action));
      }
      return true;
    }
    return false;
  }

  /// Alt and a character: a command or an option of a shown view, the middle pane first.
  bool view_command(const KeyDown& e) {
    if (!e.modifiers.alt || e.modifiers.ctrl || state.dialog != Dialog::none) return false;
    const char key = e.modifiers.shift ? upper(static_cast<char>(e.key)) : static_cast<char>(e.key);
    for (const bool middle : {true, false}) {
      for (const PlacedPicture& placed : window.pictures)
        if ((placed.view->place == Place::tab) == middle && key_of_view(placed, key)) return true;
    }
    return false;
  }

  bool key_of_view(const PlacedPicture& placed, char key) {
    for (const KeyCommand& command : placed.view->commands) {
      const std::size_t which = command.keys.find(key);
      if (which == std::string_view::npos) continue;
      if (!placed.context.run) return true;
      ViewActions actions = command.act(placed.context_with(state.options), static_cast<int>(which));
      if (!actions.empty()) add(DoAll{std::move(actions), false, placed.context.side});
      return true;
    }
    for (const OptionSpec* option : placed.view->options) {
      const std::size_t which = option->keys.find(key);
      if (which == std::string_view::npos) continue;
      add(SetOption{option, stepped(*option, state.options.value(*option), which == 0 ? 1 : -1)});
      return true;
    }
    return false;
  }

  /// A key for the focused picture; keys that its view does not use edit the prompt.
  void picture_key(const PlacedPicture& placed, const KeyDown& e) {
    if (e.key == Key::enter) return focus(Field::prompt);
    const Gesture gesture{Gesture::Kind::key, {}, {}, e.modifiers, e.key};
    ViewActions actions =
        placed.view->on(placed.context_with(state.options), *placed.picture, nullptr, gesture);
    if (!actions.empty()) return add(DoAll{std::move(actions), e.repeat, placed.context.side});
    if (e.key >= Key::left && e.key <= Key::page_down) return;  // keys that move
    if (const PlacedField* prompt = this->placed(Field::prompt); prompt && field_key(*prompt, e))
      focus(Field::prompt);
  }
};

}  // namespace

Key labelled_key(std::string_view label, int us_key) {
  if (label.size() == 1 && label[0] > ' ' && label[0] <= '~') return Key{label[0]};
  const bool is_letter = us_key >= 'A' && us_key <= 'Z', is_digit = us_key >= '0' && us_key <= '9';
  return is_letter || is_digit ? Key{lower(static_cast<char>(us_key))} : Key::none;
}

std::vector<Action> meaning_of(EditorRequest request, Field field, const TextState& edit) {
  if (request == EditorRequest::paste) return {Paste{field}};
  if (request == EditorRequest::undo || request == EditorRequest::redo)
    return {Undo{request == EditorRequest::redo, field}};
  std::vector<Action> actions{CopyText{std::string(edit.selected())}};
  if (request == EditorRequest::cut) actions.emplace_back(TypeInField{field, Erase{}});
  return actions;
}

Meaning meaning_of(const Event& event, const UiState& state, const Snapshot& snapshot,
                   const WindowPicture& window, WidgetState& widgets, FieldMetrics& metrics) {
  Keys keys{state, snapshot, window, widgets, metrics};
  std::visit(keys, event);
  return keys.out;
}

}  // namespace headscope::app
