#include "app/window/ui.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "viz/players/imgui_compat.h"

namespace headscope::app {

namespace compat = viz::compat;
using viz::Color;
using viz::FontStyle;
using viz::Point;
using viz::Rect;

namespace {

/// Dear ImGui rejects empty items, which occur in very small windows.
ImVec2 at_least_a_pixel(const Rect& rect) {
  return {std::max(1.0F, rect.w), std::max(1.0F, rect.h)};
}

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                    ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                                    ImGuiWindowFlags_NoSavedSettings;

}  // namespace

// --- measures and paint ---

float Ui::width(std::string_view words, FontStyle style, float factor) const {
  return fonts().width(words, style, state.font_size * factor);
}

void Ui::fill(const Rect& rect, Color color, float radius) {
  scene().add(viz::FillRect{rect, color, radius});
}

void Ui::stroke(const Rect& rect, Color color, float width, float radius) {
  scene().add(viz::StrokeRect{rect.inset(width / 2), color, width, radius});
}

void Ui::line(Point a, Point b, Color color) {
  scene().add(viz::Segments{{a, b}, color, 1});
}

void Ui::text(std::string_view words, const Rect& rect, Color color, FontStyle style, float factor,
              viz::Align align) {
  if (rect.w <= 0 || words.empty()) return;
  const float size = state.font_size * factor;
  const float x = align == viz::Align::left    ? rect.x
                  : align == viz::Align::right ? rect.right()
                                               : rect.center().x;
  scene().add(viz::make_text_middle(fonts(), fonts().fit(words, style, size, rect.w), {x, rect.center().y},
                                    size, color, style, align));
}

std::vector<std::string> Ui::wrapped(std::string_view words, float width, float factor) const {
  return viz::wrap(style(), words, state.font_size * factor, FontStyle::regular, width);
}

float Ui::paragraph_height(std::string_view words, float width, float factor) const {
  return static_cast<float>(wrapped(words, width, factor).size()) * line_height(factor);
}

float Ui::paragraph(std::string_view words, const Rect& rect, Color color, float factor) {
  float y = rect.y;
  for (const std::string& line : wrapped(words, rect.w, factor)) {
    text(line, {rect.x, y, rect.w + 1, line_height(factor)}, color, FontStyle::regular, factor);
    y += line_height(factor);
  }
  return y - rect.y;
}

void Ui::shadow(ImDrawList& list, const Rect& rect, float radius, float depth) const {
  constexpr int kRings = 8;  // each fainter than the last, so that the shadow fades out
  list.PushClipRectFullScreen();
  const float step = depth / kRings;
  for (int i = 0; i < kRings; ++i) {
    const float spread = step * (static_cast<float>(i) + 0.5F);
    const auto alpha = static_cast<std::uint8_t>((theme().dark ? 90 : 34) * (kRings - i) / kRings);
    const Rect ring = rect.inset(-spread);
    list.AddRect({ring.x, ring.y}, {ring.right(), ring.bottom()}, IM_COL32(0, 0, 0, alpha), radius + spread,
                 0, step);
  }
  list.PopClipRect();
}

// --- windows ---

void Ui::begin_scene() {
  begin_group();
  Layer& layer = layers_.emplace_back();
  layer.scene = {input.frame.width, input.frame.height, {0, 0, 0, 0}, {}};
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  layer.rest = {at.x, at.y, room.x, room.y};
  layer.top = at.y;
}

void Ui::end_scene() {
  begin_group();
  Layer& layer = layers_.back();
  player_.draw(*ImGui::GetWindowDrawList(), layer.scene, {0, 0}, 1);
  // Dear ImGui has a scroll bar for the height of the frame before.
  const float height = layer.rest.y - layer.top;
  float& known = *ImGui::GetStateStorage()->GetFloatRef(ImGui::GetID("height"));
  if (std::abs(std::exchange(known, height) - height) > 0.5F) out.settling = true;
  out.scenes.push_back(std::move(layer.scene));
  layers_.pop_back();
}

void Ui::begin_sheet(float shadow_depth) {
  out.layer = ++layer_;
  if (ImGui::IsWindowAppearing()) out.settling = true;  // hidden for one frame while it finds its size
  begin_scene();
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  shadow(*ImGui::GetWindowDrawList(), {at.x, at.y, size.x, size.y}, u(10), shadow_depth);
}

void Ui::end_sheet() {
  end_scene();
  --layer_;
  ImGui::EndPopup();
}

void Ui::begin_window() {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({input.frame.width, input.frame.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("headscope", nullptr,
               kFixed | ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  begin_scene();
}

void Ui::end_window() {
  if (state.dialog == Dialog::none) context_menu();
  end_scene();
  ImGui::End();
}

void Ui::begin_child(const char* id, const Rect& rect, bool border, ImGuiWindowFlags flags) {
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  compat::begin_child(id, at_least_a_pixel(rect), border, flags);
  begin_scene();
}

void Ui::begin_pane(const char* id, const Rect& rect) {
  begin_child(id, rect, true, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  area(WindowArea::kPane, rect);
}

void Ui::begin_overlay() {
  begin_child("overlay", {0, 0, input.frame.width, input.frame.height}, false,
              ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
}

void Ui::end_pane() {
  end_scene();
  ImGui::EndChild();
}

void Ui::begin_list(const char* id, const Rect& rect) {
  begin_child(id, rect, false, ImGuiWindowFlags_NoBackground);
}

void Ui::scroll_by_keys() {
  const auto* e = input.event_as<KeyDown>();
  if (!e) return;
  const float line = u(46), page = ImGui::GetWindowHeight() - line, last = ImGui::GetScrollMaxY();
  float to = ImGui::GetScrollY();
  if (e->key == Key::up) to -= line;
  if (e->key == Key::down) to += line;
  if (e->key == Key::page_up) to -= page;
  if (e->key == Key::page_down) to += page;
  if (e->key == Key::home) to = 0;
  if (e->key == Key::end) to = last;
  ImGui::SetScrollY(std::clamp(to, 0.0F, last));
}

void Ui::scroll_once(const std::string& what, float y) {
  if (widgets.scrolled_for == what) return;
  widgets.scrolled_for = what;
  ImGui::SetScrollY(y);
  out.settling = true;
}

bool Ui::begin_menu(Menu menu, float width) {
  const std::string name = "menu " + std::to_string(static_cast<int>(menu));
  if (widgets.open == menu) {
    ImGui::OpenPopup(name.c_str());
    widgets.open = Menu::none;
    if (input.event_as<KeyDown>()) {
      if (widgets.keyboard_item == 0 && state.dialog == Dialog::none) widgets.leave_keyboard = true;
      compat::show_keyboard_item(true);  // keyboard navigation continues in the menu
    }
  }
  if (!ImGui::IsPopupOpen(name.c_str())) return false;
  const auto button = menu_buttons_.find(menu);
  const bool at_mouse = button == menu_buttons_.end();
  const Point at = at_mouse ? widgets.menu_at : Point{button->second.x, button->second.bottom() + u(4)};
  const float edge = u(8), max_height = input.frame.height - 2 * edge;
  const auto inside = [&](float from, float size, float side) {
    return std::clamp(from, edge, std::max(edge, side - edge - size));
  };
  width = std::min(width, input.frame.width - 2 * edge);
  ImGui::SetNextWindowPos({inside(at.x, width, input.frame.width),
                           inside(at.y, std::min(widgets.menu_height, max_height), input.frame.height)});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, std::max(1.F, max_height)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(6), u(6)));
  const bool open = ImGui::BeginPopup(name.c_str(), kFixed);
  ImGui::PopStyleVar();
  if (!open) {
    out.settling = true;
    return false;
  }
  begin_sheet(u(14));
  out.menu = menu;
  if (const float height = ImGui::GetWindowHeight(); std::exchange(widgets.menu_height, height) != height)
    out.settling = true;
  if (widgets.close_menu) ImGui::CloseCurrentPopup();
  // The keyboard is at the first row of a menu that the mouse opened, unseen: the first arrow shows it there.
  const auto* key = input.event_as<KeyDown>();
  if (at_mouse && key && compat::keyboard_item() == 0 && (key->key == Key::down || key->key == Key::up)) {
    ImGui::NavMoveRequestCancel();
    compat::show_keyboard_item(true);
  }
  return true;
}

std::optional<Rect> Ui::begin_dialog(Dialog dialog, std::string_view title, float width, float height) {
  if (state.dialog != dialog) return std::nullopt;
  const std::string id = "dialog " + std::to_string(static_cast<int>(dialog));
  if (!ImGui::IsPopupOpen(id.c_str())) ImGui::OpenPopup(id.c_str());
  const float w = std::min(u(width), input.frame.width - u(24));
  const float h = std::min(u(height), input.frame.height - u(24));
  const Rect rect{std::round((input.frame.width - w) / 2), std::round((input.frame.height - h) / 2), w, h};
  ImGui::SetNextWindowPos({rect.x, rect.y});
  ImGui::SetNextWindowSize({rect.w, rect.h});
  if (!ImGui::BeginPopupModal(id.c_str(), nullptr, kFixed | ImGuiWindowFlags_NoScrollbar)) {
    out.settling = true;
    return std::nullopt;
  }
  begin_sheet(u(20));
  Rect body{rect.x + u(20), rect.y + u(10), w - u(40), h - u(26)};
  const Rect head = cut_top(body, u(36), u(8));
  text(title, head, theme().text, FontStyle::bold, 1.15F);
  place({head.x, head.y + u(4), head.w, u(28)},
        {{.grows = true}, sign("×", "Close", "Close  Esc", ShowDialog{Dialog::none})});
  return body;
}

void Ui::end_dialog() {
  context_menu();
  end_sheet();
}

// --- widgets ---

int Ui::steps_by_keys() {
  out.items.back().uses_arrows = true;
  const auto* e = input.event_as<KeyDown>();
  if (!e || compat::keyboard_item() != ImGui::GetItemID()) return 0;
  if (e->key != Key::left && e->key != Key::right) return 0;
  ImGui::NavMoveRequestCancel();  // the keyboard focus stays here
  return e->key == Key::left ? -1 : 1;
}

void Ui::record_item(std::string label, const Rect& rect, bool enabled, bool ring) {
  const ImGuiID id = ImGui::GetItemID();
  if (id == 0) return;
  if (widgets.focus == id) {
    compat::focus_last_item(id);
    widgets.focus = 0;
  }
  if (!ring && compat::keyboard_item() == id) stroke(rect, theme().accent.with_alpha(150), u(1.5F), u(6));
  const ImVec2 clip_min = ImGui::GetWindowDrawList()->GetClipRectMin();
  const ImVec2 clip_max = ImGui::GetWindowDrawList()->GetClipRectMax();
  const float x = std::max(rect.x, clip_min.x), y = std::max(rect.y, clip_min.y);
  const Rect part{x, y, std::min(rect.right(), clip_max.x) - x, std::min(rect.bottom(), clip_max.y) - y};
  const bool hidden = part.w < 1 || part.h < 1;
  out.items.push_back({std::move(label), hidden ? rect : part, id, layer_, enabled, hidden, group_});
}

bool Ui::invisible_button(std::string_view name, const Rect& rect, int flags) {
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  return ImGui::ButtonEx(("##" + std::string(name)).c_str(), at_least_a_pixel(rect), flags);
}

bool Ui::button(const Rect& rect, std::string_view label, const Button& style) {
  const bool enabled = style.unavailable.empty(), primary = style.look == Look::primary && enabled;
  Color face = primary ? theme().accent : theme().raised, ink = primary ? theme().on_accent : theme().text;
  if (style.on) face = selected();
  if (!enabled) ink = viz::blended(theme().surface, theme().text.with_alpha(102));
  const std::string name = style.name.empty() ? std::string(label) : style.name;
  ImGui::BeginDisabled(!enabled);
  const bool pressed = invisible_button(name, rect);
  ImGui::EndDisabled();
  const bool lit = enabled && (ImGui::IsItemHovered() || ImGui::IsItemActive());
  if (lit) face = viz::blended(face, theme().text.with_alpha(20));
  const bool framed = style.look != Look::plain;
  if (lit || style.on || (enabled && framed)) fill(rect, face, u(6));
  if (style.on || (framed && !primary)) stroke(rect, style.on ? theme().accent : theme().line, 1, u(6));
  record_item(name, rect, enabled);
  const float pad = std::min(u(8), rect.w / 8), arrow = style.menu ? u(16) : 0;
  text(label, {rect.x + pad, rect.y, rect.w - 2 * pad - arrow, rect.h}, ink, FontStyle::medium, 1,
       style.menu ? viz::Align::left : viz::Align::center);
  if (style.menu) small("▾", {rect.x, rect.y, rect.w - pad, rect.h}, ink, viz::Align::right);
  tip(label, style.tip, style.unavailable);
  return pressed;
}

float Ui::button_width(std::string_view label, bool menu) const {
  return std::ceil(width(label, FontStyle::medium)) + u(menu ? 38 : 24);
}

Ui::Part Ui::choice(std::string name, std::vector<MenuItem> items, int chosen, float room, bool list) {
  std::vector<Part> parts;
  float longest = 0;
  for (int i = 0; i < std::ssize(items); ++i) {
    const auto draw = [=, this, item = items[i]](const Rect& rect) {
      const Button style{.look = Look::plain,
                         .on = i == chosen,
                         .unavailable = item.unavailable,
                         .tip = item.tip,
                         .name = name + " " + item.label};
      if (button(rect, item.label, style)) std::ranges::copy(item.actions, std::back_inserter(actions));
    };
    parts.push_back({std::ceil(width(items[i].label, FontStyle::medium)) + u(20), draw});
    longest = std::max(longest, button_width(items[i].label, true));
  }
  Part row = joined(std::move(parts));
  if (!list && row.width <= room)
    return {row.width, [this, row = std::move(row)](const Rect& rect) {
              fill(rect, theme().raised, u(6));
              stroke(rect, theme().line, 1, u(6));
              row.draw(rect);
            }};
  const MenuItem& now = items[std::clamp(chosen, 0, static_cast<int>(items.size()) - 1)];
  const Button style{.menu = true, .tip = now.tip, .name = std::move(name)};
  if (chosen >= 0) items[chosen].marked = true;
  // The button has room for each of them.
  return {longest, [this, style, label = now.label, items = std::move(items)](const Rect& rect) {
            if (button(rect, label, style)) open_menu({rect.x, rect.bottom() + u(2)}, items);
          }};
}

std::optional<double> Ui::slider(const Rect& rect, std::string_view name, double value, const Range& range,
                                 const std::string& words) {
  const float knob = u(7), length = rect.w - 2 * knob;
  double moved = value;
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(0, std::max(0.0F, (rect.h - ImGui::GetFontSize()) / 2)));
  ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, 2 * knob);
  ImGui::SetNextItemWidth(rect.w);
  const bool changed = ImGui::SliderScalar(("##" + std::string(name)).c_str(), ImGuiDataType_Double, &moved,
                                           &range.low, &range.high, "", ImGuiSliderFlags_NoInput);
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  ImGui::PopStyleVar(2);
  record_item(std::string(name), rect);
  tip(name, words);
  const auto* press = input.event_as<MouseDown>();
  if (press && press->clicks == 2 && press->button == 0 && ImGui::IsItemHovered()) {
    ImGui::ClearActiveID();
    return range.default_value;
  }
  const auto fraction =
      static_cast<float>(std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0));
  const Rect track{rect.x + knob, rect.center().y - u(2), length, u(4)};
  fill(track, theme().field_line, u(2));
  fill({track.x, track.y, fraction * length, track.h}, theme().accent, u(2));
  const Rect grip = Rect::around({track.x + fraction * length, rect.center().y}, knob);
  fill(grip, lit ? viz::blended(theme().accent, theme().text.with_alpha(38)) : theme().accent, knob);
  fill(grip.inset(u(3)), theme().on_accent, knob - u(3));
  const auto whole_steps = [&](double at) { return std::round(at / range.step); };
  if (const int steps = steps_by_keys(); steps != 0)
    return std::clamp(multiple(whole_steps(value) + steps, range.step), range.low, range.high);
  if (!changed) return std::nullopt;
  return multiple(whole_steps(moved), range.step);  // whatever the slider's length
}

bool Ui::link(const Rect& rect, std::string_view words, float factor, int id) {
  ImGui::PushID(id);
  const bool pressed = invisible_button(words, rect);
  ImGui::PopID();
  record_item(std::string(words), rect);
  text(words, {rect.x, rect.y, rect.w + 1, rect.h}, theme().accent, FontStyle::regular, factor);
  const float y = rect.center().y + state.font_size * factor * 0.55F;
  if (ImGui::IsItemHovered()) line({rect.x, y}, {rect.right(), y}, theme().accent);
  tip("", "");
  return pressed;
}

bool Ui::row(const MenuItem& item) {
  if (item.begins_group) separator();
  if (!item.heading.empty()) heading(item.heading);
  const Rect rect = next(u(item.more.empty() ? 30 : 46));
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::PushID(layers_.back().rows++);  // not by name: two rows may have the same
  const bool enabled = item.unavailable.empty();
  bool pressed =
      ImGui::Selectable("##row", false, enabled ? 0 : ImGuiSelectableFlags_Disabled, {rect.w, rect.h});
  if (item.marked) ImGui::SetItemDefaultFocus();  // arrows start from what is chosen
  ImGui::PopID();
  const bool in_menu = (ImGui::GetCurrentWindow()->Flags & ImGuiWindowFlags_Popup) != 0;
  if (!in_menu && widgets.press_clicks > 1 && input.event_as<MouseUp>()) pressed = false;
  if (pressed && in_menu) widgets.leave_keyboard = true;
  if (pressed) std::ranges::copy(item.actions, std::back_inserter(actions));
  record_item(item.label, rect, enabled, true);
  if (!ImGui::IsItemVisible()) return pressed;
  const bool lit = enabled && (ImGui::IsItemHovered() || compat::keyboard_item() == ImGui::GetItemID());
  const Color ground = item.marked ? selected() : theme().surface;
  if (lit || item.marked) fill(rect, lit ? viz::blended(ground, theme().text.with_alpha(20)) : ground, u(6));
  tip("", item.tip, item.unavailable);  // its label may be the user's own words
  const float pad = u(10), half = item.more.empty() ? rect.h : rect.h / 2,
              lift = item.more.empty() ? 0 : u(2);
  const float right = item.right.empty() ? 0 : width(item.right, FontStyle::regular, kSmall) + u(14);
  text(item.label, {rect.x + pad, rect.y + lift, rect.w - 2 * pad - right, half},
       enabled ? theme().text : theme().text_muted, item.marked ? FontStyle::bold : FontStyle::medium);
  small(item.more, {rect.x + pad, rect.y + half - lift, rect.w - 2 * pad, half}, theme().text_muted);
  small(item.right, {rect.x, rect.y, rect.w - pad, rect.h}, theme().text_muted, viz::Align::right);
  return pressed;
}

}  // namespace headscope::app
