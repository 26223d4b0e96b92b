#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "viz/scene/cut_lines.h"
#include "viz/scene/dashes.h"
#include "viz/scene/scene.h"

namespace headscope::viz {

/// Lines of finite points, which belong to the caller. The points of a stretch are joined; a single point
/// paints nothing.
struct Lines {
  std::span<const std::span<const Point>> stretches;
  bool joined = true;  ///< false: all stretches are lines of two points
};

/// The interface of a player. A scene is reduced to these few calls, in order and with valid arguments. Lines
/// are cut far outside the scene, because cairo and the readers based on it overflow at coordinates of 2^23.
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
  Lowering(const Scene& scene, T& player)
      : player_(player), far_(Rect{0, 0, scene.width, scene.height}.inset(-kFar)) {}

  void operator()(const FillRect& item) {
    if (item.rect.has_area()) player_.fill(item.rect, item.radius, item.color);
  }
  void operator()(const StrokeRect& item) {
    const Rect& r = item.rect;
    if (is_finite({r.x, r.y}) && is_finite({r.w, r.h}))
      player_.stroke(r, item.radius, item.width, item.color);
  }
  void operator()(const Polyline& item) {
    stretches_.clear();
    const auto end = item.points.end();
    for (auto at = std::find_if(item.points.begin(), end, is_finite); at != end;) {
      const auto stop = std::find_if_not(at, end, is_finite);
      stretches_.emplace_back(at, stop);
      at = std::find_if(stop, end, is_finite);
    }
    stroke({stretches_}, item.width, item.color, item.dashes);
  }
  void operator()(const Segments& item) {
    stretches_.clear();
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2) {
      if (is_finite(item.points[i]) && is_finite(item.points[i + 1]))
        stretches_.emplace_back(&item.points[i], 2);
    }
    stroke({stretches_, false}, item.width, item.color, item.dashes);
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
  static constexpr float kFar = 30000;  ///< logical pixels

  void stroke(const Lines& lines, float width, Color color, std::span<const float> dashes) {
    const auto is_near = [&](std::span<const Point> points) {
      return std::ranges::all_of(points, [&](Point p) { return far_.contains(p); });
    };
    if (std::ranges::all_of(lines.stretches, is_near)) return dash(lines, width, color, dashes);
    std::vector<std::vector<Point>> cut;  // owns the points of cut lines
    std::vector<std::span<const Point>> near;
    for (const std::span<const Point> stretch : lines.stretches) {
      if (is_near(stretch)) {
        near.push_back(stretch);
      } else {
        for (std::vector<Point>& part : cut_to(stretch, far_))
          near.emplace_back(cut.emplace_back(std::move(part)));
      }
    }
    dash({near, lines.joined}, width, color, dashes);
  }

  /// All players draw the same dashes, because they are cut here.
  void dash(const Lines& lines, float width, Color color, std::span<const float> dashes) {
    if (dashes.empty()) return player_.stroke(lines, width, color);
    pieces_.clear();
    for (const std::span<const Point> stretch : lines.stretches) cut_dashes(stretch, dashes, pieces_);
    dashed_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i) dashed_.push_back(pieces_[i]);
    player_.stroke({dashed_, lines.joined}, width, color);
  }

  T& player_;
  Rect far_;
  int clips_ = 0;
  std::vector<std::span<const Point>> stretches_, dashed_;  ///< of one item; keep their memory for the next
  Pieces pieces_;
};

}  // namespace detail

/// Draws the items of a scene with `player`.
template <Player T>
void play(const Scene& scene, T& player) {
  detail::Lowering<T> lowering(scene, player);
  for (const Item& item : scene.items) std::visit(lowering, item);
  lowering.close_clips();
}

}  // namespace headscope::viz
