#include "app/input.h"

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

/// The zoom that a matrix region shows now.
Zoom shown(const viz::Region& region) {
  return {region.first_row, region.first_col, region.rows, region.cols};
}

/// Zooms by `factor` (above 1: closer) so that the cell under `at` stays there.
Zoom zoom_about(const viz::Region& region, Point at, double factor) {
  const double fx = (at.x - region.rect.x) / region.rect.w;
  const double fy = (at.y - region.rect.y) / region.rect.h;
  Zoom zoom = shown(region);
  const double row = zoom.row + fy * zoom.rows;
  const double col = zoom.col + fx * zoom.cols;
  zoom.rows /= factor;
  zoom.cols /= factor;
  zoom.row = row - fy * zoom.rows;
  zoom.col = col - fx * zoom.cols;
  return zoom;
}

class Input {
 public:
  Input(const UiState& state, const Snapshot& snapshot, const WindowPicture& window, FieldMetrics& metrics)
      : s_(state), snapshot_(snapshot), window_(window), metrics_(metrics) {}

  std::vector<Action> take() { return std::move(out_); }

  void operator()(const MouseMove& e) {
    if (!s_.drag) return;
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
    if (s_.focus == Field::prompt || s_.focus == Field::dimensions) add(FocusField{Field::none});
    if (u.picture) {
      if (left || e.button == 2) press_picture(e, *u.picture);
      return;
    }
    if (!u.target || !left) return;
    if (u.target->drag) {
      if (u.target->drag->kind == DragKind::temperature && e.clicks == 2) return add(SetTemperature{1});
      Drag drag = *u.target->drag;
      drag.start = e.at;
      add(StartDrag{drag});
    } else if (u.target->click) {
      add(*u.target->click);
    }
  }

