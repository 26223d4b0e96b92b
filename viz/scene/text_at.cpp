#include "viz/scene/text_at.h"

#include <cmath>
#include <ranges>

namespace headscope::viz {

std::string_view text_at(const Scene& scene, Point at) {
  constexpr float kLastGlyph = 0.6F, kAbove = 0.85F, kBelow = 0.25F;  // extents of a line, in ems
  for (const Item& item : scene.items | std::views::reverse) {
    const auto* run = std::get_if<GlyphRun>(&item);
    if (run == nullptr || run->glyphs.empty()) continue;
    const float c = std::cos(run->angle), s = std::sin(run->angle);
    const float dx = at.x - run->origin.x, dy = at.y - run->origin.y;
    const float along = c * dx + s * dy, down = c * dy - s * dx;
    const bool inside = along >= 0 && along <= run->glyphs.back().x + kLastGlyph * run->size &&
                        down >= -kAbove * run->size && down <= kBelow * run->size;
    if (inside) return run->text;
  }
  return {};
}

}  // namespace headscope::viz
