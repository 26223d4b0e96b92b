#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "viz/players/players.h"
#include "viz/scene/play.h"

namespace headscope::viz {
namespace {

/// Left, top, right and bottom; empty where right < left.
struct Box {
  float left = std::numeric_limits<float>::max();
  float top = std::numeric_limits<float>::max();
  float right = std::numeric_limits<float>::lowest();
  float bottom = std::numeric_limits<float>::lowest();

  bool empty() const { return right < left || bottom < top; }
  void take(Point p, float reach = 0) {
    if (!is_finite(p)) return;
    left = std::min(left, p.x - reach);
    top = std::min(top, p.y - reach);
    right = std::max(right, p.x + reach);
    bottom = std::max(bottom, p.y + reach);
  }
  void take(const Rect& r, float reach = 0) {
    take(Point{r.x, r.y}, reach);
    take(Point{r.right(), r.bottom()}, reach);
  }
  Box within(const Box& other) const {
    return {std::max(left, other.left), std::max(top, other.top), std::min(right, other.right),
            std::min(bottom, other.bottom)};
  }
};

class Measurer {
 public:
  explicit Measurer(const Fonts& fonts) : fonts_(fonts) {}

  void fill(const Rect& rect, float /*radius*/, Color /*color*/) { add(rect, 0); }
  void fill(std::span<const Point> points, Color /*color*/) { add(points, 0); }
  void stroke(const Rect& rect, float /*radius*/, float width, Color /*color*/) { add(rect, width / 2); }
  void stroke(const Lines& lines, float width, Color /*color*/) {
    for (const auto& points : lines.stretches) add(points, width / 2);
  }
  void draw(const Image& item) { add(item.dest, 0); }
  void draw(const GlyphRun& item) {
    const float c = std::cos(item.angle), s = std::sin(item.angle);
    Box box;
    const auto take = [&](const Glyph& glyph, Point em) {
      const float along = glyph.x + em.x * item.size, down = em.y * item.size;
      box.take(Point{item.origin.x + c * along - s * down, item.origin.y + s * along + c * down});
    };
    for (const Glyph& glyph : item.glyphs) {
      // A curve stays within the hull of its control points, which is close enough.
      for (const OutlinePoint& p : fonts_.outline(glyph)) {
        take(glyph, p.to);
        if (p.kind == OutlinePoint::Kind::quad || p.kind == OutlinePoint::Kind::cubic) take(glyph, p.c1);
        if (p.kind == OutlinePoint::Kind::cubic) take(glyph, p.c2);
      }
    }
    add(box);
  }
  void push_clip(const Rect& rect) {
    Box clip;
    clip.take(rect);
    clips_.push_back(clips_.empty() ? clip : clip.within(clips_.back()));
  }
  void pop_clip() { clips_.pop_back(); }

  Rect bounds() const {
    if (all_.empty()) return {};
    return {all_.left, all_.top, all_.right - all_.left, all_.bottom - all_.top};
  }

 private:
  void add(const Rect& rect, float reach) {
    Box box;
    box.take(rect, reach);
    add(box);
  }
  void add(std::span<const Point> points, float reach) {
    Box box;
    for (const Point p : points) box.take(p, reach);
    add(box);
  }
  void add(const Box& box) {
    const Box seen = clips_.empty() ? box : box.within(clips_.back());
    if (seen.empty()) return;
    all_.take(Point{seen.left, seen.top});
    all_.take(Point{seen.right, seen.bottom});
  }

  const Fonts& fonts_;
  std::vector<Box> clips_;
  Box all_;
};

}  // namespace

Rect content_bounds(const Scene& scene, const Fonts& fonts) {
  Measurer measurer(fonts);
  play(scene, measurer);
  return measurer.bounds();
}

}  // namespace headscope::viz
