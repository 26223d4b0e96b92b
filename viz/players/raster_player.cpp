#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "viz/players/coverage.h"
#include "viz/players/device_player.h"
#include "viz/players/players.h"
#include "viz/players/stroke.h"
#include "viz/scene/play.h"

namespace headscope::viz {
namespace {

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
