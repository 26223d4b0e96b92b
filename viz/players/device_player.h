#pragma once
#include "viz/scene/pixel_grid.h"
#include "viz/scene/scene.h"

namespace headscope::viz {

/// Shared by players that draw device pixels: coordinates, and rectangles split into pixels of equal
/// coverage.
class DevicePlayer {
 public:
  void fill(const Rect& rect, float radius, Color color) {
    if (radius > 0) {
      fill_round(device(rect), radius * scale_, color);
    } else {
      fill_device(device(rect), color);
    }
  }

  void stroke(const Rect& rect, float radius, float width, Color color) {
    const Rect middle = device(rect);
    if (radius > 0) return stroke_round(middle, radius * scale_, width * scale_, color);
    const float w = width * scale_;
    const Rect outer = middle.inset(-w / 2), inner = middle.inset(w / 2);
    if (inner.w <= 0 || inner.h <= 0) return fill_device(outer, color);
    fill_device({outer.x, outer.y, outer.w, w}, color);
    fill_device({outer.x, inner.bottom(), outer.w, w}, color);
    fill_device({outer.x, inner.y, w, inner.h}, color);
    fill_device({inner.right(), inner.y, w, inner.h}, color);
  }

 protected:
  DevicePlayer(Point origin, float scale) : origin_(origin), scale_(scale) {}
  ~DevicePlayer() = default;

  Point device(Point p) const { return {origin_.x + p.x * scale_, origin_.y + p.y * scale_}; }
  Rect device(const Rect& r) const {
    return {origin_.x + r.x * scale_, origin_.y + r.y * scale_, r.w * scale_, r.h * scale_};
  }

  /// Draws the partly covered pixels at the edges separately, so that a rectangle is the same for every
  /// player.
  void fill_device(const Rect& rect, Color color) {
    for (const Span& rows : cover(rect.y, rect.bottom())) {
      for (const Span& columns : cover(rect.x, rect.right())) {
        fill_pixels({columns.begin, rows.begin, columns.end, rows.end},
                    faded(color, rows.coverage * columns.coverage));
      }
    }
  }

  static Color faded(Color c, float opacity) {
    return c.with_alpha(
        static_cast<std::uint8_t>(static_cast<float>(c.a) * std::clamp(opacity, 0.0F, 1.0F) + 0.5F));
  }

  /// Fills those of the pixels that are inside the clip.
  virtual void fill_pixels(const PixelRect& pixels, Color color) = 0;
  // Fills a rounded rectangle, in device pixels.
  virtual void fill_round(const Rect& rect, float radius, Color color) = 0;
  virtual void stroke_round(const Rect& middle, float radius, float width, Color color) = 0;

  Point origin_;  ///< position of the scene, in device pixels
  float scale_;   ///< device pixels per logical pixel
};

}  // namespace headscope::viz
