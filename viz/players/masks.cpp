#include "viz/players/masks.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "viz/players/cairo_player.h"

namespace headscope::viz {
namespace {

struct Turn {
  float cosine;
  float sine;
};

/// Exact for quarter turns, which most texts use.
Turn turn_of(float angle) {
  constexpr float kHalfPi = std::numbers::pi_v<float> / 2;
  const float quarters = angle / kHalfPi;
  const float nearest = std::round(quarters);
  if (std::abs(quarters - nearest) > 1e-4F) return {std::cos(angle), std::sin(angle)};
  constexpr Turn kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return kQuarters[static_cast<int>(nearest) & 3];
}

/// `v` in quarters of a pixel: whole pixels and a remainder of 0..3.
struct Quarters {
  int pixel;
  std::uint8_t rest;
};
Quarters to_quarters(float v) {
  const int quarters = round_to_pixel(v * 4);
  return {quarters >> 2, static_cast<std::uint8_t>(quarters & 3)};
}

}  // namespace

std::size_t GlyphKeyHash::operator()(const GlyphKey& key) const {
  std::uint64_t h = std::uint64_t{key.index} << 20 | std::uint64_t{key.font} << 4 |
                    static_cast<std::uint64_t>(key.quarter_x << 2 | key.quarter_y);
  h ^= (std::uint64_t{std::bit_cast<std::uint32_t>(key.em_pixels)} << 32 |
        std::bit_cast<std::uint32_t>(key.angle)) *
       0x9e3779b97f4a7c15;
  h *= 0xff51afd7ed558ccd;
  return static_cast<std::size_t>(h ^ (h >> 32));
}

PlacedGlyph place_glyph(const GlyphRun& run, const Glyph& glyph, Point origin, float scale) {
  const Turn turn = turn_of(run.angle);
  const float x = origin.x + glyph.x * scale * turn.cosine;
  const float y = origin.y + glyph.x * scale * turn.sine;
  const bool level = turn.sine == 0, upright = turn.cosine == 0;
  const Quarters qx = upright ? Quarters{round_to_pixel(x), 0} : to_quarters(x);
  const Quarters qy = level ? Quarters{round_to_pixel(y), 0} : to_quarters(y);
  return {{glyph.font, glyph.index, run.size * scale, run.angle, qx.rest, qy.rest}, qx.pixel, qy.pixel};
}

Mask mask_of_glyph(const Outline& outline, const GlyphKey& key) {
  const Turn turn = turn_of(key.angle);
  const auto add_path = [&](cairo_t* context) {
    const cairo_matrix_t turned{turn.cosine, turn.sine,           -turn.sine,
                                turn.cosine, key.quarter_x / 4.0, key.quarter_y / 4.0};
    cairo_transform(context, &turned);
    add_outline(context, outline, {}, key.em_pixels);
    cairo_identity_matrix(context);
  };
  const auto context_of = [](cairo_surface_t* surface) {
    CairoHandle<cairo_t> context(cairo_create(surface));
    cairo_set_tolerance(context.get(), kTolerance);
    return context;
  };
  const CairoHandle<cairo_surface_t> nowhere(cairo_image_surface_create(CAIRO_FORMAT_A8, 0, 0));
  const CairoHandle<cairo_t> measure = context_of(nowhere.get());
  add_path(measure.get());
  double left = 0, top = 0, right = 0, bottom = 0;
  cairo_path_extents(measure.get(), &left, &top, &right, &bottom);
  const PixelRect pixels{floor_to_pixel(static_cast<float>(left)), floor_to_pixel(static_cast<float>(top)),
                         ceil_to_pixel(static_cast<float>(right)), ceil_to_pixel(static_cast<float>(bottom))};
  if (pixels.empty()) return {};

  Mask mask{pixels, cairo_format_stride_for_width(CAIRO_FORMAT_A8, pixels.width()), {}};
  mask.alpha.resize(std::size_t{1} * mask.stride * pixels.height());
  const CairoHandle<cairo_surface_t> surface(cairo_image_surface_create_for_data(
      mask.alpha.data(), CAIRO_FORMAT_A8, pixels.width(), pixels.height(), mask.stride));
  const CairoHandle<cairo_t> context = context_of(surface.get());
  cairo_translate(context.get(), -pixels.x0, -pixels.y0);
  add_path(context.get());
  cairo_fill(context.get());
  expect_success(cairo_status(context.get()));
  cairo_surface_flush(surface.get());
  return mask;
}

}  // namespace headscope::viz
