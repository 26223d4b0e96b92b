#include "app/views/parts/strips.h"

#include <cmath>

#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

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
    viz::add_muted(scene, style, strip.detail, {left, y});
}

void paint_pieces(viz::Scene& scene, const ViewContext& c, const NamedStrip& strip, const viz::Rect& rect) {
  for (int i = 1; i < strip.parts; ++i) {
    const float x = piece_of(rect, i, strip.parts).x;
    scene.add_line({x, rect.y}, {x, rect.bottom()}, c.theme->surface, 1.5F);
  }
  for (int i = 0; i < std::ssize(strip.framing); ++i)
    scene.add(viz::StrokeRect{piece_of(rect, i, strip.parts).inset(1), strip.framing[i], 1.5F});
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
  const viz::Matrix row = viz::Matrix::row(values);
  const viz::ValueRange range = viz::value_range(row);
  const double high = viz::robust_scale(row, kOutliers, range).high;
  const double digit = std::pow(10, std::floor(std::log10(high)) - 1);  // unit of the second digit
  return viz::marked_for(viz::diverging_scale(high > 0 ? std::ceil(high / digit) * digit : high), range);
}

viz::Rect strips_in(const ViewContext& c, viz::Rect area) {
  constexpr float kWidest = 80;  // ems
  area.w = std::min(area.w, kWidest * c.font_size);
  return area;
}

Wish Strips::height(const ViewContext& c, float) const {
  constexpr float kMinStrip = 0.7F, kMost = 4;  // ems
  const viz::Style style = style_of(c);
  const auto count = static_cast<float>(strips_.size());
  const float least = style.line(style.small()) + style.unit() + kMinStrip * c.font_size;
  const auto all = [&](float ems) { return count * std::max(least, ems * c.font_size); };
  return {all(0), all(good), all(kMost), all(enough)};
}

bool Strips::place(const ViewContext& c, viz::Rect area) {
  area_ = strips_in(c, area);
  return area.w >= 8 * c.font_size;
}

void Strips::paint(Picture& picture, const ViewContext& c) const {
  constexpr float kMaxStep = 4, kGoodStrip = 1.6F;  // ems
  const viz::Style style = style_of(c);
  const float words = style.line(style.small()) + style.unit() / 2;
  const float step = std::min(area_.h / static_cast<float>(strips_.size()), kMaxStep * c.font_size);
  const float gap = std::clamp(step - words - kGoodStrip * c.font_size, style.unit() / 2, 2 * style.unit());
  viz::Rect rect{area_.x, area_.y + words, area_.w, step - words - gap};
  for (const NamedStrip& strip : strips_) {
    viz::paint_vector_strip(picture, {strip.values, strip.scale, role_, strip.id, 0}, rect, style);
    paint_pieces(picture.scene, c, strip, rect);
    paint_words(picture, c, strip, rect, words);
    rect.y += step;
  }
}

const NamedStrip& Strips::strip_of(const viz::Region& region) const {
  return *std::ranges::find(strips_, region.id, &NamedStrip::id);
}

Ref Strips::ref_of(const viz::Region& region, int, int col) const {
  return refers_to ? refers_to(strip_of(region), col) : Ref();
}

void Strips::say(Facts& facts, const ViewContext& c, const viz::Region& region, int, int col) const {
  const NamedStrip& strip = strip_of(region);
  if (col >= std::ssize(strip.values)) return;
  facts.overlay.add(viz::StrokeRect{region.cell_rect(0, col).inset(-0.75F), c.theme->text, 1.5F});
  const viz::Rect piece = piece_of(region.rect, col * strip.parts / region.col_count, strip.parts);
  if (strip.parts > 1) facts.overlay.add(viz::StrokeRect{piece, c.theme->text, 1.5F});
  facts.number(strip.name + "[" + std::to_string(col) + "]", strip.values[col]);
  if (component_facts) component_facts(facts, strip, col);
}

}  // namespace headscope::app
