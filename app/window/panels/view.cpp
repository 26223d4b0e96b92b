#include <algorithm>
#include <optional>
#include <string>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

std::vector<Canvas::Segment> tabs(const UiState& state) {
  std::vector<Canvas::Segment> segments;
  for (const View& view : views()) {
    if (view.place != Place::tab) continue;
    segments.push_back({std::string(view.title), ShowView{std::string(view.id)}, view.id == state.view,
                        std::string(view.help)});
  }
  return segments;
}

/// Draws controls from the right end of a row leftwards, as long as they fit.
class RightRow {
 public:
  RightRow(PanelContext& p, const Rect& row) : p_(p), row_(row), x_(row.right()) {}

  bool fits(float width) const { return x_ - width >= row_.x; }

  void button(std::string_view label, Action action, const Canvas::ButtonStyle& style) {
    const float w = p_.canvas.button_width(label);
    if (!fits(w)) return;
    p_.canvas.button(take(w), label, std::move(action), style);
  }

  std::optional<Rect> place(float width) {
    if (!fits(width)) return std::nullopt;
    return take(width);
  }

 private:
  Rect take(float w) {
    x_ -= w;
    const Rect rect{x_, row_.y, w, row_.h};
    x_ -= p_.u(8);
    return rect;
  }

  PanelContext& p_;
  Rect row_;
  float x_;
};

/// What all controls of the view take beside each other, also of commands that cannot be done now: nothing
/// moves when they can.
float controls_width(const PanelContext& p, const View& view) {
  float width = 0;
  for (const KeyCommand& command : view.commands)
    if (!command.label.empty()) width += p.canvas.button_width(command.label) + p.u(8);
  for (const OptionSpec* option : controls_of(view)) width += option_width(p, *option) + p.u(8);
  return width;
}

/// The view's controls from the right: its commands that can be done now, then its options.
void draw_controls(PanelContext& p, const View& view, const Rect& area, RightRow& row) {
  const ViewContext context =
      make_context(p.state, p.snapshot, *p.answers, *p.fonts, area.w, area.h, p.frame.device_scale);
  for (auto command = view.commands.rbegin(); command != view.commands.rend(); ++command) {
    if (command->label.empty()) continue;
    const ViewActions actions = command->act(context, 0);
    if (actions.empty()) continue;
    const std::string key = command->keys.empty() ? "" : "  " + std::string(command->keys);
    row.button(command->label, DoAll{actions}, {.tip = std::string(command->help) + key});
  }
  for (const OptionSpec* option : controls_of(view))
    if (const auto rect = row.place(option_width(p, *option))) draw_option(p, *option, *rect);
}

}  // namespace

void draw_view(PanelContext& p, const Rect& rect) {
  draw_card(p, rect);
  const float header = p.u(40);
  const float pad = p.u(12);
  const auto segments = tabs(p.state);
  const float tabs_width = std::min(p.canvas.segmented_width(segments), rect.w - 2 * pad);
  const float control = p.u(28);
  p.canvas.segmented({rect.x + p.u(6), rect.y + (header - control) / 2, tabs_width, control}, segments);
  float y = rect.y + header;
  p.canvas.line({rect.x + 1, y}, {rect.right() - 1, y}, p.theme().line);

  // Controls of the view stand beside the tabs where there is room, else in a row of their own.
  const float beside = rect.w - tabs_width - 2 * pad;
  const View& view = *find_view(p.state.view);
  const bool one_row = controls_width(p, view) <= beside;
  Rect controls{rect.x + p.u(6) + tabs_width + pad, rect.y + (header - control) / 2, beside, control};
  if (!one_row) {
    controls = {rect.x + pad, y + p.u(6), rect.w - 2 * pad, control};
    y += control + p.u(8);
  }
  const Rect area{rect.x + pad, y + p.u(8), rect.w - 2 * pad, rect.bottom() - y - p.u(16)};
  RightRow row(p, controls);
  draw_controls(p, view, area, row);
  place_view(p, view, area);
}

}  // namespace headscope::app
