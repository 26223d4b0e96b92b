#include <algorithm>

#include "app/window/panels/panels.h"

namespace headscope::app {

using viz::Point;
using viz::Rect;

void draw_card(PanelContext& p, const Rect& rect) {
  p.canvas.fill(rect, p.theme().surface, p.u(8));
  p.canvas.stroke(rect, p.theme().line, 1, p.u(8));
}

void place_view(PanelContext& p, const View& view, const Rect& rect) {
  if (rect.w < 1 || rect.h < 1) return;
  ShownPicture shown = p.cache.get(
      view, make_context(p.state, p.snapshot, *p.answers, *p.fonts, rect.w, rect.h, p.frame.device_scale),
      p.answers);
  if (shown.stale) p.out.stale = true;
  p.canvas.clip(rect);
  viz::append(p.canvas.scene(), shown.picture->scene, {rect.x, rect.y});
  p.canvas.unclip();
  p.out.pictures.push_back({&view, std::move(shown.picture), std::move(shown.context),
                            std::move(shown.answers), rect, p.canvas.targets().size()});
}

void draw_editor(PanelContext& p, Field field, EditorLook look) {
  const TextField& text = *field_of(p.state, field);
  look.theme = &p.theme();
  look.fonts = p.fonts;
  look.focused = p.state.focus == field && !p.frame.still;
  look.caret_visible = p.frame.caret_on;
  look.scroll = text.scroll;
  look.scroll = clamped_scroll(text.edit, p.metrics.of(field), look);
  viz::append(p.canvas.scene(), editor_scene(text.edit, p.metrics.of(field), look), {0, 0});
  if (look.focused) p.out.blinking = true;
  p.out.fields.push_back({field, look, p.canvas.targets().size()});
  p.canvas.target({look.rect, {}, {}, {}, Cursor::text});
}

void draw_field(PanelContext& p, Field field, const Rect& rect, std::string placeholder) {
  EditorLook look;
  look.rect = rect;
  look.font_size = p.state.font_size;
  look.single_line = true;
  look.placeholder = std::move(placeholder);
  draw_editor(p, field, std::move(look));
}

void draw_tooltip(PanelContext& p, const std::vector<std::string>& lines, Point at, const Rect& window,
                  const viz::Scene* card) {
  if (lines.empty()) return;
  constexpr float kSize = 0.93F;
  const float line_height = p.state.font_size * 1.45F;
  const float pad = p.u(10);
  float width = card ? card->width : 0;
  for (const std::string& line : lines)
    width = std::max(width, p.canvas.width(line, viz::FontStyle::medium, kSize));
  width = std::min(width, window.w * 0.6F) + 2 * pad;
  const float card_height = card ? card->height + p.u(8) : 0;
  const float height = line_height * static_cast<float>(lines.size()) + p.u(12) + card_height;
  Rect box{at.x + p.u(16), at.y + p.u(18), width, height};
  if (box.right() > window.right() - p.u(4)) box.x = std::max(window.x, at.x - p.u(10) - width);
  if (box.bottom() > window.bottom() - p.u(4)) box.y = std::max(window.y, at.y - p.u(10) - height);
  p.canvas.shadow(box, p.u(6), p.u(8));
  p.canvas.fill(box, p.theme().raised, p.u(6));
  p.canvas.stroke(box, p.theme().line, 1, p.u(6));
  float y = box.y + p.u(6);
  bool first = true;
  for (const std::string& line : lines) {
    p.canvas.text_in(line, {box.x + pad, y, box.w - 2 * pad, line_height},
                     first ? p.theme().text : p.theme().text_muted,
                     first ? viz::FontStyle::medium : viz::FontStyle::regular, kSize);
    y += line_height;
    if (first && card) {
      const Rect face{box.x + pad, y + p.u(2), card->width, card->height};
      p.canvas.fill(face, card->background);
      viz::append(p.canvas.scene(), *card, {face.x, face.y});
      y += card_height;
    }
    first = false;
  }
}

std::string draw_hover(PanelContext& p, const Rect& window) {
  const auto pointer = p.canvas.pointer();
  if (!pointer) return {};
  const auto& targets = p.canvas.targets();
  std::size_t top = 0;
  bool over_target = false;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (targets[i].rect.contains(*pointer)) top = i, over_target = true;
  for (auto placed = p.out.pictures.rbegin(); placed != p.out.pictures.rend(); ++placed) {
    if (!placed->where.contains(*pointer) || (over_target && top >= placed->targets_below)) continue;
    const Point inside{pointer->x - placed->where.x, pointer->y - placed->where.y};
    const auto hit = viz::hit_test(placed->picture->regions, inside);
    if (!hit || !placed->view->hover) return {};
    const Hover hover = placed->view->hover(placed->context, *placed->picture, *hit);
    viz::append(p.canvas.scene(), hover.overlay, {placed->where.x, placed->where.y});
    draw_tooltip(p, hover.lines, *pointer, window, hover.card.width > 0 ? &hover.card : nullptr);
    return hover.status;
  }
  if (over_target && !targets[top].tip.empty()) draw_tooltip(p, {targets[top].tip}, *pointer, window);
  return {};
}

}  // namespace headscope::app
