#include <algorithm>

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

  void segmented(const std::vector<Canvas::Segment>& segments) {
    const float w = p_.canvas.segmented_width(segments);
    if (!fits(w)) return;
    p_.canvas.segmented(take(w), segments);
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

ViewOptions with_scale(ViewOptions options, ValueScale scale) {
  options.scale = scale;
  return options;
}

void matrix_controls(PanelContext& p, RightRow& row) {
  const ViewOptions& o = p.state.options;
  row.segmented(
      {{"Linear", SetOptions{with_scale(o, ValueScale::linear)}, o.scale == ValueScale::linear,
        "Colours in proportion to the weight"},
       {"Log", SetOptions{with_scale(o, ValueScale::logarithmic)}, o.scale == ValueScale::logarithmic,
        "Colours by the logarithm of the weight: small weights show"},
       {"Row", SetOptions{with_scale(o, ValueScale::per_row)}, o.scale == ValueScale::per_row,
        "Each query's largest weight gets the full colour"}});
  ViewOptions toggled = o;
  toggled.without_key0 = !o.without_key0;
  row.button("Without key 0", SetOptions{toggled},
             {.on = o.without_key0,
              .tip = "Leave the first token out of the scale: most heads park their weight there"});
  if (o.zoom.rows > 0) {
    ViewOptions whole = o;
    whole.zoom = {};
    row.button("Whole", SetOptions{whole}, {.tip = "Show the whole matrix again (double click)"});
  }
}

void query_controls(PanelContext& p, RightRow& row) {
  row.button("Next ›", MoveQuery{1}, {.tip = "The query after this one  ]"});
  row.button("‹ Previous", MoveQuery{-1}, {.tip = "The query before this one  ["});
  ViewOptions sorted = p.state.options;
  sorted.strongest_first = !sorted.strongest_first;
  row.button("Strongest first", SetOptions{sorted},
             {.on = p.state.options.strongest_first, .tip = "Keys by falling weight instead of by position"});
}

void positions_controls(RightRow& row) {
  row.button("Next dimensions ›", StepDimensions{1},
             {.tip = "Click a row of the map below to add or remove its curve"});
  row.button("‹ Previous", StepDimensions{-1}, {.tip = "Curves of the dimensions before these"});
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
  if (p.state.view == "heatmap" || p.state.view == "scores") matrix_controls(p, row);
  if (p.state.view == "query") query_controls(p, row);
  if (p.state.view == "positions") positions_controls(row);
  place_view(p, p.state.view, {rect.x + pad, y + p.u(8), rect.w - 2 * pad, rect.bottom() - y - p.u(16)});
}

}  // namespace headscope::app
