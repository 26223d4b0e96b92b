#include "viz/players/stroke.h"

#include <cmath>

namespace headscope::viz {
namespace {

/// Whether a point, `from_join` away from a join, is next to the neighbouring line, which then covers it. A
/// point next to neither line belongs to the round side of the join.
bool covered_by_neighbour(Point neighbour_end, Point join, Point from_join) {
  return from_join.x * (join.x - neighbour_end.x) + from_join.y * (join.y - neighbour_end.y) < 0;
}

/// The fraction of a pixel on one side of a line, by the distance between its middle and the line: the exact
/// area of a unit square cut by a line in this direction. Projected along the line, the square has the
/// density of a trapezoid; this is the integral of that.
class HalfPlane {
 public:
  /// (x, y): a unit vector parallel or perpendicular to the line.
  HalfPlane(float x, float y)
      : long_(std::max(std::abs(x), std::abs(y))), short_(std::min(std::abs(x), std::abs(y))) {}

  /// 0 far on the negative side, 1/2 at distance 0, 1 far on the positive side.
  float operator()(float distance) const {
    const float outer = (long_ + short_) / 2, inner = (long_ - short_) / 2;
    const float d = std::abs(distance);
    float beyond = 0;  // the part of the larger side that the line cuts off
    if (d <= inner) {
      beyond = 0.5F - d / long_;
    } else if (d < outer) {
      beyond = (outer - d) * (outer - d) / (2 * long_ * short_);
    }
    return distance > 0 ? 1 - beyond : beyond;
  }

  /// The fraction of a pixel in the band [low, high], relative to the pixel's middle.
  float band(float low, float high) const { return std::max(0.0F, (*this)(high) - (*this)(low)); }

 private:
  float long_;
  float short_;
};

}  // namespace

StrokeMask::StrokeMask(int width, int height)
    : width_(width),
      height_(height),
      tiles_across_((width + kTile - 1) / kTile),
      slot_of_tile_(std::size_t{1} * tiles_across_ * ((height + kTile - 1) / kTile), kNone) {}

void StrokeMask::add_polyline(std::span<const Point> points, float width, const PixelRect& clip) {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    Line line{points[i], points[i + 1], width, {}, {}};
    if (i > 0) line.before = points[i - 1];
    if (i + 2 < points.size()) line.after = points[i + 2];
    add_line(line, clip);
  }
}

void StrokeMask::add_line(const Line& line, const PixelRect& clip) {
  if (!is_finite(line.a) || !is_finite(line.b) || !(line.width > 0)) return;
  const float dx = line.b.x - line.a.x, dy = line.b.y - line.a.y;
  const float length = std::hypot(dx, dy);
  if (!(length > 0)) return;
  const float ux = dx / length, uy = dy / length;
  const HalfPlane side(ux, uy);
  const float half = line.width / 2;
  const float reach = half + 0.75F;  // half a pixel's diagonal, rounded up

  const PixelRect near =
      intersect(intersect(clip, {0, 0, width_, height_}),
                touched(std::min(line.a.x, line.b.x) - reach, std::min(line.a.y, line.b.y) - reach,
                        std::max(line.a.x, line.b.x) + reach, std::max(line.a.y, line.b.y) + reach));
  for (int y = near.y0; y < near.y1; ++y) {
    const float cy = static_cast<float>(y) + 0.5F - line.a.y;
    int x0 = near.x0, x1 = near.x1;
    if (std::abs(uy) > 1e-3F) {  // pixels of this row within reach of the infinite line
      const float middle = line.a.x + cy * ux / uy, spread = reach / std::abs(uy);
      x0 = std::max(x0, floor_to_pixel(middle - spread));
      x1 = std::min(x1, ceil_to_pixel(middle + spread));
    }
    for (int x = x0; x < x1; ++x) {
      const float cx = static_cast<float>(x) + 0.5F - line.a.x;
      const float along = cx * ux + cy * uy;
      const float across = cy * ux - cx * uy;
      float distance = across;
      if (line.before && along < 0) {
        if (covered_by_neighbour(*line.before, line.a, {cx, cy})) continue;
        distance = std::hypot(along, across);
      } else if (line.after && along > length) {
        if (covered_by_neighbour(*line.after, line.b, {cx - dx, cy - dy})) continue;
        distance = std::hypot(along - length, across);
      }
      float coverage = side.band(distance - half, distance + half);
      if (!line.before) coverage *= side(along);
      if (!line.after) coverage *= side(length - along);
      if (coverage > 0) cover_pixel(x, y, coverage);
    }
  }
}

void StrokeMask::cover_pixel(int x, int y, float coverage) {
  const int tile = y / kTile * tiles_across_ + x / kTile;
  int& slot = slot_of_tile_[tile];
  if (slot == kNone) {
    if (touched_.size() == tiles_.size()) tiles_.emplace_back();
    touched_.push_back(tile);
    slot = static_cast<int>(touched_.size()) - 1;
  }
  float& cell = tiles_[slot][y % kTile * kTile + x % kTile];
  cell = std::max(cell, coverage);
}

}  // namespace headscope::viz
