#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/notes.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

inline constexpr int kLongestBitmapSide = 32767;  ///< in pixels; cairo's limit

/// The pixels of a side of a bitmap. Throws like rasterize.
int bitmap_side(float logical, float scale);

/// Draws a scene as pixels, `scale` device pixels per logical pixel, anti-aliased, with unsmoothed images.
/// The bitmap is ceil(width * scale) x ceil(height * scale), and opaque where the background is. Throws
/// std::runtime_error if a side would exceed kLongestBitmapSide.
Bitmap rasterize(const Scene& scene, const Fonts& fonts, float scale);

/// The smallest rectangle around everything a scene draws, after clipping, and around the ink of texts; empty
/// and at the origin for an empty scene.
Rect content_bounds(const Scene& scene, const Fonts& fonts);

/// A PNG file; `scale` sets its physical resolution (96 dpi times scale). Throws std::runtime_error if a side
/// is 0 or above kLongestBitmapSide, or if all pixels would take more than 2 GiB; std::bad_alloc.
std::vector<std::uint8_t> encode_png(const Bitmap& bitmap, float scale, std::span<const Note> notes = {});

/// What a picture shows, for readers who do not see it and for catalogues; empty: nothing is said. Any bytes:
/// files have them as they are drawn.
struct Description {
  std::string title;
  std::string words = {};
};

struct SvgOptions {
  bool text = false;  ///< text as <text> instead of outlines
  std::vector<Note> notes = {};
  Description description = {};  ///< <title> and <desc>
  bool inches = false;           ///< width and height are written in inches, 96 logical pixels each
};

/// A complete SVG 1.1 document in UTF-8. Images up to 64 x 64 are written as merged rectangles, larger ones
/// as an embedded PNG that is scaled up by an integer, so that no viewer blurs it. The same input gives the
/// same bytes.
std::string to_svg(const Scene& scene, const Fonts& fonts, const SvgOptions& options = {});

/// A PDF with one page, where a logical pixel is 1/96 inch: shapes as shapes, text as text with embedded
/// subsets of its fonts, and unsmoothed images. The same input gives the same bytes.
/// Throws std::runtime_error if a side is 0 or above 19200.
/// The description becomes the document's title and subject.
std::string to_pdf(const Scene& scene, const Fonts& fonts, std::span<const Note> notes = {},
                   const Description& description = {});

}  // namespace headscope::viz
