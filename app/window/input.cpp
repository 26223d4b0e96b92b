#include "app/window/input.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headscope::app {
namespace {

using viz::Point;
using viz::Rect;

/// What lies under a point: the topmost target, and the picture or field if it lies above all targets.
struct Under {
  const Target* target = nullptr;
  const PlacedPicture* picture = nullptr;
  const PlacedField* field = nullptr;
};

Under under(const WindowPicture& window, Point at) {
  Under u;
  std::size_t above = 0;  // number of targets up to the topmost one that holds the point
  for (std::size_t i = 0; i < window.targets.size(); ++i)
    if (window.targets[i].rect.contains(at)) u.target = &window.targets[i], above = i + 1;
  for (const PlacedPicture& picture : window.pictures)
    if (picture.where.contains(at) && above <= picture.targets_below) u.picture = &picture;
  for (const PlacedField& field : window.fields)
    if (field.look.rect.contains(at) && above <= field.targets_below + 1) u.field = &field;
  return u;
}

constexpr float kStill = 4;  // a press that moves less is a click

class Input {
 public:
  Input(const UiState& state, const Snapshot& snapshot, const WindowPicture& window, FieldMetrics& metrics)
      : s_(state), snapshot_(snapshot), window_(window), metrics_(metrics) {}

  std::vector<Action> take() { return std::move(out_); }

  void operator()(const MouseMove& e) {
    if (!s_.drag) return;
    if (s_.drag->kind == DragKind::picture) return drag_picture(e.at);
    if (s_.drag->kind != DragKind::text) return add(MoveDrag{e.at});
    for (const PlacedField& placed : window_.fields)
      if (placed.field == s_.drag->field) select_to(placed, s_.drag->text, e.at);
  }

  void operator()(const MouseDown& e) {
    const Under u = under(window_, e.at);
    const bool left = e.button == 0;
    if (u.field) {
      if (left) press_field(e, *u.field);
      return;
    }
    if (s_.focus == Field::prompt || s_.focus == Field::option) add(FocusField{Field::none});
    if (u.picture) {
      if (left || e.button == 2) press_picture(e, *u.picture);
      return;
    }
    if (!u.target || !left) return;
    if (u.target->drag) {
      if (u.target->drag->kind == DragKind::slider && e.clicks == 2)
        return add(SetOption{u.target->drag->option, u.target->drag->option->usual});
      Drag drag = *u.target->drag;
      drag.start = e.at;
      add(StartDrag{drag});
    } else if (u.target->click) {
      add(*u.target->click);
    }
  }

  void operator()(const MouseUp& e) {
    if (!s_.drag) return;
    const Drag drag = *s_.drag;
    add(EndDrag{});
    if (drag.kind != DragKind::picture || drag.moved || drag.button != 0) return;
    const Gesture click{Gesture::Kind::click, e.at, {}, {}};
    if (drag.clicks != 2) return gesture(drag, click);
    const Gesture twice{Gesture::Kind::double_click, e.at, {}, {}};
    ViewActions actions = meaning(drag, twice);
    if (actions.empty()) return gesture(drag, click);  // it means nothing to the view: another click
    add(TakeBackClick{});
    add(DoAll{std::move(actions)});
  }

  void operator()(const MouseWheel& e) {
    const Under u = under(window_, e.at);
    if (s_.dialog == Dialog::open) return add(ScrollFolder{e.dy > 0 ? -3 : 3});
    if (u.field) {
      const EditState& edit = field_of(s_, u.field->field)->edit;
      return add(ScrollField{u.field->field,
                             scroll_by_wheel(edit, metrics_.of(u.field->field), u.field->look, e.dy)});
    }
    if (!u.picture) return;
    const Gesture wheel{Gesture::Kind::wheel, e.at, {e.dx, e.dy}, e.modifiers};
    if (ViewActions actions = meaning(*u.picture, e.at, wheel); !actions.empty())
      add(DoAll{std::move(actions)});
  }

