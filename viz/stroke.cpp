#include "viz/stroke.h"

#include <cmath>

namespace headscope::viz {
namespace {

bool is_finite(Point p) {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

/// How much of a pixel's width at distance `d` from the middle of a band lies within it.
float band(float d, float half_width) {
  return std::max(0.0F, std::min(d + 0.5F, half_width) - std::max(d - 0.5F, -half_width));
}

}  // namespace

StrokeMask::StrokeMask(int width, int height)
    : width_(width), height_(height), tiles_across_((width + kTile - 1) / kTile) {
  const int tiles = tiles_across_ * ((height + kTile - 1) / kTile);
  coverage_.resize(static_cast<std::size_t>(tiles) * kTile * kTile);
  is_touched_.resize(static_cast<std::size_t>(tiles));
}

void StrokeMask::add_polyline(std::span<const Point> points, float width, const PixelRect& clip) {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const bool joined_b = i + 2 < points.size() && is_finite(points[i + 2]);
    const bool joined_a = i > 0 && is_finite(points[i - 1]);
    add_line({points[i], points[i + 1], width, joined_a, joined_b}, clip);
  }
}

void StrokeMask::add_segments(std::span<const Point> points, float width, const PixelRect& clip) {
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) add_line({points[i], points[i + 1], width}, clip);
}

void StrokeMask::add_line(const Line& line, const PixelRect& clip) {
  if (!is_finite(line.a) || !is_finite(line.b) || !(line.width > 0)) return;
  const float dx = line.b.x - line.a.x, dy = line.b.y - line.a.y;
  const float length = std::hypot(dx, dy);
  if (!(length > 0)) return;
  const float ux = dx / length, uy = dy / length;
  const float half = line.width / 2;
  const float reach = half + 0.75F;  // half a pixel's diagonal, rounded up

  const PixelRect near = intersect(intersect(clip, {0, 0, width_, height_}),
                                   {floor_to_pixel(std::min(line.a.x, line.b.x) - reach),
                                    floor_to_pixel(std::min(line.a.y, line.b.y) - reach),
                                    ceil_to_pixel(std::max(line.a.x, line.b.x) + reach),
                                    ceil_to_pixel(std::max(line.a.y, line.b.y) + reach)});
  for (int y = near.y0; y < near.y1; ++y) {
    const float cy = static_cast<float>(y) + 0.5F - line.a.y;
    int x0 = near.x0, x1 = near.x1;
    if (std::abs(uy) > 1e-3F) {  // the pixels of this row that lie within reach of the endless line
      const float middle = line.a.x + cy * ux / uy, spread = reach / std::abs(uy);
      x0 = std::max(x0, floor_to_pixel(middle - spread));
      x1 = std::min(x1, ceil_to_pixel(middle + spread));
    }
    for (int x = x0; x < x1; ++x) {
      const float cx = static_cast<float>(x) + 0.5F - line.a.x;
      const float along = cx * ux + cy * uy;
      const float across = cy * ux - cx * uy;
      float coverage = 0;
      if (line.joined_a && along < 0) {
        coverage = band(std::hypot(along, across), half);
      } else if (line.joined_b && along > length) {
        coverage = band(std::hypot(along - length, across), half);
      } else {
        const float from = line.joined_a ? along - 0.5F : std::max(along - 0.5F, 0.0F);
        const float to = line.joined_b ? along + 0.5F : std::min(along + 0.5F, length);
        coverage = band(std::abs(across), half) * std::max(0.0F, to - from);
      }
      if (coverage > 0) cover_pixel(x, y, std::min(coverage, 1.0F));
    }
  }
}

void StrokeMask::cover_pixel(int x, int y, float coverage) {
  const int tile = y / kTile * tiles_across_ + x / kTile;
  const auto index = static_cast<std::size_t>(tile);
  if (!is_touched_[index]) {
    is_touched_[index] = true;
    touched_.push_back(tile);
  }
  float& cell = coverage_[index * kTile * kTile + static_cast<std::size_t>(y % kTile * kTile + x % kTile)];
  cell = std::max(cell, coverage);
}

}  // namespace headscope::viz