  void operator()(const MouseUp& e) {
    if (!s_.drag) return;
    constexpr float kStill = 4;  // a press that moves less is a click
    if (s_.drag->kind == DragKind::encoding_pan && std::abs(e.at.x - s_.drag->start.x) < kStill &&
        std::abs(e.at.y - s_.drag->start.y) < kStill && e.button == 0)
      add(ToggleDimension{s_.drag->dimension});
    add(EndDrag{});
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
    ViewOptions options = s_.options;
    const std::string_view id = u.picture->view->id;
    const int step = e.dy > 0 ? -1 : 1;
    if (id == "heatmap" || id == "scores") {
      if (const viz::Region* region = matrix_at(*u.picture, e.at, Role::cell)) {
        const Point inside = within(*u.picture, e.at);
        options.zoom = zoom_about(*region, inside, std::pow(1.2, e.dy));
        add(SetOptions{options});
      }
      return;
    }
    if (id == "positions") {
      if (const viz::Region* region = matrix_at(*u.picture, e.at, Role::position)) {
        options.encoding_zoom = zoom_about(*region, within(*u.picture, e.at), std::pow(1.2, e.dy));
        add(SetOptions{options});
      }
      return;
    }
    if (id == "heads") {
      if (e.modifiers.ctrl) {
        options.heads_zoom *= e.dy > 0 ? 1.15 : 1 / 1.15;
      } else if (e.modifiers.shift) {
        options.heads_scroll_x += 0.5 * step;
      } else {
        options.heads_scroll += 0.5 * step;
        options.heads_scroll_x -= 0.5 * static_cast<double>(e.dx);
      }
    } else if (id == "query") {
      options.query_first += 3 * step;
    } else if (id == "tokens") {
      return add(ScrollChips{u.picture->context.options.chips_scroll + step});
    } else {
      return;
    }
    add(SetOptions{options});
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

  const viz::Region* matrix_at(const PlacedPicture& picture, Point at, Role role) const {
    const auto hit = viz::hit_test(picture.picture->regions, within(picture, at));
    if (!hit) return nullptr;
    const viz::Region& region = picture.picture->regions[static_cast<std::size_t>(hit->region)];
    return region.role == static_cast<int>(role) ? &region : nullptr;
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
    const auto hit = viz::hit_test(placed.picture->regions, within(placed, e.at));
    if (!hit) return;
    const viz::Region& region = placed.picture->regions[static_cast<std::size_t>(hit->region)];
    switch (static_cast<Role>(region.role)) {
      case Role::cell: {
        if (e.clicks == 2) {
          ViewOptions options = s_.options;
          options.zoom = {};
          return add(SetOptions{options});
        }
        if (e.button == 0) add(SelectQuery{hit->row});
        if (is_zoomed(region)) start_pan(DragKind::pan, e.at, region, hit->row);
        break;
      }
      case Role::head: {
        const int heads = std::max(1, snapshot_.run ? snapshot_.run->run->config.n_head : 1);
        add(SelectHead{region.id / heads, region.id % heads});
        break;
      }
      case Role::token:
        add(SelectQuery{region.id});
        add(ScrollChips{placed.context.options.chips_scroll});  // nothing moves under the mouse
        break;
      case Role::key:
      case Role::component:
        add(SelectQuery{region.id});
        break;
      case Role::next_token:
        add(AppendToken{region.id});
        break;
      case Role::position:
        if (is_zoomed(region)) {
          start_pan(DragKind::encoding_pan, e.at, region, hit->row);
        } else if (e.button == 0) {
          add(ToggleDimension{hit->row});
        }
        break;
      case Role::curve:
        break;
    }
  }

  static bool is_zoomed(const viz::Region& region) {
    return region.rows < region.row_count || region.cols < region.col_count;
  }

  void start_pan(DragKind kind, Point at, const viz::Region& region, int row) {
    Drag drag;
    drag.kind = kind;
    drag.start = at;
    drag.zoom = shown(region);
    drag.cells = {static_cast<float>(region.cols) / region.rect.w,
                  static_cast<float>(region.rows) / region.rect.h};
    drag.count = region.row_count;
    drag.dimension = row;
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
    if (e.key == Key::tab) return add(FocusField{Field::none});
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
      case EditorRequest::accept:
        if (s_.focus == Field::dimensions) add(FocusField{Field::none});
        break;
      case EditorRequest::leave:  // Esc is taken before
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
    ViewOptions o = s_.options;
    if (text == "[") return add(MoveQuery{-1});
    if (text == "]") return add(MoveQuery{1});
    if (text == ",") return add(SetTemperature{o.temperature - 0.05});
    if (text == ".") return add(SetTemperature{o.temperature + 0.05});
    if (text == "b" || text == "B") return add(SetStartToken{!s_.start_token});
    if (text == "f" || text == "F") return add(EditDimensions{});
    if (text == "d" || text == "D") return add(StepDimensions{text == "d" ? 1 : -1});
    if (text.size() == 1 && text[0] >= '1' && text[0] <= '9') return append_guess(text[0] - '1');
    if (text == "s" || text == "S") {
      o.scale = static_cast<ValueScale>((static_cast<int>(o.scale) + 1) % 3);
    } else if (text == "k" || text == "K") {
      o.without_key0 = !o.without_key0;
    } else if (text == "m" || text == "M") {
      o.value_max = stepped_maximum(o.value_max, text == "m" ? -1 : 1);
    } else if (text == "n" || text == "N") {
      o.next_count += text == "n" ? 1 : -1;
    } else if (text == "0") {
      (s_.view == "positions" ? o.encoding_zoom : o.zoom) = {};
    } else if (text == "+" || text == "=" || text == "-") {
      if (!zoom_about_selection(o, text == "-" ? 1 / 1.5 : 1.5)) return;
    } else {
      return;
    }
    add(SetOptions{o});
  }

  /// Keeps the chosen query in sight, and of the encodings the middle.
  bool zoom_about_selection(ViewOptions& o, double factor) const {
    if (!snapshot_.run) return false;
    if (s_.view == "positions") {
      const model::Config& config = snapshot_.run->run->config;
      Zoom zoom = o.encoding_zoom.rows > 0
                      ? o.encoding_zoom
                      : Zoom{0, 0, static_cast<double>(config.n_embd), static_cast<double>(config.n_ctx)};
      zoom.row += zoom.rows * (1 - 1 / factor) / 2;
      zoom.col += zoom.cols * (1 - 1 / factor) / 2;
      zoom.rows /= factor;
      zoom.cols /= factor;
      o.encoding_zoom = zoom;
      return true;
    }
    const int length = snapshot_.run->run->length();
    const int query = clamped(s_.selection, *snapshot_.run).query;
    double rows = o.zoom.rows > 0 ? o.zoom.rows : length;
    rows /= factor;
    o.zoom = {query + 0.5 - rows / 2, query + 0.5 - rows / 2, rows, rows};
    return true;
  }

  /// The n-th bar of the next-token picture, from above.
  void append_guess(int n) {
    for (const PlacedPicture& placed : window_.pictures) {
      if (placed.view->id != "next") continue;
      for (const viz::Region& region : placed.picture->regions)
        if (region.role == static_cast<int>(Role::next_token) && n-- == 0) return add(AppendToken{region.id});
    }
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
