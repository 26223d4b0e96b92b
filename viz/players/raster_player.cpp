#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "viz/players/coverage.h"
#include "viz/players/device_player.h"
#include "viz/players/players.h"
#include "viz/scene/pixel_grid.h"
#include "viz/scene/play.h"

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

/// Coverage per pixel of the union of stroked lines: it does not get darker where lines overlap or join. A
/// single line is covered exactly; joins are round, ends square. Pixels are stored in tiles, of which only
/// those that lines touch are there.
class StrokeMask {
 public:
  StrokeMask(int width, int height)
      : width_(width),
        height_(height),
        tiles_across_((width + kTile - 1) / kTile),
        slot_of_tile_(std::size_t{1} * tiles_across_ * ((height + kTile - 1) / kTile), kNone) {}

  /// Adds lines between successive points, with joins.
  void add_polyline(std::span<const Point> points, float width, const PixelRect& clip) {
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      Line line{points[i], points[i + 1], width, {}, {}};
      if (i > 0) line.before = points[i - 1];
      if (i + 2 < points.size()) line.after = points[i + 2];
      add_line(line, clip);
    }
  }

  /// Calls `paint(x, y, coverage in 0..1)` for each covered pixel and clears the mask.
  template <class Paint>
  void flush(Paint&& paint) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const int x0 = touched_[i] % tiles_across_ * kTile, y0 = touched_[i] / tiles_across_ * kTile;
      int at = 0;
      for (float& cell : tiles_[i]) {
        if (cell > 0) paint(x0 + at % kTile, y0 + at / kTile, cell);
        cell = 0;
        ++at;
      }
      slot_of_tile_[touched_[i]] = kNone;
    }
    touched_.clear();
  }

 private:
  static constexpr int kTile = 32;
  static constexpr int kNone = -1;
  using Tile = std::array<float, kTile * kTile>;
  struct Line {
    Point a;
    Point b;
    float width = 1;
    std::optional<Point> before;  ///< start of the line that ends at a
    std::optional<Point> after;   ///< end of the line that starts at b
  };
  void add_line(const Line& line, const PixelRect& clip) {
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
  void cover_pixel(int x, int y, float coverage) {
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

  int width_;
  int height_;
  int tiles_across_;
  std::vector<int> slot_of_tile_;  ///< where in tiles_ its pixels are; kNone: no line touches it
  std::vector<int> touched_;       ///< tiles by slot
  std::deque<Tile> tiles_;         ///< by slot; those behind the touched ones are clear, to be used again
};

constexpr int kLargestSide = 32768;

std::uint8_t mixed(int from, int to, int alpha) {  // alpha: 0..255
  return static_cast<std::uint8_t>((from * (255 - alpha) + to * alpha + 127) / 255);
}

/// Blends `source` over `target`, straight alpha, in sRGB as graphics cards do.
void blend(Color& target, Color source) {
  const int alpha = source.a;
  if (alpha == 0) return;
  if (alpha == 255) {
    target = source;
  } else if (target.a == 255) {
    target = {mixed(target.r, source.r, alpha), mixed(target.g, source.g, alpha),
              mixed(target.b, source.b, alpha)};
  } else {
    const int kept = target.a * (255 - alpha) / 255;
    const int total = kept + alpha;
    const auto channel = [&](int t, int s) {
      return static_cast<std::uint8_t>((t * kept + s * alpha + total / 2) / total);
    };
    target = {channel(target.r, source.r), channel(target.g, source.g), channel(target.b, source.b),
              static_cast<std::uint8_t>(total)};
  }
}

class RasterPlayer : public DevicePlayer {
 public:
  RasterPlayer(Bitmap& target, const Fonts& fonts, float scale)
      : DevicePlayer({0, 0}, scale),
        target_(target),
        fonts_(fonts),
        clips_{{0, 0, target.width, target.height}} {}

  using DevicePlayer::fill;
  void fill(std::span<const Point> convex, Color color) {
    const std::span<const Point> points = device(convex);
    float left = kFarAway, top = kFarAway, right = -kFarAway, bottom = -kFarAway;
    for (const Point p : points) {
      left = std::min(left, p.x);
      right = std::max(right, p.x);
      top = std::min(top, p.y);
      bottom = std::max(bottom, p.y);
    }
    Coverage path(visible({left, top, right - left, bottom - top}));
    path.move_to(points.front());
    for (const Point p : points) path.line_to(p);
    path.close();
    fill(path, color);
  }

  using DevicePlayer::stroke;
  void stroke(const Lines& lines, float width, Color color) {
    if (!strokes_) strokes_.emplace(target_.width, target_.height);
    for (const auto& points : lines.stretches)
      strokes_->add_polyline(device(points), width * scale_, clips_.back());
    strokes_->flush([&](int x, int y, float coverage) { blend(x, y, faded(color, coverage)); });
  }

  void draw(const Image& image) {
    const Bitmap& bitmap = *image.bitmap;
    const PixelRect dest = snapped(device(image.dest));
    const PixelRect shown = intersect(dest, clips_.back());
    if (shown.empty()) return;
    // Samples at the middle of each device pixel, as a graphics card does.
    const auto source = [](int pixel, int dest_pixels, int count) {
      return static_cast<int>((2LL * pixel + 1) * count / (2LL * dest_pixels));
    };
    std::vector<int> columns;
    for (int x = shown.x0; x < shown.x1; ++x)
      columns.push_back(source(x - dest.x0, dest.width(), bitmap.width));
    for (int y = shown.y0; y < shown.y1; ++y) {
      const int row = source(y - dest.y0, dest.height(), bitmap.height);
      for (int x = shown.x0; x < shown.x1; ++x) blend(x, y, bitmap.at(columns[x - shown.x0], row));
    }
  }

  void draw(const GlyphRun& run) {
    for (const Glyph& glyph : run.glyphs) {
      const PlacedGlyph placed = place_glyph(run, glyph, device(run.origin), scale_);
      const GlyphMask& mask = glyph_mask(placed.key);
      const int left = placed.x + mask.x, top = placed.y + mask.y;
      const PixelRect shown = intersect({left, top, left + mask.width, top + mask.height}, clips_.back());
      for (int y = shown.y0; y < shown.y1; ++y) {
        const std::uint8_t* alpha = &mask.alpha[(y - top) * mask.width + shown.x0 - left];
        for (int x = shown.x0; x < shown.x1; ++x)
          blend(x, y, run.color.with_alpha(static_cast<std::uint8_t>((run.color.a * *alpha++ + 127) / 255)));
      }
    }
  }

  void push_clip(const Rect& rect) { clips_.push_back(intersect(clips_.back(), snapped(device(rect)))); }
  void pop_clip() { clips_.pop_back(); }

 private:
  using DevicePlayer::device;
  /// Valid until the next call.
  std::span<const Point> device(std::span<const Point> points) {
    device_points_.clear();
    for (const Point p : points) device_points_.push_back(device(p));
    return device_points_;
  }
  /// The pixels touched by `rect` that are inside the clip.
  PixelRect visible(const Rect& rect) const { return intersect(clips_.back(), touched(rect)); }

  void blend(int x, int y, Color color) { viz::blend(target_.at(x, y), color); }

  void fill_pixels(const PixelRect& pixels, Color color) override {
    const PixelRect shown = intersect(clips_.back(), pixels);
    for (int y = shown.y0; y < shown.y1; ++y)
      for (int x = shown.x0; x < shown.x1; ++x) blend(x, y, color);
  }

  void fill_round(const Rect& rect, float radius, Color color) override {
    Coverage path(visible(rect));
    add_round_rect(path, rect, radius, true);
    fill(path, color);
  }

  void stroke_round(const Rect& middle, float radius, float width, Color color) override {
    const float half = width / 2;
    const Rect outer = middle.inset(-half), inner = middle.inset(half);
    Coverage path(visible(outer));
    add_round_rect(path, outer, radius + half, true);
    if (inner.w > 0 && inner.h > 0) add_round_rect(path, inner, radius - half, false);
    fill(path, color);
  }

  void fill(const Coverage& path, Color color) {
    std::vector<float> row;
    const PixelRect& b = path.bounds();
    for (int y = b.y0; y < b.y1; ++y) {
      path.row(y, row);
      for (int x = b.x0; x < b.x1; ++x) blend(x, y, faded(color, row[x - b.x0]));
    }
  }

  const GlyphMask& glyph_mask(const GlyphKey& key) {
    const auto [at, added] = masks_.try_emplace(key);
    if (added) at->second = rasterize_glyph(fonts_.outline({key.font, key.index, 0}), key);
    return at->second;
  }

  Bitmap& target_;
  const Fonts& fonts_;
  std::vector<PixelRect> clips_;
  std::vector<Point> device_points_;
  std::optional<StrokeMask> strokes_;  ///< created for the first line
  std::unordered_map<GlyphKey, GlyphMask, GlyphKeyHash> masks_;
};

}  // namespace

int bitmap_side(float logical, float scale) {
  // A size slightly above a whole number is a rounding error and needs no further pixel.
  constexpr float kHair = 1e-3F;
  const float size = std::ceil(logical * scale - kHair);
  if (!(size > 0)) return 0;
  if (size > kLargestSide) {
    throw std::runtime_error("a picture may be at most " + std::to_string(kLargestSide) +
                             " pixels wide and high");
  }
  return static_cast<int>(size);
}

Bitmap rasterize(const Scene& scene, const Fonts& fonts, float scale) {
  Bitmap bitmap =
      Bitmap::filled(bitmap_side(scene.width, scale), bitmap_side(scene.height, scale), scene.background);
  if (bitmap.empty()) return bitmap;
  RasterPlayer player(bitmap, fonts, scale);
  play(scene, player);
  return bitmap;
}

}  // namespace headscope::viz