  void operator()(const KeyDown& e) {
    if (global_key(e)) return;
    if (s_.dialog != Dialog::none && dialog_key(e)) return;
    if (s_.focus != Field::none) return field_key(e);
    if (s_.dialog == Dialog::none) window_key(e);
  }

  void operator()(const TextTyped& e) {
    if (s_.focus != Field::none) {
      add(EditField{s_.focus, typing(e)});
      return;
    }
    if (s_.dialog == Dialog::none) typed_command(e.text);
  }

  void operator()(const FilesDropped& e) {
    if (!e.paths.empty())
      add(OpenModel{std::filesystem::is_directory(e.paths[0]) ? e.paths[0] : e.paths[0].parent_path()});
  }

 private:
  void add(Action action) { out_.push_back(std::move(action)); }

  static Point within(const PlacedPicture& picture, Point at) {
    return {at.x - picture.where.x, at.y - picture.where.y};
  }

  /// What the picture was made of, with the options as they are by now.
  ViewContext context_now(const PlacedPicture& placed) const {
    ViewContext context = placed.context;
    context.options = s_.options;
    return context;
  }

  /// What a gesture means to a view, at the place `pressed` of the window.
  ViewActions meaning(const PlacedPicture& placed, Point pressed, Gesture gesture) const {
    if (!placed.view->on) return {};
    gesture.at = within(placed, gesture.at);
    const auto hit = viz::hit_test(placed.picture->regions, within(placed, pressed));
    return placed.view->on(context_now(placed), *placed.picture, hit ? &*hit : nullptr, gesture);
  }

  ViewActions meaning(const Drag& drag, const Gesture& gesture) const {
    for (const PlacedPicture& placed : window_.pictures)
      if (placed.view == drag.view) return meaning(placed, drag.start, gesture);
    return {};
  }

  void gesture(const Drag& drag, const Gesture& gesture) {
    if (ViewActions actions = meaning(drag, gesture); !actions.empty()) add(DoAll{std::move(actions)});
  }

  void drag_picture(Point to) {
    const Drag& drag = *s_.drag;
    const bool moves = drag.moved || std::hypot(to.x - drag.start.x, to.y - drag.start.y) >= kStill;
    if (!moves) return;
    ViewActions actions =
        meaning(drag, {Gesture::Kind::drag, to, {to.x - drag.last.x, to.y - drag.last.y}, {}});
    if (actions.empty()) return;  // a click, however shaky
    add(DoAll{std::move(actions)});
    add(MoveDrag{to});
  }

  void press_field(const MouseDown& e, const PlacedField& placed) {
    add(FocusField{placed.field});
    const EditState& edit = field_of(s_, placed.field)->edit;
    Drag drag;
    drag.kind = DragKind::text;
    drag.start = e.at;
    drag.field = placed.field;
    drag.text = begin_text_drag(edit, metrics_.of(placed.field), placed.look, e);
    select_to(placed, drag.text, e.at);
    add(StartDrag{drag});
  }

  void select_to(const PlacedField& placed, const TextDrag& drag, Point mouse) {
    const EditState& edit = field_of(s_, placed.field)->edit;
    add(EditField{placed.field, text_drag(edit, metrics_.of(placed.field), placed.look, drag, mouse)});
  }

  void press_picture(const MouseDown& e, const PlacedPicture& placed) {
    if (!placed.view->on) return;
    Drag drag;
    drag.kind = DragKind::picture;
    drag.start = e.at;
    drag.view = placed.view;
    drag.clicks = e.clicks;
    drag.button = e.button;
    add(StartDrag{drag});
  }

