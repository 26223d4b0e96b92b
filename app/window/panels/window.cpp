#include <algorithm>
#include <utility>

#include "app/window/panels/panels.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// The widths of the panes: those the user set, limited by the window. Without `right` there is no pane for
/// the next token.
PaneSizes columns(const Ui& ui, float width, float height, bool right) {
  const PaneSizes& set = ui.state.panes;
  const float min_width = ui.u(200), min_view = std::max(ui.u(320), width * 0.3F);
  PaneSizes c;
  c.heads =
      set.heads > 0 ? set.heads : std::clamp(std::min(width * 0.27F, height * 0.8F), ui.u(232), ui.u(900));
  c.next = set.next > 0 ? set.next : std::clamp(width * 0.2F, ui.u(216), ui.u(400));
  c.heads = std::clamp(c.heads, min_width, std::max(min_width, width - min_view - min_width));
  c.next = right ? std::clamp(c.next, min_width, std::max(min_width, width - min_view - c.heads)) : 0;
  const float middle = width - c.heads - c.next;
  c.second_view = set.second_view > 0
                      ? std::clamp(set.second_view, min_width, std::max(min_width, middle - min_width))
                      : middle / 2;
  return c;
}

/// A draggable gap between panes. Dragging it to the right grows the pane `width`, or shrinks it if `sign` is
/// negative.
void draw_splitter(Ui& ui, const char* name, const Rect& gap, const PaneSizes& now, float PaneSizes::*width,
                   float sign) {
  const auto moved = ui.splitter(name, gap, now.*width, sign);
  if (!moved) return;
  PaneSizes panes = ui.state.panes;
  panes.*width = *moved;
  ui.actions.emplace_back(change(&UiState::panes, panes));
}

/// Whether the open stop points at something in the pane of a view in this place.
bool points_to(const TourSlice& state, Place place) {
  const TourStop* stop = tour_stop(state);
  return stop != nullptr && std::ranges::any_of(stop->points, [&](const TourPoint& point) {
           return point.view != nullptr && point.view->place == place;
         });
}

/// Whether the stop needs the heads pane: to wait for something there, or to point at it. The list of tours,
/// which is open at the first start, leaves it in the window.
bool needs_heads(const UiState& state) {
  const TourStop* stop = tour_stop(state);
  return stop == nullptr ||
         ((stop->wait != nullptr && stop->wait->needs_heads) || points_to(state, Place::left));
}

/// Whether the stop needs the next token. One that points only at other things gives its room to the view.
bool needs_next(const UiState& state) {
  const TourStop* stop = tour_stop(state);
  return stop == nullptr || stop->points.empty() || points_to(state, Place::right);
}

/// In a wide window a tour has its own column. Otherwise it replaces the heads, which move to the column of
/// the next token if the stop needs them. The next token is left out if room is short, beside two views or
/// because the stop points only at the view, so that views keep their size.
void draw_body(Ui& ui, Rect body) {
  const float gap = ui.u(10);
  const bool tour = ui.state.tour.open, wide = body.w >= ui.u(1250);
  if (tour && wide) draw_tour(ui, cut_left(body, ui.u(300), gap));
  const bool instead = tour && !wide, heads_right = instead && needs_heads(ui.state);
  const bool two = !ui.state.second_view.empty();
  const bool has_right =
      heads_right || (instead ? body.w >= ui.u(900) && needs_next(ui.state) : wide || !two);
  PaneSizes c = columns(ui, body.w - (has_right ? 2 : 1) * gap, body.h, has_right);
  if (instead) c.heads = std::max(c.heads, ui.u(232));
  const Rect left = cut_left(body, c.heads, gap);
  const Rect right = cut_right(body, c.next, has_right ? gap : 0);
  const Rect second_view = two ? cut_right(body, std::round(c.second_view - gap / 2), gap) : Rect{};
  if (instead) {
    draw_tour(ui, left);
  } else {
    draw_side_view(ui, left, Place::left);
  }
  draw_tabs(ui, body, false);
  if (two) draw_tabs(ui, second_view, true);
  if (has_right) draw_side_view(ui, right, heads_right ? Place::left : Place::right);
  draw_splitter(ui, "heads splitter", {left.right(), body.y, gap, body.h}, c, &PaneSizes::heads, 1);
  if (two)
    draw_splitter(ui, "middle splitter", {body.right(), body.y, gap, body.h}, c, &PaneSizes::second_view, -1);
  if (has_right)
    draw_splitter(ui, "next splitter", {right.x - gap, body.y, gap, body.h}, c, &PaneSizes::next, -1);
}

