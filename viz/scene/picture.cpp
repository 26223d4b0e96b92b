#include "viz/scene/picture.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "viz/scene/contrast.h"

namespace headscope::viz {
namespace {

// Control characters, which no drawable text contains.
constexpr char kRaise = '\x0E', kLower = '\x0F';

constexpr float kSuperscriptSize = 0.72F, kSuperscriptRise = 0.36F;  // of the text's size

/// The size of superscripts: not below the smallest that can be read on paper.
float raised_size(const Style& style, float size) {
  return std::max(kSuperscriptSize * size, std::min(size, style.smallest));
}

bool has_superscripts(std::string_view text) {
  return text.find(kRaise) != std::string_view::npos;
}

/// How far a superscript of `own` size is above its text. Larger ones do not reach higher.
float raised_by(float own, float size) {
  constexpr float kHalfOfCapital = 0.36F;
  return kSuperscriptRise * size - kHalfOfCapital * (own - kSuperscriptSize * size);
}

/// Calls `use(part, is_raised)` for the parts of a text.
template <class Use>
void for_parts(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t start = std::min(text.find(kRaise), text.size());
    if (start > 0) use(text.substr(0, start), false);
    text.remove_prefix(std::min(start + 1, text.size()));
    const std::size_t end = std::min(text.find(kLower), text.size());
    if (end > 0) use(text.substr(0, end), true);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void add_with_superscripts(Scene& scene, const Style& style, std::string_view text, Point anchor, float size,
                           Color color, FontStyle face, Align align, float width, float angle) {
  const float cosine = std::cos(angle), sine = std::sin(angle);
  float along = align == Align::left ? 0 : align == Align::center ? -width / 2 : -width;
  for_parts(text, [&](std::string_view part, bool is_raised) {
    const float own = is_raised ? raised_size(style, size) : size,
                down = is_raised ? -raised_by(own, size) : 0;
    const Point at{anchor.x + along * cosine - down * sine, anchor.y + along * sine + down * cosine};
    scene.add(make_text_middle(style.fonts, part, at, own, color, face, Align::left, angle));
    along += style.fonts.width(part, face, own);
  });
}

}  // namespace

float Style::width(std::string_view text, float size, FontStyle style) const {
  if (!has_superscripts(text)) return fonts.width(text, style, size);
  float sum = 0;
  for_parts(text, [&](std::string_view part, bool is_raised) {
    sum += fonts.width(part, style, is_raised ? raised_size(*this, size) : size);
  });
  return sum;
}

std::string superscript(std::string_view text) {
  return kRaise + std::string(text) + kLower;
}

std::string without_superscripts(std::string_view text) {
  std::string plain;
  for_parts(text, [&](std::string_view part, bool is_raised) {
    if (!is_raised) {
      plain += part;
    } else {
      const bool is_word = std::ranges::all_of(part, [](unsigned char c) { return std::isalnum(c) != 0; });
      plain += is_word ? "^" + std::string(part) : "^(" + std::string(part) + ")";
    }
  });
  return plain;
}

void add_label(Scene& scene, const Style& style, std::string_view text, Point anchor, float size, Color color,
               FontStyle face, Align align, float max_width, float angle) {
  if (text.empty()) return;
  const float width = style.width(text, size, face);
  if (has_superscripts(text) && width <= max_width) {
    add_with_superscripts(scene, style, text, anchor, size, color, face, align, width, angle);
    return;
  }
  if (width <= max_width) {
    scene.add(make_text_middle(style.fonts, text, anchor, size, color, face, align, angle));
    return;
  }
  if (max_width < 1.6F * size) return;
  const std::string shortened = style.fonts.fit(without_superscripts(text), face, size, max_width);
  if (style.fonts.width(shortened, face, size) > max_width) return;
  scene.add(make_text_middle(style.fonts, shortened, anchor, size, color, face, align, angle));
}

void add_muted(Scene& scene, const Style& style, std::string_view text, Point anchor, Align align,
               float max_width) {
  add_label(scene, style, text, anchor, style.small(), style.theme.text_muted, FontStyle::regular, align,
            max_width);
}

bool add_whole_label(Scene& scene, const Style& style, std::string_view text, Point anchor, float room,
                     Color color, FontStyle face, Align align, float angle) {
  if (style.width(text, style.small(), face) > room) return false;
  add_label(scene, style, text, anchor, style.small(), color, face, align, room, angle);
  return true;
}

std::vector<std::string> wrap(const Style& style, std::string_view text, float size, FontStyle face,
                              float width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t space = std::min(text.find(' ', start), text.size());
    while (text.substr(space).starts_with(" %"))  // it stays with its number
      space = std::min(text.find(' ', space + 1), text.size());
    const std::string word(text.substr(start, space - start));
    std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && style.width(longer, size, face) > width) {
      lines.push_back(std::move(line));
      longer = word;
    }
    line = std::move(longer);
    start = space + 1;
  }
  lines.push_back(std::move(line));
  for (std::string& l : lines)
    if (style.width(l, size, face) > width) l = style.fonts.fit(without_superscripts(l), face, size, width);
  return lines;
}

std::string end_of(const Style& style, std::string_view text, float size, float width) {
  if (style.width(text, size) <= width) return std::string(text);
  const auto is_start = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };  // UTF-8
  std::string end;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (!is_start(text[at])) continue;
    std::string longer = "…" + std::string(text.substr(at));
    if (style.width(longer, size) > width) break;
    end = std::move(longer);
  }
  return end;
}

Color readable_on(Color background, Color a, Color b) {
  return contrast_ratio(background, a) >= contrast_ratio(background, b) ? a : b;
}

Color blended(Color bottom, Color top) {
  auto mix = [&](std::uint8_t under, std::uint8_t over) {
    return static_cast<std::uint8_t>((under * (255 - top.a) + over * top.a + 127) / 255);
  };
  return {mix(bottom.r, top.r), mix(bottom.g, top.g), mix(bottom.b, top.b), 255};
}

}  // namespace headscope::viz
