#include "app/views/output/layered.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/frame.h"

namespace headscope::app::layered {

std::vector<float> dashes_of_negative(float width, float unit) {
  return {1.5F * unit, 0.75F * unit + width};
}

void paint_lines(viz::Scene& scene, const Shape& shape, viz::Color color, const ViewContext& c) {
  const float unit = style_of(c).unit();
  for (const Line& line : shape.lines) {
    const bool thick = line.width > 2 * unit;  // its gaps are inside
    scene.add(viz::Polyline{line.points, color, line.width});
    auto& dashes = std::get<viz::Polyline>(scene.items.back()).dashes;
    if (line.negative && !thick) dashes = dashes_of_negative(line.width, unit);
    if (line.negative && thick)
      scene.add(viz::Polyline{line.points, c.theme->surface, 0.25F * line.width, {1.25F * unit, unit}});
  }
}

float distance(const Shape& shape, viz::Point at, float most) {
  float least = shape.rect.contains(at) ? most : std::numeric_limits<float>::infinity();
  for (const Line& line : shape.lines) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const viz::Point a = line.points[i - 1], b = line.points[i];
      const float reach = most + line.width / 2;
      if (std::max(a.y, b.y) < at.y - reach || std::min(a.y, b.y) > at.y + reach) continue;
      const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
      const float t = length > 0 ? std::clamp(((at.x - a.x) * dx + (at.y - a.y) * dy) / length, 0.F, 1.F) : 0;
      const float away = std::hypot(at.x - a.x - t * dx, at.y - a.y - t * dy) - line.width / 2;
      least = std::min(least, std::max(0.F, away));
    }
  }
  return least;
}

viz::Region region_of_points(int role, viz::Rect area) {
  constexpr float kCell = 2;
  const auto count = [](float size) { return std::max(1, static_cast<int>(size / kCell)); };
  return viz::Region::grid(role, 0, area, count(area.h), count(area.w));
}

}  // namespace headscope::app::layered
