#include "app/panels/panels.h"

namespace headscope::app {

using viz::Rect;

void draw_heads(PanelContext& p, const Rect& rect) {
  draw_card(p, rect);
  const float header = p.u(40);
  const Rect title{rect.x + p.u(12), rect.y, rect.w - p.u(24), header};
  p.canvas.text_in("Heads", title, p.theme().text, viz::FontStyle::medium);
  if (p.snapshot.run) {
    const auto& config = p.snapshot.run->run->config;
    const std::string counts =
        std::to_string(config.n_layer) + " layers × " + std::to_string(config.n_head) + " heads";
    p.canvas.text_in(counts, title, p.theme().text_muted, viz::FontStyle::regular, 0.93F, viz::Align::right);
  }
  p.canvas.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, p.theme().line);
  const float pad = p.u(10);
  place_view(p, "heads", {rect.x + pad, rect.y + header + pad, rect.w - 2 * pad, rect.h - header - 2 * pad});
}

}  // namespace headscope::app
