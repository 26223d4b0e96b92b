#pragma once
#include <cstddef>
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

/// Lines one after the other, in memory that lasts from line to line.
class Pieces {
 public:
  std::size_t size() const { return begins_.size(); }
  std::span<const Point> operator[](std::size_t i) const {
    const std::size_t end = i + 1 < size() ? begins_[i + 1] : points_.size();
    return std::span(points_).subspan(begins_[i], end - begins_[i]);
  }
  void begin(Point at) {
    begins_.push_back(points_.size());
    points_.push_back(at);
  }
  /// Draws the last one on.
  void go_on(Point to) { points_.push_back(to); }
  void clear() {
    points_.clear();
    begins_.clear();
  }

 private:
  std::vector<Point> points_;
  std::vector<std::size_t> begins_;
};

/// Cuts the line through `points` into dashes, which go round its bends, and appends them to `pieces`.
void cut_dashes(std::span<const Point> points, std::span<const float> dashes, Pieces& pieces);

}  // namespace headscope::viz
