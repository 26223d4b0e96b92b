#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "viz/scene/pixel_grid.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// How much of each pixel a path covers, by exact signed areas: every edge adds its area to the pixels it
/// crosses, and a running sum along each row gives the coverage (the method of font-rs and FreeType's smooth
/// rasteriser). Non-zero winding.
class Coverage {
 public:
  /// Everything outside `bounds` is clipped.
  explicit Coverage(PixelRect bounds) { reset(bounds); }
  /// Removes the path and sets other bounds; keeps the memory.
  void reset(PixelRect bounds);

  void move_to(Point p);
  void line_to(Point p);
  void quad_to(Point control, Point p);
  void cubic_to(Point control1, Point control2, Point p);
  void close();

  const PixelRect& bounds() const { return bounds_; }
  /// Row `y` (bounds().y0 <= y < bounds().y1), bounds().width() values in [0, 1].
  void row(int y, std::vector<float>& coverage) const;

 private:
  void edge(Point a, Point b);
  void edge_inside(Point a, Point b, float direction);

  PixelRect bounds_;
  std::size_t stride_ = 0;
  std::vector<float> area_;
  Point start_;
  Point at_;
};

/// A transformation: rotated clockwise by `angle`, scaled by `scale`, then moved to `origin`.
struct Placement {
  Point origin;
  float scale = 1;
  float angle = 0;
};
void add_outline(Coverage& path, const Outline& outline, const Placement& placement);

/// Adds the outline of a rounded rectangle, clockwise or counter-clockwise.
void add_round_rect(Coverage& path, const Rect& rect, float radius, bool clockwise);

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

/// Coverage of a glyph, 0..255, row-major; (x, y) is the offset of its first pixel from the origin's pixel.
struct GlyphMask {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> alpha;
};
GlyphMask rasterize_glyph(const Outline& outline, const GlyphKey& key);

}  // namespace headscope::viz
