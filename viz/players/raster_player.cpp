#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "viz/players/coverage.h"
#include "viz/players/players.h"
#include "viz/players/stroke.h"
#include "viz/scene/pixel_grid.h"

namespace headscope::viz {
namespace {

constexpr int kLargestSide = 32768;

int pixels(float logical, float scale) {
  // A hair above a whole number is a rounding error of the product, no need for one more pixel.
  constexpr float kHair = 1e-3F;
  const float size = std::ceil(logical * scale - kHair);
  if (!(size > 0)) return 0;
  if (size > kLargestSide) {
    throw std::runtime_error("a picture may be at most " + std::to_string(kLargestSide) +
                             " pixels wide and high");
  }
  return static_cast<int>(size);
}

std::uint8_t mixed(int from, int to, int alpha) {  // alpha: 0..255
  return static_cast<std::uint8_t>((from * (255 - alpha) + to * alpha + 127) / 255);
}

/// `source` over `target`, straight alpha, in sRGB as graphics cards blend.
void blend(Color& target, Color source, int alpha) {
  if (alpha <= 0) return;
  if (alpha >= 255) {
    target = source.with_alpha(255);
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

int alpha_of(Color color, float coverage) {
  return static_cast<int>(static_cast<float>(color.a) * coverage + 0.5F);
}

class Painter {
 public:
  Painter(Bitmap& target, const Fonts& fonts, float scale)
      : target_(target), fonts_(fonts), scale_(scale), clips_{{0, 0, target.width, target.height}} {}

  void operator()(const FillRect& item) {
    const Rect rect = device(item.rect);
    if (item.radius > 0) {
      Coverage path(visible(rect));
      add_round_rect(path, rect, item.radius * scale_, true);
      fill(path, item.color);
    } else {
      fill(rect, item.color);
    }
  }

  void operator()(const StrokeRect& item) {
    const Rect middle = device(item.rect);
    const float width = item.width * scale_, half = width / 2;
    const Rect outer = middle.inset(-half), inner = middle.inset(half);
    if (item.radius > 0) {
      Coverage path(visible(outer));
      add_round_rect(path, outer, item.radius * scale_ + half, true);
      if (inner.w > 0 && inner.h > 0) add_round_rect(path, inner, item.radius * scale_ - half, false);
      fill(path, item.color);
    } else if (inner.w <= 0 || inner.h <= 0) {
      fill(outer, item.color);
    } else {
      fill(Rect{outer.x, outer.y, outer.w, width}, item.color);
      fill(Rect{outer.x, inner.bottom(), outer.w, width}, item.color);
      fill(Rect{outer.x, inner.y, width, inner.h}, item.color);
      fill(Rect{inner.right(), inner.y, width, inner.h}, item.color);
    }
  }

  void operator()(const Polyline& item) {
    strokes().add_polyline(device(item.points), item.width * scale_, clips_.back());
    flush_strokes(item.color);
  }

  void operator()(const Segments& item) {
    strokes().add_segments(device(item.points), item.width * scale_, clips_.back());
    flush_strokes(item.color);
  }

  void operator()(const FillPolygon& item) {
    if (item.points.size() < 3) return;
    const std::vector<Point> points = device(item.points);
    float left = kFarAway, top = kFarAway, right = -kFarAway, bottom = -kFarAway;
    for (const Point p : points) {
      left = std::min(left, p.x);
      right = std::max(right, p.x);
      top = std::min(top, p.y);
      bottom = std::max(bottom, p.y);
    }
    Coverage path(visible({left, top, right - left, bottom - top}));
    path.move_to(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) path.line_to(points[i]);
    path.close();
    fill(path, item.color);
  }

  void operator()(const Image& item) {
    if (item.bitmap == nullptr || item.bitmap->width < 1 || item.bitmap->height < 1) return;
    const Bitmap& bitmap = *item.bitmap;
    const PixelRect dest = snapped(device(item.dest));
    const PixelRect shown = intersect(dest, clips_.back());
    if (shown.empty()) return;
    // The middle of each device pixel decides, as it does on a graphics card.
    const auto source = [](int pixel, int dest_pixels, int count) {
      return static_cast<int>((2LL * pixel + 1) * count / (2LL * dest_pixels));
    };
    std::vector<int> columns;
    for (int x = shown.x0; x < shown.x1; ++x)
      columns.push_back(source(x - dest.x0, dest.width(), bitmap.width));
    for (int y = shown.y0; y < shown.y1; ++y) {
      const int row = source(y - dest.y0, dest.height(), bitmap.height);
      Color* out = &pixel(shown.x0, y);
      for (const int column : columns) {
        const Color c = bitmap.at(column, row);
        blend(*out++, c, c.a);
      }
    }
  }

  void operator()(const GlyphRun& item) {
    const Point origin{item.origin.x * scale_, item.origin.y * scale_};
    for (const Glyph& glyph : item.glyphs) {
      const PlacedGlyph placed = place_glyph(item, glyph, origin, scale_);
      const GlyphMask& mask = glyph_mask(placed.key);
      const int left = placed.x + mask.x, top = placed.y + mask.y;
      const PixelRect shown = intersect({left, top, left + mask.width, top + mask.height}, clips_.back());
      for (int y = shown.y0; y < shown.y1; ++y) {
        const std::uint8_t* alpha = &mask.alpha[(y - top) * mask.width + shown.x0 - left];
        for (int x = shown.x0; x < shown.x1; ++x)
          blend(pixel(x, y), item.color, (item.color.a * *alpha++ + 127) / 255);
      }
    }
  }

  void operator()(const PushClip& item) {
    clips_.push_back(intersect(clips_.back(), snapped(device(item.rect))));
  }
  void operator()(const PopClip&) {
    if (clips_.size() > 1) clips_.pop_back();
  }

 private:
  Point device(Point p) const { return {p.x * scale_, p.y * scale_}; }
  Rect device(const Rect& r) const { return {r.x * scale_, r.y * scale_, r.w * scale_, r.h * scale_}; }
  std::vector<Point> device(const std::vector<Point>& points) const {
    std::vector<Point> result;
    result.reserve(points.size());
    for (const Point p : points) result.push_back(device(p));
    return result;
  }

  /// The pixels that `rect` touches and that may be painted.
  PixelRect visible(const Rect& rect) const {
    return intersect(clips_.back(), {floor_to_pixel(rect.x), floor_to_pixel(rect.y),
                                     ceil_to_pixel(rect.right()), ceil_to_pixel(rect.bottom())});
  }

  Color& pixel(int x, int y) {
    return target_.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(target_.width) +
                          static_cast<std::size_t>(x)];
  }

  void fill(const Rect& rect, Color color) {
    const PixelRect& clip = clips_.back();
    for (const Span& rows : cover(rect.y, rect.bottom())) {
      for (const Span& columns : cover(rect.x, rect.right())) {
        const int alpha = alpha_of(color, rows.coverage * columns.coverage);
        const PixelRect shown = intersect(clip, {columns.begin, rows.begin, columns.end, rows.end});
        for (int y = shown.y0; y < shown.y1; ++y) {
          for (int x = shown.x0; x < shown.x1; ++x) blend(pixel(x, y), color, alpha);
        }
      }
    }
  }

  void fill(const Coverage& path, Color color) {
    std::vector<float> row;
    const PixelRect& b = path.bounds();
    for (int y = b.y0; y < b.y1; ++y) {
      path.row(y, row);
      for (int x = b.x0; x < b.x1; ++x) blend(pixel(x, y), color, alpha_of(color, row[x - b.x0]));
    }
  }

  StrokeMask& strokes() {
    if (!strokes_) strokes_.emplace(target_.width, target_.height);
    return *strokes_;
  }
  void flush_strokes(Color color) {
    strokes_->flush(
        [&](int x, int y, float coverage) { blend(pixel(x, y), color, alpha_of(color, coverage)); });
  }

  const GlyphMask& glyph_mask(const GlyphKey& key) {
    const auto [at, added] = masks_.try_emplace(key);
    if (added) at->second = rasterize_glyph(fonts_.outline({key.font, key.index, 0}), key);
    return at->second;
  }

  Bitmap& target_;
  const Fonts& fonts_;
  float scale_;
  std::vector<PixelRect> clips_;
  std::optional<StrokeMask> strokes_;
  std::unordered_map<GlyphKey, GlyphMask, GlyphKeyHash> masks_;
};

}  // namespace

Bitmap rasterize(const Scene& scene, const Fonts& fonts, float scale) {
  Bitmap bitmap{pixels(scene.width, scale), pixels(scene.height, scale), {}};
  bitmap.pixels.resize(static_cast<std::size_t>(bitmap.width) * static_cast<std::size_t>(bitmap.height),
                       scene.background);
  if (bitmap.pixels.empty()) return bitmap;
  Painter painter(bitmap, fonts, scale);
  for (const Item& item : scene.items) std::visit(painter, item);
  return bitmap;
}

}  // namespace headscope::viz
