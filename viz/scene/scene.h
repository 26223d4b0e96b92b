#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viz/scene/geometry.h"

namespace headscope::viz {

struct FillRect {
  Rect rect;
  Color color;
  float radius = 0;  ///< radius of the corners
  bool operator==(const FillRect&) const = default;
};

struct StrokeRect {
  Rect rect;  ///< the line is centred on its edge
  Color color;
  float width = 1;
  float radius = 0;
  bool operator==(const StrokeRect&) const = default;
};

/// A joined line through the points, broken at non-finite ones. Joins are round, ends square.
struct Polyline {
  std::vector<Point> points;
  Color color;
  float width = 1;
  std::vector<float> dashes = {};  ///< lengths of dashes and gaps in turn, logical pixels; empty: solid
  bool operator==(const Polyline&) const = default;
};

/// Separate lines: points 2i and 2i+1 are the ends of one. Used for hatching.
struct Segments {
  std::vector<Point> points;
  Color color;
  float width = 1;
  std::vector<float> dashes = {};  ///< as of a Polyline, for each line
  bool operator==(const Segments&) const = default;
};

struct FillPolygon {
  std::vector<Point> points;  ///< convex
  Color color;
  bool operator==(const FillPolygon&) const = default;
};

/// Pixels, row-major, in sRGB with straight alpha.
struct Bitmap {
  int width = 0;
  int height = 0;
  std::vector<Color> pixels;

  /// A bitmap of one colour.
  static Bitmap filled(int width, int height, Color color) {
    return {width, height, std::vector<Color>(static_cast<std::size_t>(width) * height, color)};
  }
  Color at(int x, int y) const { return pixels[static_cast<std::size_t>(y) * width + x]; }
  Color& at(int x, int y) { return pixels[static_cast<std::size_t>(y) * width + x]; }
  bool empty() const { return width < 1 || height < 1; }
};

/// A bitmap stretched over `dest` without smoothing. Players may cache by `content_id`: equal ids mean equal
/// pixels.
struct Image {
  Rect dest;
  std::shared_ptr<const Bitmap> bitmap;
  std::uint64_t content_id = 0;  ///< see content_hash(); 0: not computed, so a cache must do it
  bool operator==(const Image& o) const {
    return dest == o.dest && content_id == o.content_id && (content_id != 0 || bitmap == o.bitmap);
  }
};

/// A hash of size and pixels, at least as good as FNV-1a.
std::uint64_t content_hash(const Bitmap& bitmap);

/// One glyph of a text. `font` indexes Fonts.
struct Glyph {
  std::uint16_t font = 0;
  std::uint32_t index = 0;  ///< in its font
  float x = 0;              ///< from the run's origin along its baseline
  bool operator==(const Glyph&) const = default;
};

/// Text laid out by Fonts::layout. Every player puts each glyph in the same place.
struct GlyphRun {
  Point origin;     ///< start of the baseline
  float size = 14;  ///< em, in logical pixels
  Color color;
  float angle = 0;   ///< radians, clockwise about the origin (usually 0 or -pi/2)
  std::string text;  ///< UTF-8, for SVG text and for tests
  std::vector<Glyph> glyphs;
  bool operator==(const GlyphRun&) const = default;
};

struct PushClip {
  Rect rect;  ///< intersected with the current clip
  bool operator==(const PushClip&) const = default;
};
struct PopClip {
  bool operator==(const PopClip&) const = default;
};

using Item =
    std::variant<FillRect, StrokeRect, Polyline, Segments, FillPolygon, Image, GlyphRun, PushClip, PopClip>;

/// A picture as a list of items, painted in order.
struct Scene {
  float width = 0;
  float height = 0;
  Color background{255, 255, 255, 255};  ///< alpha 0 for overlays
  std::vector<Item> items;

  template <class T>
  void add(T item) {
    items.emplace_back(std::move(item));
  }
  void add_line(Point from, Point to, Color color, float thickness = 1) {
    add(Segments{{from, to}, color, thickness});
  }
  void add_disc(Point center, float radius, Color color) {
    add(FillRect{Rect::around(center, radius), color, radius});
  }
};

/// Appends `part` to `scene`, moved by `offset`, without its background.
void append(Scene& scene, const Scene& part, Point offset);

/// The text drawn last at a point of a scene; empty: there is none. Refers to the scene.
std::string_view text_at(const Scene& scene, Point at);

/// The rectangle around a text.
Rect bounds_of(const GlyphRun& text);

}  // namespace headscope::viz
