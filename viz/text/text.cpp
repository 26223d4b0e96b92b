#include "viz/text/text.h"

#include <cmath>

#include "viz/text/utf8.h"

namespace headscope::viz {
namespace {

/// Moves a point by `along` in the direction of the baseline and by `down` perpendicular to it.
Point moved_along(Point p, float angle, float along, float down) {
  if (angle == 0) return {p.x + along, p.y + down};
  const float c = std::cos(angle), s = std::sin(angle);
  return {p.x + along * c - down * s, p.y + along * s + down * c};
}

/// Spaces that look like U+0020.
bool is_odd_space(char32_t c) {
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

}  // namespace

GlyphRun make_text(const Fonts& fonts, std::string_view text, Point anchor, float size, Color color,
                   FontStyle style, Align align, float angle) {
  TextLayout layout = fonts.layout(text, style, size);
  const float part = align == Align::left ? 0 : align == Align::center ? 0.5F : 1;
  return {moved_along(anchor, angle, -part * layout.width, 0),
          size,
          color,
          angle,
          drawable(text),
          std::move(layout.glyphs)};
}

GlyphRun make_text_middle(const Fonts& fonts, std::string_view text, Point anchor, float size, Color color,
                          FontStyle style, Align align, float angle) {
  const float down = fonts.cap_height(style, size) / 2;
  return make_text(fonts, text, moved_along(anchor, angle, 0, down), size, color, style, align, angle);
}

std::string visible(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size() + 8);
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded c = decode_utf8(bytes, at);
    const std::string_view whole = bytes.substr(at, c.length);
    at += c.length;
    if (!c.valid) {
      result += drawable(whole);
    } else if (c.code == ' ') {
      result += "·";
    } else if (c.code == '\n') {
      result += "↵";
    } else if (c.code == '\t') {
      result += "⇥";
    } else if (c.code == 0xA0) {
      result += "⍽";
    } else if (is_invisible(c.code) || is_odd_space(c.code)) {
      result += code_point_label(c.code);
    } else {
      result += drawable(whole);
    }
  }
  return result;
}

}  // namespace headscope::viz
