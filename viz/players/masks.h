#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "viz/scene/pixel_grid.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// How much of each pixel a glyph covers, 0..255. The players of bitmaps and of screens draw the same masks.
struct Mask {
  PixelRect pixels;
  int stride = 0;  ///< bytes from row to row
  std::vector<std::uint8_t> alpha;

  const std::uint8_t* row(int y) const { return &alpha[std::size_t{1} * stride * (y - pixels.y0)]; }
};

/// A glyph at its position relative to the pixels: the key of a cache of masks.
struct GlyphKey {
  std::uint16_t font = 0;
  std::uint32_t index = 0;
  float em_pixels = 0;
  float angle = 0;
  std::uint8_t quarter_x = 0;  ///< fraction of a pixel, in quarters
  std::uint8_t quarter_y = 0;
  bool operator==(const GlyphKey&) const = default;
};

struct GlyphKeyHash {
  std::size_t operator()(const GlyphKey& key) const;
};

struct PlacedGlyph {
  GlyphKey key;
  int x = 0;  ///< device pixel of the origin
  int y = 0;
};

/// Level text has its baseline on a pixel's edge, so that it is sharp; along the baseline glyphs are placed
/// at quarters of a pixel. `origin`: of the run in device pixels; `scale`: device pixels per logical pixel.
PlacedGlyph place_glyph(const GlyphRun& run, const Glyph& glyph, Point origin, float scale);

/// The mask of a glyph, whose origin is in the pixel (0, 0).
Mask mask_of_glyph(const Outline& outline, const GlyphKey& key);

}  // namespace headscope::viz
