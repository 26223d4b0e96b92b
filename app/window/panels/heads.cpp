#include <algorithm>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Rect;

namespace {

/// Places for controls from left to right, in as many rows as they take.
class Rows {
 public:
  Rows(const PanelContext& p, const Rect& first) : first_(first), x_(first.x), y_(first.y), gap_(p.u(4)) {}

  Rect take(float width) {
    if (x_ > first_.x && x_ + width > first_.right()) {
      x_ = first_.x;
      y_ += first_.h + gap_ / 2;
    }
    const Rect rect{x_, y_, std::min(width, first_.w), first_.h};
    x_ += width + gap_;
    return rect;
  }
  float bottom() const { return y_ + first_.h; }

 private:
  Rect first_;
  float x_, y_, gap_;
};

/// The controls of the view, always in sight, as the small maps are: those of colours hold in the views
/// beside, too. Returns their lower end.
float draw_controls(PanelContext& p, const View& view, const Rect& row) {
  Rows rows(p, row);
  for (const OptionSpec* option : controls_of(view))
    draw_option(p, *option, rows.take(option_width(p, *option)));
  return rows.bottom();
}

}  // namespace

void draw_heads(PanelContext& p, const Rect& rect) {
  draw_card(p, rect);
  const float header = p.u(40);
  const Rect title{rect.x + p.u(12), rect.y, rect.w - p.u(24), header};
  p.canvas.text_in(view_at(Place::left).title, title, p.theme().text, viz::FontStyle::medium);
  if (p.snapshot.run) {
    const auto& config = p.snapshot.run->run->config;
    const std::string counts =
        std::to_string(config.n_layer) + " layers × " + std::to_string(config.n_head) + " heads";
    p.canvas.text_in(counts, title, p.theme().text_muted, viz::FontStyle::regular, 0.93F, viz::Align::right);
  }
  p.canvas.line({rect.x + 1, rect.y + header}, {rect.right() - 1, rect.y + header}, p.theme().line);
  const float pad = p.u(10);
  const View& view = view_at(Place::left);
  const float top =
      draw_controls(p, view, {rect.x + pad, rect.y + header + p.u(8), rect.w - 2 * pad, p.u(28)}) + pad;
  place_view(p, view, {rect.x + pad, top, rect.w - 2 * pad, rect.bottom() - top - pad});
}

}  // namespace headscope::app
