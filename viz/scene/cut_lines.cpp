#include "viz/scene/cut_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace headscope::viz {
namespace {

/// The part of a line inside the box, as fractions of its length from its first point (Liang and Barsky's
/// algorithm); nothing if no part is inside.
std::optional<std::pair<double, double>> part_inside(Point from, Point to, const Rect& box) {
  double first = 0, last = 1;
  const auto keep = [&](double start, double step, double low, double high) {
    if (step == 0) return start >= low && start <= high;
    double enters = (low - start) / step, leaves = (high - start) / step;
    if (enters > leaves) std::swap(enters, leaves);
    first = std::max(first, enters), last = std::min(last, leaves);
    return first <= last;
  };
  const bool any = keep(from.x, double{to.x} - from.x, box.x, box.right()) &&
                   keep(from.y, double{to.y} - from.y, box.y, box.bottom());
  return any ? std::optional(std::pair(first, last)) : std::nullopt;
}

Point between(Point from, Point to, double part) {
  if (part <= 0) return from;
  if (part >= 1) return to;
  return {static_cast<float>(from.x + part * (double{to.x} - from.x)),
          static_cast<float>(from.y + part * (double{to.y} - from.y))};
}

}  // namespace

std::vector<std::vector<Point>> cut_to(std::span<const Point> points, const Rect& box) {
  std::vector<std::vector<Point>> stretches;
  bool goes_on = false;  // the last stretch ends at the previous point
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto part = part_inside(points[i - 1], points[i], box);
    if (part) {
      if (!goes_on || part->first > 0) stretches.push_back({between(points[i - 1], points[i], part->first)});
      stretches.back().push_back(between(points[i - 1], points[i], part->second));
    }
    goes_on = part && part->second >= 1;
  }
  return stretches;
}

}  // namespace headscope::viz
