// The widgets that Dear ImGui does not have: views' pictures, text editors, splitters and the tooltip.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/views/parts/frame.h"
#include "app/window/commands.h"
#include "app/window/ui.h"
#include "viz/players/imgui_compat.h"

namespace headscope::app {

namespace compat = viz::compat;
using viz::Color;
using viz::FontStyle;
using viz::Point;
using viz::Rect;

namespace {

constexpr float kStill = 4;   // a press that moves less is a click
constexpr float kOffset = 2;  // of a menu from the mouse, so that none of its lines is there yet

Point within(const PlacedPicture& picture, Point at) {
  return {at.x - picture.where.x, at.y - picture.where.y};
}

/// Whether a picture still shows what a gesture began on: the same side of a run of the same tokens. If not,
/// its cells mean other queries and keys.
bool shows_same(const ViewContext& now, const ViewContext& pressed) {
  const bool same_tokens =
      now.run == pressed.run || (now.run && pressed.run && now.run->run->tokens == pressed.run->run->tokens);
  return now.side == pressed.side && same_tokens;
}

}  // namespace

std::optional<float> Ui::splitter(const char* name, const Rect& rect, float width, float sign) {
  invisible_button(name, rect);
  begin_group();
  record_item(name, rect);
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(0);
  if (held || ImGui::IsItemHovered()) {
    const float w = u(3);
    fill({rect.center().x - w / 2, rect.y + u(8), w, rect.h - u(16)}, theme().accent, w / 2);
    out.cursor = Cursor::resize_x;
  }
  const auto* press = input.event_as<MouseDown>();
  if (press && press->button == 0 && press->clicks == 2 && ImGui::IsItemHovered()) {
    ImGui::ClearActiveID();
    return 0;
  }
  float by = u(16) * static_cast<float>(steps_by_keys());
  if (held) by = ImGui::GetMousePos().x - GImGui->ActiveIdClickOffset.x - ImGui::GetItemRectMin().x;
  if (std::abs(by) < 0.5F) return std::nullopt;  // a press is no drag yet
  return std::clamp(width + sign * by, 1.F, kWidestPane);
}

void Ui::act(const PlacedPicture& placed, ViewActions todo) {
  if (!todo.empty()) actions.emplace_back(DoAll{std::move(todo), false, placed.context.side});
}

ViewActions Ui::meaning(const PlacedPicture& placed, Point pressed, Gesture gesture) const {
  if (!placed.context.run) return {};
  gesture.at = within(placed, gesture.at);
  const auto hit = viz::hit_test(placed.picture->regions, within(placed, pressed));
  return placed.view->on(placed.context_with(state.options), *placed.picture, hit ? &*hit : nullptr, gesture);
}

void Ui::picture(const View& view, const Rect& rect, Side side) {
  if (rect.w < 1 || rect.h < 1) return;
  const ViewContext wanted = context(nullptr, rect.w, rect.h, input.frame.device_scale);
  PlacedPicture placed{memory.cache.get(view, on_side(side, view, wanted), input.answers), &view, rect};
  if (placed.stale) out.stale = true;
  ImGui::PushID(view.id.data(), view.id.data() + view.id.size());
  player_.draw(*ImGui::GetWindowDrawList(), placed.picture->scene, {rect.x, rect.y}, 1);
  scroll_bars(placed);  // before the picture's item: the item submitted first gets the mouse
  invisible_button("picture", rect, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  placed.id = ImGui::GetItemID();
  begin_group();
  record_item(std::string(view.title), rect);
  begin_group();
  hold_picture(placed);
  if (ImGui::IsItemHovered()) {
    hover_picture(placed);
    if (const auto* e = input.event_as<MouseWheel>())
      act(placed, meaning(placed, e->at, {Gesture::Kind::wheel, e->at, {e->dx, e->dy}, e->modifiers}));
    if (const auto* e = input.event_as<MouseDown>(); e && e->button == 1) open_menu(placed, e->at);
  }
  ImGui::PopID();
  out.pictures.push_back(std::move(placed));
}

Rect Ui::page(const viz::Scene& scene, const Rect& rect) {
  if (scene.width <= 0 || scene.height <= 0) return {rect.x, rect.y, 0, 0};
  const float scale = std::min({1.F, rect.w / scene.width, rect.h / scene.height});
  const float w = scale * scene.width, h = scale * scene.height;
  const Rect where{std::round(rect.center().x - w / 2), std::round(rect.center().y - h / 2), w, h};
  player_.draw(*ImGui::GetWindowDrawList(), scene, {where.x, where.y}, scale);
  return where;
}

void Ui::hover_picture(const PlacedPicture& placed) {
  if (!input.frame.pointer || widgets.press) return;
  const Point at = within(placed, *input.frame.pointer);
  const auto hit = viz::hit_test(placed.picture->regions, at);
  if (!hit && at.y < placed.picture->cut_heading) {
    constexpr float kColumns = 60;
    std::vector<std::string> lines{placed.picture->title};
    std::ranges::move(wrapped(placed.picture->subtitle, kColumns * width("0"), 1), std::back_inserter(lines));
    tip_ = {.lines = std::move(lines)};
  }
  if (!hit) return define_text(placed, at);
  if (!placed.context.run) return;
  Facts facts = placed.view->facts(placed.context, *placed.picture, *hit);
  const viz::Scene overlay{placed.where.w, placed.where.h, {0, 0, 0, 0}, std::move(facts.overlay.items)};
  player_.draw(*ImGui::GetWindowDrawList(), overlay, {placed.where.x, placed.where.y}, 1);
  tip_ = {.lines = facts.tooltip(), .card = std::move(facts.card), .beside = placed.where};
  status_ = facts.status();
  out.cursor = Cursor::hand;
}

/// Titles, headings and legends have no regions: their text says what they are about. A text that is a token
/// of the prompt means itself.
void Ui::define_text(const PlacedPicture& placed, Point at) {
  const std::string_view words = viz::text_at(placed.picture->scene, at);
  const PromptRun* run = placed.context.run.get();
  if (run == nullptr || std::ranges::find(run->tokens.labels, words) == run->tokens.labels.end())
    define(words);
}

void Ui::hold_picture(const PlacedPicture& placed) {
  const auto* press = input.event_as<MouseDown>();
  if (press && ImGui::IsItemHovered() && press->button != 1) {
    // If the first press of two closed a popup over the picture, the second press was meant for the popup.
    const bool first_was_here = std::exchange(widgets.pressed, placed.view) == placed.view;
    if (press->clicks > 1 && !first_was_here) return;
    widgets.press = MousePress{.picture = placed, .down = *press, .last = press->at};
    if (press->clicks == 1) actions.emplace_back(BeginClick{});
    compat::show_keyboard_item(true);  // the clicked picture gets the keys that move
    return;
  }
  if (!widgets.press || !widgets.press->picture || widgets.press->picture->id != placed.id) return;
  if (!shows_same(placed.context, widgets.press->picture->context)) return widgets.press.reset();
  compat::show_keyboard_item(true);  // Dear ImGui hides the focus during a drag
  MousePress& hold = *widgets.press;
  const Point start = hold.down.at;
  out.cursor = hold.moved ? Cursor::move : Cursor::hand;
  if (const auto* e = input.event_as<MouseMove>()) {
    if (!hold.moved && std::hypot(e->at.x - start.x, e->at.y - start.y) < kStill) return;
    ViewActions drag = meaning(
        placed, start, {Gesture::Kind::drag, e->at, {e->at.x - hold.last.x, e->at.y - hold.last.y}, {}});
    if (drag.empty()) return;  // a click, however shaky
    hold.moved = true;
    hold.last = e->at;
    act(placed, std::move(drag));
  } else if (const auto* up = input.event_as<MouseUp>(); up && up->button == hold.down.button) {
    const bool is_click = !hold.moved && up->button == 0, is_second = hold.down.clicks == 2;
    widgets.press.reset();
    if (!is_click) return;
    if (is_second) {
      ViewActions twice = meaning(placed, start, {Gesture::Kind::double_click, up->at, {}, {}});
      if (!twice.empty()) {
        actions.emplace_back(UndoClick{});
        return act(placed, std::move(twice));
      }  // else the view ignores double clicks: treat it as another click
    }
    act(placed, meaning(placed, start, {Gesture::Kind::click, up->at, {}, {}}));
  }
}

void Ui::open_menu(Point at, std::vector<MenuItem> items) {
  widgets.open = Menu::context;
  widgets.menu_at = at;
  widgets.menu_items = std::move(items);
}

void Ui::open_menu(const PlacedPicture& placed, std::optional<Point> mouse) {
  const View& view = *placed.view;
  const Point at = mouse.value_or(placed.where.center());
  std::vector<MenuItem> items;
  if (placed.context.run) {
    const auto hit = mouse ? viz::hit_test(placed.picture->regions, within(placed, at)) : std::nullopt;
    for (MenuLine& line :
         menu_at(view, placed.context_with(state.options), *placed.picture, hit ? &*hit : nullptr))
      items.push_back({std::move(line.label), {DoAll{std::move(line.actions), false, placed.context.side}}});
  }
  const std::string id(view.id);
  items.push_back({.label = "Export picture…",
                   .actions = {ShowDialog{Dialog::export_, id}},
                   .begins_group = !items.empty()});
  items.push_back({"Copy data", {CopyNumbers{id}}});
  if (view.place == Place::tab) {
    std::vector<Action> acts{toggle_second_view(state)};
    if (id == state.second_view) acts.insert(acts.begin(), ShowView{id});
    const bool alone = state.second_view.empty();
    items.push_back({alone ? "Add a second view" : "Show only this view", std::move(acts)});
  }
  open_menu({at.x + kOffset, at.y + kOffset}, std::move(items));
}

void Ui::open_menu(const PlacedField& placed, Point at) {
  const Field field = widgets.field = placed.field;
  const TextState& edit = field_of(state, field).edit;
  const auto item = [&](const char* label, const char* keys, EditorRequest request, const char* unavailable) {
    return MenuItem{.label = label,
                    .actions = meaning_of(request, field, edit),
                    .right = keys,
                    .unavailable = unavailable};
  };
  const char* const unselected = edit.selection().empty() ? "No text is selected." : "";
  std::vector<MenuItem> items{
      item("Cut", "Ctrl+X", EditorRequest::cut, unselected),
      item("Copy", "Ctrl+C", EditorRequest::copy, unselected),
      item("Paste", "Ctrl+V", EditorRequest::paste, ""),
      {.label = "Select all", .actions = {TypeInField{field, kSelectAll}}, .right = "Ctrl+A"},
      item("Undo", "Ctrl+Z", EditorRequest::undo,
           can_undo(state, field, false) ? "" : "There is nothing to undo."),
      item("Redo", "Ctrl+Shift+Z", EditorRequest::redo,
           can_undo(state, field, true) ? "" : "There is nothing to redo.")};
  items[4].begins_group = true;
  open_menu({at.x + kOffset, at.y + kOffset}, std::move(items));
}

void Ui::context_menu() {
  float wide = u(100);
  for (const MenuItem& item : widgets.menu_items)
    wide = std::max(wide, width(item.label, FontStyle::medium) + u(56) + width(item.right));
  if (!begin_menu(Menu::context, wide)) return;
  for (const MenuItem& item : widgets.menu_items) {
    row(item);
    if (!item.tip.empty()) tip(item.label, item.tip, item.unavailable);
  }
  end_menu();
}

void Ui::scroll_bars(const PlacedPicture& placed) {
  if (!placed.context.run) return;
  const float thick = kScrollBar * state.font_size;
  int index = 0;
  for (const Scroll& scroll : placed.view->scrolls(placed.context, *placed.picture)) {
    const Rect along{placed.where.x + scroll.along.x, placed.where.y + scroll.along.y, scroll.along.w,
                     scroll.along.h};
    const Rect bar = scroll.sideways ? Rect{along.x, along.bottom(), along.w, thick}
                                     : Rect{along.right(), along.y, thick, along.h};
    const std::string name = "scroll bar " + std::to_string(index++);
    const auto first =
        compat::scroll_bar(name, bar, scroll.sideways, scroll.first, scroll.shown, scroll.total);
    out.items.push_back({std::string(placed.view->title) + " " + name, bar, 0, layer_, true});
    if (first) act(placed, scroll.to(*first));
  }
}

void Ui::field(Field field, const Rect& rect, std::string placeholder) {
  editor(field, {.rect = rect,
                 .font_size = state.font_size,
                 .single_line = true,
                 .placeholder = std::move(placeholder)});
}

void Ui::editor(Field field, EditorLook look) {
  const TextField& text = field_of(state, field);
  EditMetrics& metric = memory.metrics[field];
  const bool covered = widgets.menu != Menu::none || (layer_ == 0 && state.dialog != Dialog::none);
  look.theme = &theme();
  look.fonts = input.fonts;
  look.focused = widgets.field == field && widgets.keyboard_item == 0 && !covered && !input.frame.still;
  look.caret_visible = input.frame.caret_on;
  look.scroll = text.scroll;
  const EditorExtent extent = editor_extent(text.edit, metric, look);
  look.scroll = extent.scroll;

  ImGui::PushID(static_cast<int>(field));
  player_.draw(*ImGui::GetWindowDrawList(), editor_scene(text.edit, metric, look), {0, 0}, 1);
  if (extent.total > extent.shown) {
    const float thick = kScrollBar * state.font_size, inset = u(3);
    const Rect bar{look.rect.right() - thick - inset, look.rect.y + inset, thick, look.rect.h - 2 * inset};
    if (const auto first =
            compat::scroll_bar("scroll bar", bar, false, look.scroll, extent.shown, extent.total))
      actions.emplace_back(scroll_field(field, static_cast<float>(*first)));
  }
  invisible_button("text", look.rect);
  const PlacedField placed{field, look, ImGui::GetItemID(), layer_};
  begin_group();
  record_item(std::string(name_of(field)), look.rect, true, true);
  begin_group();
  if (look.focused) out.caret = true;
  if (ImGui::IsItemHovered()) {
    out.cursor = Cursor::text;
    if (const auto* e = input.event_as<MouseWheel>())  // two rows a notch
      actions.emplace_back(scroll_field(field, look.scroll - 2 * extent.row_height * e->dy));
  }
  hold_text(placed);
  ImGui::PopID();
  out.fields.push_back(placed);
}

void Ui::hold_text(const PlacedField& placed) {
  const TextState& edit = field_of(state, placed.field).edit;
  EditMetrics& metric = memory.metrics[placed.field];
  const auto select_to = [&](const TextDrag& drag, Point mouse) {
    actions.emplace_back(TypeInField{placed.field, text_drag(edit, metric, placed.look, drag, mouse)});
  };
  const auto* press = input.event_as<MouseDown>();
  if (press && press->button == 0 && ImGui::IsItemHovered()) {
    widgets.field = placed.field;
    widgets.press =
        MousePress{.field = placed.field, .text = begin_text_drag(edit, metric, placed.look, *press)};
    return select_to(widgets.press->text, press->at);
  }
  if (press && press->button == 1 && ImGui::IsItemHovered()) return open_menu(placed, press->at);
  if (!widgets.press || widgets.press->picture || widgets.press->field != placed.field) return;
  out.cursor = Cursor::text;
  if (const auto* e = input.event_as<MouseMove>()) select_to(widgets.press->text, e->at);
  if (const auto* e = input.event_as<MouseUp>(); e && e->button == 0) widgets.press.reset();
}

void Ui::complain(const Rect& field, std::string words) {
  stroke(field, theme().error, u(2), u(7));
  tip_ = {.lines = {std::move(words)}, .under = field};
}

void Ui::define(std::string_view label) {
  tip_.term = find_term(state.guide->glossary, label);
  if (tip_.term != nullptr) out.over_term = true;
}

void Ui::tip(std::string_view label, const std::string& words, const std::string& unavailable) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  if (!words.empty() || !unavailable.empty()) tip_ = {.lines = {words, unavailable}};
  define(label);
  if (unavailable.empty()) out.cursor = Cursor::hand;
}

void Ui::finish() {
  // After a command by a key, another thing may have come under the mouse, which nobody points at.
  const bool points = input.frame.pointer && input.frame.tips;
  if (!tip_.under && !points) return;
  const float max_width = input.frame.width * 0.57F;  // of a line; a heading's letters are somewhat wider
  const float pad = u(10), high = line_height(1);
  viz::Scene sheet;
  float wide = 0, bottom = u(6);
  const auto add = [&](const std::string& words, float room, FontStyle style, Color color) {
    for (const std::string& line : wrapped(words, room, kSmall)) {
      sheet.add(viz::make_text_middle(fonts(), line, {pad, bottom + high / 2}, kSmall * state.font_size,
                                      color, style));
      wide = std::max(wide, std::ceil(width(line, style, kSmall)));
      bottom += high;
    }
  };
  std::erase(tip_.lines, "");
  const bool carded = !tip_.lines.empty() && tip_.card.width > 0;
  for (const std::string& text : tip_.lines) {
    const bool first = &text == tip_.lines.data();
    add(text, max_width, first ? FontStyle::medium : FontStyle::regular,
        first ? theme().text : theme().text_muted);
    if (!first || !carded) continue;
    const Rect face{pad, bottom + u(2), tip_.card.width, tip_.card.height};
    sheet.add(viz::FillRect{face, tip_.card.background});
    viz::append(sheet, tip_.card, {face.x, face.y});
    wide = std::max(wide, face.w);
    bottom += face.h + u(8);
  }
  if (tip_.term != nullptr && input.frame.defines) {
    if (!tip_.lines.empty()) bottom += high;
    add(tip_.term->term, max_width, FontStyle::medium, theme().text);
    add(tip_.term->text, std::min(54 * width("0"), max_width), FontStyle::regular, theme().text_muted);
    if (!tip_.term->formula.empty())
      add(tip_.term->formula, input.frame.width, FontStyle::mono, theme().text_muted);
  }
  if (sheet.items.empty()) return;
  const Point at =
      tip_.under ? Point{tip_.under->x - u(16), tip_.under->bottom() - u(14)} : *input.frame.pointer;
  Rect box{at.x + u(16), at.y + u(18), wide + 2 * pad, bottom + u(6)};
  if (box.right() > input.frame.width - u(4)) box.x = std::max(0.F, at.x - u(10) - box.w);
  if (box.bottom() > input.frame.height - u(4)) box.y = std::max(0.F, at.y - u(10) - box.h);
  // A picture in it stands beside the one that it enlarges a part of, where that leaves room.
  if (const float right = tip_.beside.right() + u(8); carded && right + box.w < input.frame.width)
    box.x = right;
  layers_.emplace_back().scene = {input.frame.width, input.frame.height, {0, 0, 0, 0}, {}};
  fill(box, theme().raised, u(6));
  stroke(box, theme().line, 1, u(6));
  viz::append(scene(), sheet, {box.x, box.y});
  shadow(*ImGui::GetForegroundDrawList(), box, u(6), u(10));
  player_.draw(*ImGui::GetForegroundDrawList(), scene(), {0, 0}, 1);
  out.scenes.push_back(std::move(scene()));
  layers_.pop_back();
}

void Ui::explain(const Rect& rect, std::string_view label, const std::string& words) {
  const auto pointer = input.frame.pointer;
  if (!pointer || !rect.contains(*pointer) || !ImGui::IsWindowHovered()) return;
  tip_ = {.lines = {words}};
  define(label);
}

}  // namespace headscope::app
