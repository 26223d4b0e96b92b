#pragma once
#include <span>
#include <vector>

#include "viz/scene/geometry.h"

namespace headscope::viz {

/// The dashes that tell a chart's lines apart without their colours, for Polyline::dashes: lengths of dashes
/// and gaps in turn; none for the first line, which is solid. They repeat after seven, like the colours, but
/// the second seven begin elsewhere, so that two lines of one hue have different dashes. `unit`: Style::unit.
std::vector<float> dashes_of(int line, float unit);

/// Length of a line sample in a legend that shows every pattern, in units.
inline constexpr float kDashSample = 6;

/// Cuts the line through `points` into dashes, which go round its bends, and appends them to `pieces`.
void cut_dashes(std::span<const Point> points, std::span<const float> dashes,
                std::vector<std::vector<Point>>& pieces);

}  // namespace headscope::viz
