#include "viz/scene/cut_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace headscope::viz {
namespace {

/// A place on a line: the fraction of the way from its first point to its second.
struct CutPlace {
  double part = 0;
  std::optional<float> x = {}, y = {};  ///< exact, if it is on an edge of the box
};

/// The ends of the part of a line inside the box (Liang and Barsky's algorithm); nothing if none is inside.
std::optional<std::pair<CutPlace, CutPlace>> part_inside(Point from, Point to, const Rect& box) {
  CutPlace first{0}, last{1};
  const auto keep = [&](double start, double step, float low, float high,
                        std::optional<float> CutPlace::*edge) {
    if (step == 0) return start >= static_cast<double>(low) && start <= static_cast<double>(high);
    if (step < 0) std::swap(low, high);
    const double enters = (static_cast<double>(low) - start) / step;
    const double leaves = (static_cast<double>(high) - start) / step;
    if (enters > first.part) first = {enters}, first.*edge = low;
    if (leaves < last.part) last = {leaves}, last.*edge = high;
    return first.part <= last.part;
  };
  const bool any = keep(from.x, double{to.x} - from.x, box.x, box.right(), &CutPlace::x) &&
                   keep(from.y, double{to.y} - from.y, box.y, box.bottom(), &CutPlace::y);
  return any ? std::optional(std::pair(first, last)) : std::nullopt;
}

Point point_at(Point from, Point to, const CutPlace& place) {
  if (place.part <= 0) return from;
  if (place.part >= 1) return to;
  const auto between = [&](float a, float b) {
    return static_cast<float>(a + place.part * (static_cast<double>(b) - a));
  };
  return {place.x.value_or(between(from.x, to.x)), place.y.value_or(between(from.y, to.y))};
}

}  // namespace

std::vector<std::vector<Point>> cut_to(std::span<const Point> points, const Rect& box) {
  std::vector<std::vector<Point>> stretches;
  bool goes_on = false;  // the last stretch ends at the previous point
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point from = points[i - 1], to = points[i];
    const auto inside = part_inside(from, to, box);
    if (inside) {
      if (!goes_on || inside->first.part > 0) stretches.push_back({point_at(from, to, inside->first)});
      stretches.back().push_back(point_at(from, to, inside->second));
    }
    goes_on = inside && inside->second.part >= 1;
  }
  return stretches;
}

}  // namespace headscope::viz
