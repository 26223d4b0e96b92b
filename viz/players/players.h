#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/notes.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// Draws a scene as pixels, `scale` device pixels for each logical one, anti-aliased, images unsmoothed. The
/// bitmap is ceil(width * scale) x ceil(height * scale) and opaque where the background is. Throws
/// std::runtime_error when a side would be above 32768.
Bitmap rasterize(const Scene& scene, const Fonts& fonts, float scale);

/// A PNG file; `scale` sets its physical resolution (96 dpi times scale). Throws std::runtime_error when a
/// side is 0 or above 32768.
std::vector<std::uint8_t> encode_png(const Bitmap& bitmap, float scale, std::span<const Note> notes = {});

struct SvgOptions {
  bool text = false;  ///< text as <text> instead of outlines
  std::vector<Note> notes = {};
};

/// A whole SVG 1.1 document, UTF-8. Images up to 64 x 64 as merged rectangles, above that as an embedded PNG
/// scaled up by whole numbers, so that no viewer blurs it. Same input, same bytes.
std::string to_svg(const Scene& scene, const Fonts& fonts, const SvgOptions& options = {});

/// A PDF of one page, a logical pixel a 96th of an inch: shapes as shapes, text as text in the fonts that it
/// was laid out with, of which the file holds the glyphs that it needs (boxes are shapes), images unsmoothed.
/// Same input, same bytes. Throws std::runtime_error when a side is 0 or above 19200.
std::string to_pdf(const Scene& scene, const Fonts& fonts, std::span<const Note> notes = {});

}  // namespace headscope::viz