  /// Keys that mean the same wherever the focus is.
  bool global_key(const KeyDown& e) {
    if (e.key == Key::f1)
      return add(ShowDialog{s_.dialog == Dialog::help ? Dialog::none : Dialog::help}), true;
    if (e.key == Key::escape) return escape(), true;
    if (!e.modifiers.ctrl) return false;
    switch (e.key) {
      case Key::e:
        add(ShowDialog{Dialog::export_});
        return true;
      case Key::o:
        add(ShowDialog{Dialog::open});
        return true;
      case Key::l:
        add(ShowDialog{Dialog::examples});
        return true;
      case Key::m:
        add(ShowDialog{Dialog::models});
        return true;
      case Key::q:
        add(Quit{});
        return true;
      case Key::t:
        add(SetDark{!s_.dark});
        return true;
      case Key::g:
        add(Generate{!s_.generation.running});
        return true;
      case Key::equal:
        add(SetFontSize{s_.font_size + 1});
        return true;
      case Key::minus:
        add(SetFontSize{s_.font_size - 1});
        return true;
      case Key::zero:
        add(SetFontSize{UiState{}.font_size});
        return true;
      case Key::c:
        if (!e.modifiers.shift) return false;
        add(CopyNumbers{});
        return true;
      default:
        return false;
    }
  }

  void escape() {
    if (s_.dialog != Dialog::none) return add(ShowDialog{Dialog::none});
    if (s_.generation.running) return add(Generate{false});
    if (snapshot_.loading) return add(CancelLoad{});
    if (!s_.message.empty()) return add(DismissMessage{});
    add(FocusField{Field::none});
  }

  bool dialog_key(const KeyDown& e) {
    switch (e.key) {
      case Key::up:
        return add(MoveMenu{-1}), s_.focus == Field::none || s_.dialog == Dialog::open;
      case Key::down:
        return add(MoveMenu{1}), true;
      case Key::page_up:
        return add(MoveMenu{-OpenForm::kRows}), true;
      case Key::page_down:
        return add(MoveMenu{OpenForm::kRows}), true;
      case Key::enter:
        return choose(), true;
      case Key::tab:
        return s_.dialog == Dialog::export_ ? (step_export(e.modifiers.shift), true) : true;
      default:
        return false;
    }
  }

  /// Enter in a dialog.
  void choose() {
    const auto row = static_cast<std::size_t>(std::max(0, s_.menu_row));
    const bool highlighted = s_.menu_row >= 0;
    switch (s_.dialog) {
      case Dialog::examples:
        if (highlighted && row < s_.examples.size())
          add(SetPrompt{s_.examples[row].text, s_.examples[row].head, s_.examples[row].look_for});
        break;
      case Dialog::models:
        if (!highlighted) break;
        if (row < s_.models.size()) {
          add(OpenModel{s_.models[row].folder});
        } else {
          add(ShowDialog{Dialog::open});
        }
        break;
      case Dialog::open: {
        const OpenForm& form = s_.open_form;
        if (highlighted && row < form.entries.size()) {
          const std::filesystem::path path = form.folder / form.entries[row].name;
          add(form.entries[row].is_model ? Action(OpenModel{path}) : Action(BrowseFolder{path}));
        } else if (form.path.edit.text != form.folder.string()) {
          add(BrowseFolder{form.path.edit.text});
        } else {
          add(OpenModel{form.folder});
        }
        break;
      }
      case Dialog::export_:
        if (!s_.export_form.path.edit.text.empty()) add(DoExport{});
        break;
      case Dialog::help:
        add(ShowDialog{Dialog::none});
        break;
      case Dialog::none:
        break;
    }
  }

  /// Tab in the export dialog: the next picture, and with Shift the next format, so that the keyboard reaches
  /// all.
  void step_export(bool format) {
    const ExportForm& form = s_.export_form;
    SetExport set{form.subject, form.kind, form.scale, form.svg_text};
    if (format) {
      set.kind = static_cast<FileFormat>((static_cast<int>(form.kind) + 1) % 3);
    } else {
      const int subjects = form.kind == FileFormat::csv ? 2 : 3;
      set.subject = static_cast<Subject>((static_cast<int>(form.subject) + 1) % subjects);
    }
    add(set);
  }

