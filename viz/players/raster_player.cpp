#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "viz/players/cairo_player.h"
#include "viz/players/masks.h"
#include "viz/players/players.h"
#include "viz/scene/pixel_grid.h"

namespace headscope::viz {
namespace {

class RasterPlayer : public CairoPlayer {
 public:
  RasterPlayer(int width, int height, Color background, const Fonts& fonts, float scale)
      : CairoPlayer(CairoHandle<cairo_surface_t>(cairo_image_surface_create(
                        background.a == 255 ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, width, height)),
                    scale),
        fonts_(fonts),
        scale_(scale) {
    cairo_set_tolerance(now(), kTolerance);
    set_color(background);
    cairo_paint(now());
  }

  void draw(const Image& image) {
    const Bitmap& bitmap = *image.bitmap;
    const PixelRect dest = on_pixels(image.dest);
    cairo_save(now());
    cairo_identity_matrix(now());
    double left = 0, top = 0, right = 0, bottom = 0;
    cairo_clip_extents(now(), &left, &top, &right, &bottom);
    const PixelRect shown = intersect(dest, {static_cast<int>(left), static_cast<int>(top),
                                             static_cast<int>(right), static_cast<int>(bottom)});
    if (!shown.empty()) {
      // Samples at the middle of each device pixel, as a graphics card does.
      const auto source = [](int pixel, int dest_pixels, int count) {
        return static_cast<int>((2LL * pixel + 1) * count / (2LL * dest_pixels));
      };
      Bitmap pixels{shown.width(), shown.height(), {}};
      pixels.pixels.reserve(std::size_t{1} * pixels.width * pixels.height);
      std::vector<int> columns;
      for (int x = shown.x0; x < shown.x1; ++x)
        columns.push_back(source(x - dest.x0, dest.width(), bitmap.width));
      for (int y = shown.y0; y < shown.y1; ++y) {
        const int row = source(y - dest.y0, dest.height(), bitmap.height);
        for (const int column : columns) pixels.pixels.push_back(bitmap.at(column, row));
      }
      cairo_set_source_surface(now(), surface_of(pixels).get(), shown.x0, shown.y0);
      cairo_paint(now());
    }
    cairo_restore(now());
  }

  void draw(const GlyphRun& run) {
    cairo_save(now());
    cairo_identity_matrix(now());
    set_color(run.color);
    for (const Glyph& glyph : run.glyphs) {
      const PlacedGlyph placed =
          place_glyph(run, glyph, {run.origin.x * scale_, run.origin.y * scale_}, scale_);
      Mask& mask = glyph_mask(placed.key);
      if (mask.pixels.empty()) continue;
      const CairoHandle<cairo_surface_t> ink(cairo_image_surface_create_for_data(
          mask.alpha.data(), CAIRO_FORMAT_A8, mask.pixels.width(), mask.pixels.height(), mask.stride));
      cairo_mask_surface(now(), ink.get(), placed.x + mask.pixels.x0, placed.y + mask.pixels.y0);
    }
    cairo_restore(now());
  }

  void push_clip(const Rect& rect) {
    const PixelRect pixels = on_pixels(rect);
    CairoPlayer::push_clip({static_cast<float>(pixels.x0) / scale_, static_cast<float>(pixels.y0) / scale_,
                            static_cast<float>(pixels.width()) / scale_,
                            static_cast<float>(pixels.height()) / scale_});
  }

  Bitmap bitmap() && {
    expect_success(cairo_status(now()));
    cairo_surface_flush(surface());
    Bitmap bitmap = Bitmap::filled(cairo_image_surface_get_width(surface()),
                                   cairo_image_surface_get_height(surface()), {});
    const bool opaque = cairo_image_surface_get_format(surface()) == CAIRO_FORMAT_RGB24;
    const unsigned char* rows = cairo_image_surface_get_data(surface());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface());
    for (int y = 0; y < bitmap.height; ++y) {
      const auto* row = reinterpret_cast<const std::uint32_t*>(rows + y * stride);
      for (int x = 0; x < bitmap.width; ++x) {
        const std::uint32_t alpha = opaque ? 255 : row[x] >> 24;
        const auto channel = [&](int shift) {
          const std::uint32_t value = row[x] >> shift & 255;
          return static_cast<std::uint8_t>(alpha == 0 || alpha == 255 ? value : value * 255 / alpha);
        };
        bitmap.at(x, y) = {channel(16), channel(8), channel(0), static_cast<std::uint8_t>(alpha)};
      }
    }
    return bitmap;
  }

 private:
  PixelRect on_pixels(const Rect& r) const {
    return snapped({r.x * scale_, r.y * scale_, r.w * scale_, r.h * scale_});
  }

  Mask& glyph_mask(const GlyphKey& key) {
    const auto [at, added] = masks_.try_emplace(key);
    if (added) at->second = mask_of_glyph(fonts_.outline({key.font, key.index, 0}), key);
    return at->second;
  }

  const Fonts& fonts_;
  float scale_;
  std::unordered_map<GlyphKey, Mask, GlyphKeyHash> masks_;
};

}  // namespace

int bitmap_side(float logical, float scale) {
  // A size slightly above a whole number is a rounding error and needs no further pixel.
  constexpr float kHair = 1e-3F;
  const float size = std::ceil(logical * scale - kHair);
  if (!(size > 0)) return 0;
  if (size > kLongestBitmapSide) {
    throw std::runtime_error("a picture may be at most " + std::to_string(kLongestBitmapSide) +
                             " pixels wide and high");
  }
  return static_cast<int>(size);
}

Bitmap rasterize(const Scene& scene, const Fonts& fonts, float scale) {
  const int width = bitmap_side(scene.width, scale), height = bitmap_side(scene.height, scale);
  if (width == 0 || height == 0) return {width, height, {}};
  RasterPlayer player(width, height, scene.background, fonts, scale);
  play(scene, player);
  return std::move(player).bitmap();
}

}  // namespace headscope::viz
