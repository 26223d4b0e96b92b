// The widgets that are ours: views' pictures, the editor of texts, and the tooltip.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/ui.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

namespace compat = viz::compat;
using viz::FontStyle;
using viz::Point;
using viz::Rect;

namespace {

constexpr float kStill = 4;  // a press that moves less is a click

Point within(const PlacedPicture& picture, Point at) {
  return {at.x - picture.where.x, at.y - picture.where.y};
}

}  // namespace

void Ui::act(ViewActions todo) {
  if (!todo.empty()) actions.emplace_back(DoAll{std::move(todo)});
}

ViewActions Ui::meaning(const PlacedPicture& placed, Point pressed, Gesture gesture) const {
  if (!placed.view->on || !placed.context.run) return {};
  gesture.at = within(placed, gesture.at);
  const auto hit = viz::hit_test(placed.picture->regions, within(placed, pressed));
  return placed.view->on(placed.context_with(state.options), *placed.picture, hit ? &*hit : nullptr, gesture);
}

void Ui::picture(const View& view, const Rect& rect) {
  if (rect.w < 1 || rect.h < 1) return;
  ShownPicture shown = cache.get(
      view,
      make_context(&view, state, snapshot, *seen.answers, fonts(), rect.w, rect.h, seen.frame.device_scale),
      seen.answers);
  if (shown.stale) out.stale = true;
  PlacedPicture placed{&view,
                       std::move(shown.picture),
                       std::move(shown.scrolls),
                       std::move(shown.context),
                       std::move(shown.answers),
                       rect,
                       0};
  ImGui::PushID(view.id.data(), view.id.data() + view.id.size());
  player_.draw(*ImGui::GetWindowDrawList(), placed.picture->scene, {rect.x, rect.y}, 1);
  scroll_bars(placed);  // before the picture's item: what was submitted first gets the mouse
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::InvisibleButton("##picture", {rect.w, rect.h},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  placed.id = ImGui::GetItemID();
  note(std::string(view.title), rect);
  hold_picture(placed);
  if (ImGui::IsItemHovered()) {
    hover_picture(placed);
    if (const auto* e = seen.event_as<MouseWheel>())
      act(meaning(placed, e->at, {Gesture::Kind::wheel, e->at, {e->dx, e->dy}, e->modifiers}));
    if (const auto* e = seen.event_as<MouseDown>(); e && e->button == 1) open_menu(placed, e->at);
  }
  ImGui::PopID();
  out.pictures.push_back(std::move(placed));
}

void Ui::hover_picture(const PlacedPicture& placed) {
  if (!seen.frame.pointer || moment.held) return;
  const auto hit = viz::hit_test(placed.picture->regions, within(placed, *seen.frame.pointer));
  if (!hit || !placed.view->facts || !placed.context.run) return;
  Facts facts = placed.view->facts(placed.context, *placed.picture, *hit);
  viz::Scene overlay;
  overlay.width = placed.where.w;
  overlay.height = placed.where.h;
  overlay.background.a = 0;
  overlay.items = std::move(facts.overlay.items);
  player_.draw(*ImGui::GetWindowDrawList(), overlay, {placed.where.x, placed.where.y}, 1);
  tooltip(facts.tooltip(), std::move(facts.card));
  status_ = facts.status();
  out.cursor = Cursor::hand;
}

void Ui::hold_picture(const PlacedPicture& placed) {
  const auto* press = seen.event_as<MouseDown>();
  if (press && ImGui::IsItemHovered() && press->button != 1) {
    moment.pressed = placed.view;
    // The second press of two, of which the first closed what lay over the picture, is meant for that.
    if (press->clicks > 1 && moment.pressed_before != placed.view) return;
    Held& held = moment.held.emplace();
    held.view = placed.view;
    held.start = held.last = press->at;
    held.clicks = press->clicks;
    held.button = press->button;
    if (press->clicks == 1) actions.emplace_back(BeginClick{});
    compat::show_keyboard_item(true);  // what was clicked gets the keys that move
    return;
  }
  if (!moment.held || moment.held->view != placed.view) return;
  compat::show_keyboard_item(true);  // Dear ImGui hides it while the mouse holds something
  Held& held = *moment.held;
  out.cursor = held.moved ? Cursor::move : Cursor::hand;
  if (const auto* e = seen.event_as<MouseMove>()) {
    const bool moves = held.moved || std::hypot(e->at.x - held.start.x, e->at.y - held.start.y) >= kStill;
    if (!moves) return;
    ViewActions drag = meaning(
        placed, held.start, {Gesture::Kind::drag, e->at, {e->at.x - held.last.x, e->at.y - held.last.y}, {}});
    if (drag.empty()) return;  // a click, however shaky
    held.moved = true;
    held.last = e->at;
    act(std::move(drag));
  } else if (const auto* up = seen.event_as<MouseUp>(); up && up->button == held.button) {
    const Held was = held;
    moment.held.reset();
    if (was.moved || was.button != 0) return;
    if (was.clicks == 2) {
      ViewActions twice = meaning(placed, was.start, {Gesture::Kind::double_click, up->at, {}, {}});
      if (!twice.empty()) {
        actions.emplace_back(TakeBackClick{});
        return act(std::move(twice));
      }  // else it means nothing to the view: another click
    }
    act(meaning(placed, was.start, {Gesture::Kind::click, up->at, {}, {}}));
  }
}

void Ui::open_menu(const PlacedPicture& placed, std::optional<Point> mouse) {
  moment.open = Menu::picture;
  moment.menu_view = placed.view;
  moment.menu_lines.clear();
  const Point at = mouse.value_or(placed.where.center());
  moment.menu_at = {at.x + 2, at.y + 2};  // beside the mouse: nothing lies under it yet
  if (!placed.context.run) return;
  const auto hit = mouse ? viz::hit_test(placed.picture->regions, within(placed, at)) : std::nullopt;
  moment.menu_lines =
      menu_at(*placed.view, placed.context_with(state.options), *placed.picture, hit ? &*hit : nullptr);
}

void Ui::open_menu(const PlacedField& placed, Point at) {
  moment.open = Menu::text;
  moment.menu_field = moment.field = placed.field;
  moment.menu_at = {at.x + 2, at.y + 2};
}

void Ui::scroll_bars(const PlacedPicture& placed) {
  const float thick = kScrollBar * state.font_size;
  int index = 0;
  for (const Scroll& scroll : *placed.scrolls) {
    const Rect along{placed.where.x + scroll.along.x, placed.where.y + scroll.along.y, scroll.along.w,
                     scroll.along.h};
    const Rect bar = scroll.sideways ? Rect{along.x, along.bottom(), along.w, thick}
                                     : Rect{along.right(), along.y, thick, along.h};
    double first = scroll.first;
    const std::string name = "scroll bar " + std::to_string(index++);
    const bool moved = compat::scroll_bar(name.c_str(), {bar.x, bar.y}, {bar.right(), bar.bottom()},
                                          scroll.sideways, scroll.shown, scroll.total, first);
    out.items.push_back({std::string(placed.view->title) + " " + name, bar, 0, layer_, true});
    if (moved) act(scroll.to(first));
  }
}

void Ui::field(Field field, const Rect& rect, std::string placeholder) {
  EditorLook look;
  look.rect = rect;
  look.font_size = state.font_size;
  look.single_line = true;
  look.placeholder = std::move(placeholder);
  editor(field, std::move(look));
}

void Ui::editor(Field field, EditorLook look) {
  const TextField& text = field_of(state, field);
  EditMetrics& metric = metrics.of(field);
  const bool covered = moment.menu != Menu::none || (layer_ == 0 && state.dialog != Dialog::none);
  look.theme = &theme();
  look.fonts = seen.fonts;
  look.focused = moment.field == field && moment.keyboard_item == 0 && !covered && !seen.frame.still;
  look.caret_visible = seen.frame.caret_on;
  look.scroll = text.scroll;
  look.scroll = clamped_scroll(text.edit, metric, look);

  ImGui::PushID(static_cast<int>(field));
  player_.draw(*ImGui::GetWindowDrawList(), editor_scene(text.edit, metric, look), {0, 0}, 1);
  if (const ScrollRange range = scroll_range(text.edit, metric, look); range.total > range.shown) {
    double first = static_cast<double>(look.scroll);
    const float thick = kScrollBar * state.font_size, inset = u(3);
    const Rect bar{look.rect.right() - thick - inset, look.rect.y + inset, thick, look.rect.h - 2 * inset};
    if (compat::scroll_bar("scroll bar", {bar.x, bar.y}, {bar.right(), bar.bottom()}, false,
                           static_cast<double>(range.shown), static_cast<double>(range.total), first))
      actions.emplace_back(ScrollField{field, static_cast<float>(first)});
  }
  ImGui::SetCursorScreenPos({look.rect.x, look.rect.y});
  ImGui::InvisibleButton("##text", {look.rect.w, look.rect.h});
  const PlacedField placed{field, look, ImGui::GetItemID(), layer_};
  constexpr std::array kNames{"prompt", "numbers", "file",          "size of the picture",
                              "folder", "change",  "second prompt", "session"};
  static_assert(kNames.size() == kFields);
  note(kNames[static_cast<std::size_t>(field)], look.rect, true, true);
  if (look.focused) out.caret = caret_rect(text.edit, metric, look).inset(-u(2));
  if (ImGui::IsItemHovered()) {
    out.cursor = Cursor::text;
    if (const auto* e = seen.event_as<MouseWheel>())
      actions.emplace_back(ScrollField{field, scroll_by_wheel(text.edit, metric, look, e->dy)});
  }
  hold_text(placed);
  ImGui::PopID();
  out.fields.push_back(placed);
}

void Ui::hold_text(const PlacedField& placed) {
  const TextState& edit = field_of(state, placed.field).edit;
  EditMetrics& metric = metrics.of(placed.field);
  const auto select_to = [&](const TextDrag& drag, Point mouse) {
    actions.emplace_back(TypeInField{placed.field, text_drag(edit, metric, placed.look, drag, mouse)});
  };
  const auto* press = seen.event_as<MouseDown>();
  if (press && press->button == 0 && ImGui::IsItemHovered()) {
    moment.field = placed.field;
    Held& held = moment.held.emplace();
    held.field = placed.field;
    held.text = begin_text_drag(edit, metric, placed.look, *press);
    return select_to(moment.held->text, press->at);
  }
  if (press && press->button == 1 && ImGui::IsItemHovered()) return open_menu(placed, press->at);
  if (!moment.held || moment.held->view || moment.held->field != placed.field) return;
  out.cursor = Cursor::text;
  if (const auto* e = seen.event_as<MouseMove>()) select_to(moment.held->text, e->at);
  if (const auto* e = seen.event_as<MouseUp>(); e && e->button == 0) moment.held.reset();
}

void Ui::tooltip(std::vector<std::string> lines, viz::Scene card) {
  tip_lines_ = std::move(lines);
  tip_card_ = std::move(card);
}

void Ui::finish() {
  const auto pointer = seen.frame.pointer;
  if (tip_lines_.empty() || !pointer) return;
  constexpr float kSize = 0.93F;
  const Rect window{0, 0, seen.frame.width, seen.frame.height};
  const float pad = u(10), high = line_height(1);
  const bool carded = tip_card_.width > 0;
  float wide = tip_card_.width;
  for (const std::string& line : tip_lines_) wide = std::max(wide, width(line, FontStyle::medium, kSize));
  wide = std::min(wide, window.w * 0.6F) + 2 * pad;
  const float card_height = carded ? tip_card_.height + u(8) : 0;
  const float height = high * static_cast<float>(tip_lines_.size()) + u(12) + card_height;
  Rect box{pointer->x + u(16), pointer->y + u(18), wide, height};
  if (box.right() > window.right() - u(4)) box.x = std::max(window.x, pointer->x - u(10) - wide);
  if (box.bottom() > window.bottom() - u(4)) box.y = std::max(window.y, pointer->y - u(10) - height);
  begin_scene();
  fill(box, theme().raised, u(6));
  stroke(box, theme().line, 1, u(6));
  float y = box.y + u(6);
  for (std::size_t i = 0; i < tip_lines_.size(); ++i) {
    text(tip_lines_[i], {box.x + pad, y, box.w - 2 * pad, high}, i == 0 ? theme().text : theme().text_muted,
         i == 0 ? FontStyle::medium : FontStyle::regular, kSize);
    y += high;
    if (i > 0 || !carded) continue;
    const Rect face{box.x + pad, y + u(2), tip_card_.width, tip_card_.height};
    fill(face, tip_card_.background);
    viz::append(scene(), tip_card_, {face.x, face.y});
    y += card_height;
  }
  shadow(*ImGui::GetForegroundDrawList(), box, u(6), u(10));
  player_.draw(*ImGui::GetForegroundDrawList(), scene(), {0, 0}, 1);
  out.scenes.push_back(std::move(scenes_.back()));
  scenes_.pop_back();
}

}  // namespace headscope::app