  void field_key(const KeyDown& e) {
    const bool done = e.key == Key::enter && s_.focus == Field::option;
    if (e.key == Key::tab || done) return add(FocusField{Field::none});
    for (const PlacedField& placed : window_.fields) {
      if (placed.field != s_.focus) continue;
      const EditState& edit = field_of(s_, s_.focus)->edit;
      const KeyMeaning meaning = key_meaning(edit, metrics_.of(s_.focus), placed.look, e);
      if (const auto* command = std::get_if<EditCommand>(&meaning)) add(EditField{s_.focus, *command});
      if (const auto* request = std::get_if<EditorRequest>(&meaning)) field_request(*request, edit);
    }
  }

  void field_request(EditorRequest request, const EditState& edit) {
    switch (request) {
      case EditorRequest::copy:
        add(CopyText{std::string(edit.selected())});
        break;
      case EditorRequest::cut:
        add(CopyText{std::string(edit.selected())});
        add(EditField{s_.focus, Erase{}});
        break;
      case EditorRequest::paste:
        add(Paste{s_.focus});
        break;
    }
  }

  void window_key(const KeyDown& e) {
    if (e.modifiers.ctrl) {  // what was generated or appended can be taken back without going into the prompt
      const bool again = e.key == Key::y || (e.key == Key::z && e.modifiers.shift);
      if (again) return add(EditField{Field::prompt, Redo{}});
      if (e.key == Key::z) return add(EditField{Field::prompt, Undo{}});
    }
    switch (e.key) {
      case Key::enter:
        add(FocusField{Field::prompt});
        break;
      case Key::left:
        add(MoveHead{0, -1});
        break;
      case Key::right:
        add(MoveHead{0, 1});
        break;
      case Key::up:
        add(MoveHead{-1, 0});
        break;
      case Key::down:
        add(MoveHead{1, 0});
        break;
      case Key::home:
        add(SelectQuery{0});
        break;
      case Key::end:
        add(SelectQuery{-1});
        break;
      case Key::page_up:
        add(MoveQuery{-10});
        break;
      case Key::page_down:
        add(MoveQuery{10});
        break;
      case Key::tab:
        add(StepView{e.modifiers.shift ? -1 : 1});
        break;
      default:
        break;
    }
  }

  /// Commands of one character; they come as text so that every keyboard layout has them where it has the
  /// character.
  void typed_command(const std::string& text) {
    if (text == "[") return add(MoveQuery{-1});
    if (text == "]") return add(MoveQuery{1});
    if (text == "b" || text == "B") return add(SetStartToken{!s_.start_token});
    if (text == "f" || text == "F") return add(EditOption{});
    if (text.size() != 1) return;
    // The views that are shown, the one in the middle first.
    for (const bool middle : {true, false}) {
      for (const PlacedPicture& placed : window_.pictures)
        if ((placed.view->place == Place::tab) == middle && key_of_view(placed, text[0])) return;
    }
  }

  /// Whether the view has a command or an option of that key.
  bool key_of_view(const PlacedPicture& placed, char key) {
    for (const KeyCommand& command : placed.view->commands) {
      const std::size_t which = command.keys.find(key);
      if (which == std::string_view::npos) continue;
      ViewActions actions = command.act(context_now(placed), static_cast<int>(which));
      if (!actions.empty()) add(DoAll{std::move(actions)});
      return true;
    }
    for (const OptionSpec* option : placed.view->options) {
      const std::size_t which = option->keys.find(key);
      if (which == std::string_view::npos) continue;
      add(SetOption{option, stepped(*option, s_.options.value(*option), which == 0 ? 1 : -1)});
      return true;
    }
    return false;
  }

  const UiState& s_;
  const Snapshot& snapshot_;
  const WindowPicture& window_;
  FieldMetrics& metrics_;
  std::vector<Action> out_;
};

}  // namespace

std::vector<Action> actions_for(const Event& event, const UiState& state, const Snapshot& snapshot,
                                const WindowPicture& window, FieldMetrics& metrics) {
  Input input(state, snapshot, window, metrics);
  std::visit(input, event);
  return input.take();
}

}  // namespace headscope::app
