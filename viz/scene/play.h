#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "viz/scene/dashes.h"
#include "viz/scene/scene.h"

namespace headscope::viz {

/// Lines of finite points, which belong to the caller. The points of a stretch are joined; a single point
/// paints nothing.
struct Lines {
  std::span<const std::span<const Point>> stretches;
  bool joined = true;  ///< false: all stretches are lines of two points
};

/// The interface of a player. A scene is reduced to these few calls, in order and with valid arguments. The
/// points of lines are at most kFar away, because cairo and the readers based on it overflow at coordinates
/// of 2^23.
/// Colours may be transparent, and clips and stroked rectangles empty; all numbers are finite.
template <class T>
concept Player = requires(T player, Rect rect, Color color, float number, std::span<const Point> convex,
                          const Lines& lines, const Image& image, const GlyphRun& run) {
  player.fill(rect, number, color);            // radius of the corners
  player.fill(convex, color);                  // at least three finite points
  player.stroke(rect, number, number, color);  // radius, width; the line is centred on its edge
  player.stroke(lines, number, color);         // width; joins are round, ends square
  player.draw(image);                          // has pixels
  player.draw(run);                            // has glyphs
  player.push_clip(rect);                      // intersected with the current clip
  player.pop_clip();                           // once for every push_clip
};

namespace detail {

template <Player T>
class Lowering {
 public:
  explicit Lowering(T& player) : player_(player) {}

  void operator()(const FillRect& item) {
    if (item.rect.has_area()) player_.fill(item.rect, item.radius, item.color);
  }
  void operator()(const StrokeRect& item) {
    const Rect& r = item.rect;
    if (is_finite({r.x, r.y}) && is_finite({r.w, r.h}))
      player_.stroke(r, item.radius, item.width, item.color);
  }
  void operator()(const Polyline& item) {
    lines_.clear();
    bool drawing = false;  // whether the last line goes on
    for (const Point p : item.points) {
      if (is_finite(p)) drawing ? lines_.go_on(near(p)) : lines_.begin(near(p));
      drawing = is_finite(p);
    }
    stroke(true, item.width, item.color, item.dashes);
  }
  void operator()(const Segments& item) {
    lines_.clear();
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2) {
      if (!is_finite(item.points[i]) || !is_finite(item.points[i + 1])) continue;
      lines_.begin(near(item.points[i]));
      lines_.go_on(near(item.points[i + 1]));
    }
    stroke(false, item.width, item.color, item.dashes);
  }
  void operator()(const FillPolygon& item) {
    if (item.points.size() >= 3 && std::ranges::all_of(item.points, is_finite))
      player_.fill(std::span(item.points), item.color);
  }
  void operator()(const Image& item) {
    if (item.bitmap != nullptr && !item.bitmap->empty() && item.dest.has_area()) player_.draw(item);
  }
  void operator()(const GlyphRun& item) {
    if (!item.glyphs.empty()) player_.draw(item);
  }
  void operator()(const PushClip& item) {
    player_.push_clip(item.rect.has_area() ? item.rect : Rect{});
    ++clips_;
  }
  void operator()(const PopClip&) {
    if (clips_ == 0) return;
    player_.pop_clip();
    --clips_;
  }
  void close_clips() {
    while (clips_ > 0) (*this)(PopClip{});
  }

 private:
  static constexpr float kFar = 1e6F;  ///< logical pixels
  static Point near(Point p) { return {std::clamp(p.x, -kFar, kFar), std::clamp(p.y, -kFar, kFar)}; }

  /// Draws the current lines. All players draw the same dashes, because they are cut here.
  void stroke(bool joined, float width, Color color, std::span<const float> dashes) {
    dashed_.clear();
    for (std::size_t i = 0; i < lines_.size() && !dashes.empty(); ++i) cut_dashes(lines_[i], dashes, dashed_);
    const Pieces& lines = dashes.empty() ? lines_ : dashed_;
    stretches_.clear();
    for (std::size_t i = 0; i < lines.size(); ++i) stretches_.push_back(lines[i]);
    player_.stroke({stretches_, joined}, width, color);
  }

  T& player_;
  int clips_ = 0;
  Pieces lines_, dashed_;  ///< of one item; keep their memory for the next
  std::vector<std::span<const Point>> stretches_;
};

}  // namespace detail

/// Draws the items of a scene with `player`.
template <Player T>
void play(const Scene& scene, T& player) {
  detail::Lowering<T> lowering(player);
  for (const Item& item : scene.items) std::visit(lowering, item);
  lowering.close_clips();
}

}  // namespace headscope::viz
