#include <algorithm>
#include <optional>
#include <string>

#include "app/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

std::vector<Canvas::Segment> tabs(const UiState& state) {
  std::vector<Canvas::Segment> segments;
  for (const View& view : views()) {
    if (!view.pane) continue;
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

void whole_control(PanelContext& p, RightRow& row, Zoom ViewOptions::*zoom) {
  ViewOptions whole = p.state.options;
  if ((whole.*zoom).rows <= 0) return;
  whole.*zoom = {};
  row.button("Whole", SetOptions{whole}, {.tip = "Show the whole matrix again  0"});
}

void query_controls(PanelContext& p, RightRow& row) {
  row.button("Next ›", MoveQuery{1}, {.tip = "The query after this one  ]"});
  row.button("‹ Previous", MoveQuery{-1}, {.tip = "The query before this one  ["});
  ViewOptions sorted = p.state.options;
  sorted.strongest_first = !sorted.strongest_first;
  row.button("Strongest first", SetOptions{sorted},
             {.on = p.state.options.strongest_first, .tip = "Keys by falling weight instead of by position"});
}

void positions_controls(PanelContext& p, RightRow& row) {
  row.button("›", StepDimensions{1}, {.tip = "Curves of the dimensions after these  D"});
  row.button("‹", StepDimensions{-1}, {.tip = "Curves of the dimensions before these  Shift+D"});
  std::string shown;
  if (p.snapshot.model) {
    for (const int d : shown_dimensions(p.state.options, *p.snapshot.model))
      shown += (shown.empty() ? "" : ", ") + std::to_string(d);
  }
  const float words = p.canvas.width("Dimensions") + p.u(2);
  // What is shown when nothing is typed stands in the empty field.
  if (const auto rect = row.place(p.u(150))) draw_field(p, Field::dimensions, *rect, shown);
  if (const auto rect = row.place(words)) p.canvas.text_in("Dimensions", *rect, p.theme().text_muted);
  whole_control(p, row, &ViewOptions::encoding_zoom);
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
  const bool one_row = beside > p.u(400);
  Rect controls{rect.x + p.u(6) + tabs_width + pad, rect.y + (header - control) / 2, beside, control};
  if (!one_row) {
    controls = {rect.x + pad, y + p.u(6), rect.w - 2 * pad, control};
    y += control + p.u(8);
  }
  RightRow row(p, controls);
  if (p.state.view == "heatmap" || p.state.view == "scores") whole_control(p, row, &ViewOptions::zoom);
  if (p.state.view == "query") query_controls(p, row);
  if (p.state.view == "positions") positions_controls(p, row);
  place_view(p, p.state.view, {rect.x + pad, y + p.u(8), rect.w - 2 * pad, rect.bottom() - y - p.u(16)});
}

}  // namespace headscope::app
