#pragma once
#include <algorithm>
#include <cmath>

#include "viz/scene/geometry.h"

/// Maps shapes to device pixels. Shared by all players, so that a picture is the same on the screen and in a
/// file.
namespace headscope::viz {

/// A rectangle of whole device pixels; the upper bounds are exclusive.
struct PixelRect {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  bool operator==(const PixelRect&) const = default;
};

inline PixelRect intersect(const PixelRect& a, const PixelRect& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

/// Beyond any picture, but safe to cast to int and to add to.
inline constexpr float kFarAway = 1e6F;

/// `v` clamped to ±kFarAway; NaN becomes -kFarAway.
inline float bounded(float v) {
  return v > -kFarAway ? std::min(v, kFarAway) : -kFarAway;
}

inline int round_to_pixel(float v) {
  return static_cast<int>(std::floor(bounded(v) + 0.5F));
}
inline int floor_to_pixel(float v) {
  return static_cast<int>(std::floor(bounded(v)));
}
inline int ceil_to_pixel(float v) {
  return static_cast<int>(std::ceil(bounded(v)));
}

/// Images and clips cover whole pixels. Each edge is rounded separately, so that neighbours with a common
/// edge leave no gap.
inline PixelRect snapped(const Rect& device) {
  return {round_to_pixel(device.x), round_to_pixel(device.y), round_to_pixel(device.right()),
          round_to_pixel(device.bottom())};
}

}  // namespace headscope::viz
