#include <cstdio>

#include "app/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

std::string two_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

ViewOptions with_count(ViewOptions options, int count) {
  options.next_count = count;
  return options;
}

}  // namespace

void draw_next(PanelContext& p, const Rect& rect) {
  draw_card(p, rect);
  Canvas& canvas = p.canvas;
  const float header = p.u(40);
  const float pad = p.u(12);
  const float control = p.u(28);
  const ViewOptions& o = p.state.options;
  const float inner = rect.w - 2 * pad;
  canvas.text_in("Next token", {rect.x + pad, rect.y, inner, header}, p.theme().text, viz::FontStyle::medium);
  const float side = control;
  float x = rect.right() - pad - side;
  const float control_y = rect.y + (header - control) / 2;
  canvas.button({x, control_y, side, control}, "+", SetOptions{with_count(o, o.next_count + 1)},
                {.tip = "More bars"});
  x -= p.u(26);
  canvas.text_in(std::to_string(o.next_count), {x, control_y, p.u(24), control}, p.theme().text,
                 viz::FontStyle::regular, 1, viz::Align::center);
  x -= side + p.u(2);
  canvas.button({x, control_y, side, control}, "−", SetOptions{with_count(o, o.next_count - 1)},
                {.tip = "Fewer bars"});
  canvas.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, p.theme().line);

  const float y = rect.y + header + p.u(8);
  const std::string label = "Temperature " + two_decimals(o.temperature);
  const float label_width = canvas.width("Temperature 0.00") + p.u(14);
  canvas.text_in(label, {rect.x + pad, y, label_width, control}, p.theme().text_muted);
  const Rect track{rect.x + pad + label_width, y, inner - label_width - p.u(4), control};
  Drag drag;
  drag.kind = DragKind::temperature;
  drag.track = track;
  canvas.slider(track, o.temperature / kTemperatureMost, drag,
                "Softmax of logits / temperature; double click: 1");

  const float foot = p.u(36);
  const bool running = p.state.generation.running;
  const Rect generate{rect.x + pad, rect.bottom() - foot - p.u(6), inner, p.u(32)};
  canvas.button(generate, running ? "Stop" : "Generate", Generate{!running},
                {.on = running,
                 .enabled = p.snapshot.run != nullptr,
                 .tip = running ? "Stop adding tokens  Esc"
                                : "Go on, token by token, drawn at this temperature  Ctrl+G"});
  const float top = y + control + p.u(6);
  place_view(p, "next", {rect.x + pad, top, inner, generate.y - p.u(8) - top});
}

}  // namespace headscope::app
