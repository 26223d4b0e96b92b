#include <algorithm>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

void draw_next(PanelContext& p, const Rect& rect) {
  draw_card(p, rect);
  Canvas& canvas = p.canvas;
  const float header = p.u(40);
  const float pad = p.u(12);
  const float control = p.u(28);
  const float inner = rect.w - 2 * pad;
  const View& view = view_at(Place::right);
  canvas.text_in(view.title, {rect.x + pad, rect.y, inner, header}, p.theme().text, viz::FontStyle::medium);
  canvas.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, p.theme().line);

  // The first control stands beside the title, the others below each other.
  Rect row{rect.x + pad, rect.y + header + p.u(8), inner, control};
  bool first = true;
  for (const OptionSpec* option : controls_of(view)) {
    if (first) {
      const float room = inner - canvas.width(view.title, viz::FontStyle::medium) - p.u(8);
      const float w = std::min(option_width(p, *option), room);
      draw_option(p, *option, {rect.right() - pad - w, rect.y + (header - control) / 2, w, control});
      first = false;
      continue;
    }
    draw_option(p, *option, row);
    row.y += control + p.u(6);
  }

  const float foot = p.u(36);
  const bool running = p.state.generation.running;
  const Rect generate{rect.x + pad, rect.bottom() - foot - p.u(6), inner, p.u(32)};
  canvas.button(generate, running ? "Stop" : "Generate", Generate{!running},
                {.on = running,
                 .enabled = p.snapshot.run != nullptr,
                 .tip = running ? "Stop adding tokens  Esc"
                                : "Go on, token by token, drawn at this temperature  Ctrl+G"});
  place_view(p, view, {rect.x + pad, row.y, inner, generate.y - p.u(8) - row.y});
}

}  // namespace headscope::app
