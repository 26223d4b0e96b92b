#include "app/views/parts/strips.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

constexpr float kMinStrip = 0.7F, kMaxStep = 4;  // ems

/// One of `parts` equal pieces of a strip.
viz::Rect piece_of(const viz::Rect& rect, int piece, int parts) {
  const float w = rect.w / static_cast<float>(parts);
  return {rect.x + static_cast<float>(piece) * w, rect.y, w, rect.h};
}

/// Draws name and shape at the left, the scale at the right, the detail between them.
void paint_words(Picture& picture, const ViewContext& c, const NamedStrip& strip, const viz::Rect& rect,
                 float words) {
  const viz::Style style = style_of(c);
  viz::Scene& scene = picture.scene;
  const float y = rect.y - words / 2, gap = 3 * style.unit();
  float left = rect.x, right = rect.right();
  viz::add_label(scene, style, strip.name, {left, y}, style.small(), strip.color, viz::FontStyle::medium,
                 viz::Align::left, rect.w);
  left += style.width(strip.name, style.small(), viz::FontStyle::medium) + 2 * style.unit();
  const float shape = style.width(strip.shape, style.small());
  // Strips that share a scale need not share what is beyond it.
  const viz::ColorScale scale =
      viz::marked_for(strip.scale, viz::value_range(viz::Matrix::row(strip.values)));
  viz::Scene measured;
  const float legend = viz::paint_color_scale_line(measured, scale, "", {0, 0}, style);
  picture.whole &= left + shape <= right && left + shape + gap + legend <= right;
  if (left + shape > right) return;
  viz::add_label(scene, style, strip.shape, {left, y}, style.small(), c.theme->text);
  left += shape + gap;
  if (left + legend > right) return;
  right -= legend;
  viz::paint_color_scale_line(scene, scale, "", {right, y}, style);
  if (style.width(strip.detail, style.small()) <= right - gap - left)
    paint_note(picture, c, strip.detail, {left, y});
}

void paint_pieces(viz::Scene& scene, const ViewContext& c, const NamedStrip& strip, const viz::Rect& rect) {
  viz::Segments cuts{{}, c.theme->surface, 1.5F};
  for (int i = 1; i < strip.parts; ++i) {
    const float x = piece_of(rect, i, strip.parts).x;
    cuts.points.insert(cuts.points.end(), {{x, rect.y}, {x, rect.bottom()}});
  }
  if (!cuts.points.empty()) scene.add(std::move(cuts));
  for (std::size_t i = 0; i < strip.framing.size(); ++i) {
    scene.add(
        viz::StrokeRect{piece_of(rect, static_cast<int>(i), strip.parts).inset(1), strip.framing[i], 1.5F});
  }
  if (strip.chosen >= 0)
    scene.add(viz::StrokeRect{piece_of(rect, strip.chosen, strip.parts).inset(-0.5F), c.theme->accent, 2, 1});
}

}  // namespace

std::string shape_of(std::size_t n) {
  return "[" + grouped(static_cast<std::int64_t>(n)) + "]";
}

std::string shape_in_heads(const model::Config& config) {
  return "[" + std::to_string(config.n_head) + " heads × " + std::to_string(config.d_head()) + "]";
}

viz::ColorScale strip_scale(std::span<const float> values) {
  constexpr double kOutliers = 0.005;
  return viz::robust_scale(viz::Matrix::row(values), kOutliers);
}

float least_strip_step(const ViewContext& c) {
  const viz::Style style = style_of(c);
  return style.line(style.small()) + style.unit() + kMinStrip * c.font_size;
}

StripStack stack_strips(const ViewContext& c, viz::Rect area, int strips) {
  constexpr float kWidest = 80, kGoodStrip = 1.6F;  // ems
  const viz::Style style = style_of(c);
  StripStack stack;
  stack.area = area;
  stack.area.w = std::min(area.w, kWidest * c.font_size);
  stack.words = style.line(style.small()) + style.unit() / 2;
  const float step = std::min(area.h / static_cast<float>(strips), kMaxStep * c.font_size);
  stack.gap = std::clamp(step - stack.words - kGoodStrip * c.font_size, style.unit() / 2, 2 * style.unit());
  stack.strip = step - stack.words - stack.gap;
  return stack;
}

void paint_named_strip(Picture& picture, const ViewContext& c, const StripStack& stack, int number,
                       const NamedStrip& strip, int role) {
  const viz::Rect rect = stack.rect(number);
  viz::paint_vector_strip(picture, {strip.values, strip.scale, role, strip.id, 0}, rect, style_of(c));
  paint_pieces(picture.scene, c, strip, rect);
  paint_words(picture, c, strip, rect, stack.words);
}

void paint_hovered_component(viz::Scene& overlay, const ViewContext& c, const viz::Region& region,
                             int component, int parts) {
  overlay.add(
      viz::StrokeRect{region.cell_rect(region.row_count - 1, component).inset(-0.75F), c.theme->text, 1.5F});
  if (parts < 2) return;
  const int piece = component * parts / region.col_count;
  overlay.add(viz::StrokeRect{piece_of(region.rect, piece, parts), c.theme->text, 1.5F});
}

viz::ColorScale vector_scale(std::span<const float> values) {
  constexpr double kBeyond = 0.01;  // fraction of the values allowed beyond the scale
  const viz::Matrix matrix = viz::Matrix::row(values);
  viz::ColorScale scale = viz::robust_scale(matrix, kBeyond);
  const double digit = std::pow(10, std::floor(std::log10(scale.high)) - 1);  // unit of the second digit
  const double magnitude = std::ceil(scale.high / digit) * digit;
  const viz::ValueRange range = viz::value_range(matrix);
  scale.low = -magnitude, scale.high = magnitude;
  scale.values_above = static_cast<double>(range.high) > magnitude;
  scale.values_below = static_cast<double>(range.low) < -magnitude;
  return scale;
}

}  // namespace headscope::app