/// Closes menus and moves the caret when a dialog opens or closes.
void follow_dialog(Ui& ui) {
  WidgetState& widgets = ui.widgets;
  if (widgets.dialog == ui.state.dialog) return;
  if (GImGui->OpenPopupStack.Size > 0) ImGui::ClosePopupToLevel(0, true);
  ui.out.settling = true;
  widgets.dialog = ui.state.dialog;
  widgets.scrolled_for.clear();  // a dialog opens where it should, wherever it was scrolled last time
  widgets.keyboard_item = 0;
  widgets.leave_keyboard = widgets.dialog == Dialog::none;
  widgets.press.reset();
  widgets.field = first_field(widgets.dialog);
}

/// Moves the caret into the field of a bar that was just opened.
void follow_strips(Ui& ui) {
  WidgetState& widgets = ui.widgets;
  const bool edits = ui.state.edits_bar.open, second = ui.state.second.on;
  if (edits && !widgets.edits) widgets.field = Field::edits, widgets.keyboard_item = 0;
  if (second && !widgets.second) widgets.field = Field::second, widgets.keyboard_item = 0;
  widgets.edits = edits, widgets.second = second;
}

void draw_parts(Ui& ui) {
  follow_dialog(ui);
  follow_strips(ui);
  if (const auto* press = ui.input.event_as<MouseDown>()) {
    ui.widgets.press_clicks = press->clicks;
    if (press->clicks == 1) ui.widgets.pressed = nullptr;
  }
  const bool menu_open =
      ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel) &&
      ui.state.dialog == Dialog::none;
  if (!menu_open && (ui.widgets.keyboard_item == 0 || ui.widgets.leave_keyboard)) {
    viz::compat::show_keyboard_item(false);
    ui.widgets.leave_keyboard = false;
  }
  const Rect window{0, 0, ui.input.frame.width, ui.input.frame.height};
  ui.begin_window();
  const float margin = ui.u(10);
  const float tight = window.h < ui.u(800) ? ui.u(2) : 0;  // less between the parts of a low window
  Rect rest{margin, 0, window.w - 2 * margin, window.h};
  cut_top(rest, ui.u(6) - tight);
  draw_top_bar(ui, cut_top(rest, ui.u(32), ui.u(6) - tight));
  draw_prompt(ui, rest);
  cut_top(rest, ui.u(8) - tight);
  // Fixed while a brush is used on the picture, so that bars that come or grow are not drawn over it.
  const bool holds_picture = ui.widgets.press && ui.widgets.press->picture;
  ImGui::PushClipRect({0, rest.y}, {window.w, holds_picture ? rest.y + ui.widgets.strips : window.h}, true);
  Rect below = rest;
  draw_edit_bars(ui, below);
  ImGui::PopClipRect();
  if (!holds_picture) ui.widgets.strips = below.y - rest.y;
  cut_top(rest, ui.widgets.strips);
  const Rect status = cut_bottom(rest, ui.u(24));
  draw_bars(ui, rest);
  rest.h = std::max(ui.u(120), rest.h);
  draw_body(ui, rest);
  draw_status(ui, status);
  draw_points(ui);
  draw_menus(ui);
  draw_edit_menu(ui);
  draw_export(ui);
  draw_open(ui);
  draw_help(ui);
  draw_palette(ui);
  draw_save(ui);
  ui.end_window();
  ui.finish();
  if (std::exchange(ui.widgets.menu, ui.out.menu) != ui.out.menu) ui.out.settling = true;
  ui.widgets.close_menu = false;
  ui.widgets.focus = 0;
  if (!ImGui::IsMouseDown(0) && !ImGui::IsMouseDown(2)) ui.widgets.press.reset();
  // A field shows its focus with the caret.
  const unsigned at = viz::compat::keyboard_item();
  const auto& fields = ui.out.fields;
  ui.widgets.keyboard_item = std::ranges::count(fields, at, &PlacedField::id) > 0 ? 0 : at;
  // If its field is gone, the caret returns to the prompt.
  if (ui.state.dialog == Dialog::none &&
      std::ranges::count(fields, ui.widgets.field, &PlacedField::field) == 0)
    ui.widgets.field = Field::prompt;
}

}  // namespace

WindowPicture draw_window(Gui& gui, const FrameInput& input, UiMemory& memory) {
  WindowPicture out;
  gui.frame(input.frame, input.event, input.state.dark, input.state.font_size, [&](viz::ImguiPlayer& player) {
    Ui ui(input, memory, player, out);
    draw_parts(ui);
  });
  memory.cache.drop_unused();
  out.asked = input.answers->asked();
  return out;
}

}  // namespace headscope::app
