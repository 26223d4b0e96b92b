#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/views/output/flow_layout.h"

// Geometry of strands.
namespace headscope::app::flow_picture {
namespace {

float length_of(const std::vector<viz::Point>& points) {
  float length = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    length += std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
  return length;
}

void add_arc(std::vector<viz::Point>& points, viz::Point center, float radius, float from, float to) {
  const int steps = std::clamp(static_cast<int>(radius), 6, 16);
  for (int i = 0; i <= steps; ++i) {
    const float angle = from + (to - from) * static_cast<float>(i) / static_cast<float>(steps);
    points.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
}

constexpr float kPi = std::numbers::pi_v<float>;

}  // namespace

void make_loop(Strand& strand, viz::Point at, const viz::Style& style) {
  std::vector<viz::Point> points;
  add_arc(points, at, style.unit() + strand.width / 2, kPi / 2, 1.5F * kPi);
  strand.lines.push_back(std::move(points));
}

void make_way(Strand& strand, float y, float turn, bool stub, const viz::Style& style) {
  const viz::Point key = strand.ends[0], query = strand.ends[1];
  const float from = key.x, to = query.x, way = to > from ? 1.F : -1.F;
  // Turns become narrower between near columns.
  const float r = std::min(strand.width / 2 + turn, std::abs(to - from) / 2);
  std::vector<viz::Point> out, in;
  if (key.y > y + r + 0.1F) out.push_back(key);
  add_arc(out, {from + way * r, y + r}, r, way > 0 ? kPi : 0, way > 0 ? 1.5F * kPi : -kPi / 2);
  add_arc(in, {to - way * r, y - r}, r, kPi / 2, way > 0 ? 0 : kPi);
  if (query.y < y - r - 0.1F) in.push_back(query);
  if (!stub) {
    out.insert(out.end(), in.begin(), in.end());
    strand.lines.push_back(std::move(out));
    return;
  }
  const float length = std::min(5 * style.unit(), std::abs(to - from) / 2 - r), half = strand.width / 2;
  const auto taper = [&](float x, float by) {
    strand.tapers.push_back({{x, y - half}, {x + by, y}, {x, y + half}});
  };
  taper(from + way * r, way * length);
  taper(to - way * r, -way * length);
  strand.lines = {std::move(out), std::move(in)};
}

bool crosses(const Strand& strand, const viz::Rect& rect) {
  const float reach = strand.width / 2;
  for (const auto& line : strand.lines)
    for (std::size_t i = 1; i < line.size(); ++i) {
      const viz::Point &a = line[i - 1], &b = line[i];
      // Stretches are level or upright, or short.
      if (viz::Rect{std::min(a.x, b.x) - reach, std::min(a.y, b.y) - reach, std::abs(a.x - b.x) + 2 * reach,
                    std::abs(a.y - b.y) + 2 * reach}
              .overlaps(rect))
        return true;
    }
  return false;
}

float area_of(const Strand& strand) {
  float area = 0;
  for (const auto& line : strand.lines) area += strand.width * length_of(line);
  for (const auto& taper : strand.tapers)  // triangles
    area += strand.width * std::abs(taper[1].x - taper[0].x) / 2;
  return area;
}

}  // namespace headscope::app::flow_picture
