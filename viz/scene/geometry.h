#pragma once
#include <cmath>
#include <cstdint>

namespace headscope::viz {

/// Logical pixels; x to the right, y down. A player multiplies by its device scale.
struct Point {
  float x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};

inline bool is_finite(Point p) {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

struct Rect {
  float x = 0;
  float y = 0;
  float w = 0;
  float h = 0;
  float right() const { return x + w; }
  float bottom() const { return y + h; }
  Point center() const { return {x + w / 2, y + h / 2}; }
  /// Whether its sides are finite and longer than 0.
  bool has_area() const { return is_finite({x, y}) && is_finite({w, h}) && w > 0 && h > 0; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  bool encloses(const Rect& r) const {
    return r.x >= x && r.right() <= right() && r.y >= y && r.bottom() <= bottom();
  }
  bool overlaps(const Rect& r) const {
    return x < r.right() && r.x < right() && y < r.bottom() && r.y < bottom();
  }
  Rect inset(float d) const { return {x + d, y + d, w - 2 * d, h - 2 * d}; }
  static Rect around(Point center, float reach) {
    return {center.x - reach, center.y - reach, 2 * reach, 2 * reach};
  }
  bool operator==(const Rect&) const = default;
};

/// An S-shaped course from 0 to 1 for t in [0, 1]: slow at both ends.
constexpr float eased(float t) {
  return t * t * (3 - 2 * t);
}

/// sRGB, straight alpha.
struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;
  Color with_alpha(std::uint8_t alpha) const { return {r, g, b, alpha}; }
  bool operator==(const Color&) const = default;
};

}  // namespace headscope::viz
