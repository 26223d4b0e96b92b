#include <algorithm>

#include "app/panels/panels.h"
#include "app/views/common.h"

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

ViewOptions with_scale(ViewOptions options, ValueScale scale) {
  options.scale = scale;
  return options;
}

ViewOptions with_maximum(ViewOptions options, double maximum) {
  options.value_max = maximum;
  return options;
}

/// How weights become colours, here and in the view beside: always in sight, as the small maps are. Returns
/// their lower end.
float draw_colors(PanelContext& p, const Rect& row) {
  const ViewOptions& o = p.state.options;
  Rows rows(p, row);
  constexpr float kSmall = 0.93F;
  const std::vector<Canvas::Segment> scales = {
      {"Linear", SetOptions{with_scale(o, ValueScale::linear)}, o.scale == ValueScale::linear,
       "Colours in proportion to the weight  S"},
      {"Log", SetOptions{with_scale(o, ValueScale::logarithmic)}, o.scale == ValueScale::logarithmic,
       "Colours by the logarithm of the weight: small weights show  S"},
      {"Row", SetOptions{with_scale(o, ValueScale::per_row)}, o.scale == ValueScale::per_row,
       "Each query's largest weight gets the full colour  S"}};
  p.canvas.segmented(rows.take(p.canvas.segmented_width(scales)), scales);

  const float words = p.canvas.width("max 0.001", viz::FontStyle::regular, kSmall);
  const Rect maximum = rows.take(2 * row.h + words);
  p.canvas.button({maximum.x, maximum.y, row.h, row.h}, "−",
                  SetOptions{with_maximum(o, stepped_maximum(o.value_max, -1))},
                  {.tip = "The full colour for smaller weights  M"});
  p.canvas.text_in("max " + (o.value_max > 0 ? plain(o.value_max) : "auto"),
                   {maximum.x + row.h, maximum.y, words, row.h}, p.theme().text, viz::FontStyle::regular,
                   kSmall, viz::Align::center);
  p.canvas.button(
      {maximum.x + row.h + words, maximum.y, row.h, row.h}, "+",
      SetOptions{with_maximum(o, stepped_maximum(o.value_max, 1))},
      {.tip = "The full colour for larger weights, in the end for the largest there is  Shift+M"});

  ViewOptions toggled = o;
  toggled.without_key0 = !o.without_key0;
  p.canvas.button(rows.take(p.canvas.button_width("Without key 0")), "Without key 0", SetOptions{toggled},
                  {.on = o.without_key0,
                   .tip = "Leave the first token out of the scale: most heads park their weight there  K"});
  return rows.bottom();
}

}  // namespace

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
  const float top = draw_colors(p, {rect.x + pad, rect.y + header + p.u(8), rect.w - 2 * pad, p.u(28)}) + pad;
  place_view(p, "heads", {rect.x + pad, top, rect.w - 2 * pad, rect.bottom() - top - pad});
}

}  // namespace headscope::app
