#pragma once
#include <span>
#include <vector>

#include "viz/scene/geometry.h"

namespace headscope::viz {

/// The parts of the line through `points` (finite) that are inside `box`: stretches of two points or more,
/// cut where the line crosses the box's edge.
std::vector<std::vector<Point>> cut_to(std::span<const Point> points, const Rect& box);

}  // namespace headscope::viz
