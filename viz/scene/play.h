#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "viz/scene/scene.h"

namespace headscope::viz {

/// Lines of finite points. Points of one stretch are joined; a single one paints nothing.
struct Lines {
  std::vector<std::span<const Point>> stretches;
  bool joined = true;  ///< false: all stretches are lines of two points
};

/// The interface of a player: a scene is reduced to these few drawing operations, in order and validated.
/// Colours may be transparent, rectangles may be empty or have a NaN side.
template <class T>
concept Player = requires(T player, Rect rect, Color color, float number, std::span<const Point> convex,
                          const Lines& lines, const Image& image, const GlyphRun& run) {
  player.fill(rect, number, color);            // the radius of its corners
  player.fill(convex, color);                  // three finite points at least
  player.stroke(rect, number, number, color);  // radius, width; the line is centred on its edge
  player.stroke(lines, number, color);         // width; joins are round, ends square
  player.draw(image);                          // has pixels
  player.draw(run);                            // has glyphs
  player.push_clip(rect);                      // intersected with the clip in force
  player.pop_clip();                           // as often as a clip was pushed
};

namespace detail {

template <Player T>
class Lowering {
 public:
  explicit Lowering(T& player) : player_(player) {}

  void operator()(const FillRect& item) { player_.fill(item.rect, item.radius, item.color); }
  void operator()(const StrokeRect& item) { player_.stroke(item.rect, item.radius, item.width, item.color); }
  void operator()(const Polyline& item) {
    Lines lines;
    const auto end = item.points.end();
    for (auto at = std::find_if(item.points.begin(), end, is_finite); at != end;) {
      const auto stop = std::find_if_not(at, end, is_finite);
      lines.stretches.emplace_back(at, stop);
      at = std::find_if(stop, end, is_finite);
    }
    player_.stroke(lines, item.width, item.color);
  }
  void operator()(const Segments& item) {
    Lines lines{{}, false};
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2) {
      if (is_finite(item.points[i]) && is_finite(item.points[i + 1]))
        lines.stretches.emplace_back(&item.points[i], 2);
    }
    player_.stroke(lines, item.width, item.color);
  }
  void operator()(const FillPolygon& item) {
    if (item.points.size() >= 3 && std::ranges::all_of(item.points, is_finite))
      player_.fill(std::span(item.points), item.color);
  }
  void operator()(const Image& item) {
    if (item.bitmap != nullptr && !item.bitmap->empty()) player_.draw(item);
  }
  void operator()(const GlyphRun& item) {
    if (!item.glyphs.empty()) player_.draw(item);
  }
  void operator()(const PushClip& item) {
    player_.push_clip(item.rect);
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
  T& player_;
  int clips_ = 0;
};

}  // namespace detail

/// Lets `player` draw a scene's items.
template <Player T>
void play(const Scene& scene, T& player) {
  detail::Lowering<T> lowering(player);
  for (const Item& item : scene.items) std::visit(lowering, item);
  lowering.close_clips();
}

}  // namespace headscope::viz
