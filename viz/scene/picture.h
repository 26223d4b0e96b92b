#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/region.h"
#include "viz/scene/scene.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// A picture: its scene and its regions.
struct Picture {
  Scene scene;
  std::vector<Region> regions;
  bool whole = true;          ///< false: something did not fit and was left out or truncated
  bool exact_widths = false;  ///< its lines are as wide as what they stand for, whatever it is printed on
  bool readable = true;       ///< false: there is no room for anything but words that say so
  std::string title = {}, subtitle = {};  ///< what its heading says, drawn or not
  float cut_heading = 0;                  ///< their height if some of them is not drawn, for want of room
  std::shared_ptr<void> content = {};     ///< what it was drawn from, for whoever drew it
};

/// How a picture looks. Sizes are in logical pixels; distances are multiples of `unit`.
struct Style {
  const Theme& theme;
  const Fonts& fonts;
  float font_size = 14;
  float device_scale = 1;  ///< device pixels per logical pixel: matrices are pooled to this resolution
  float smallest = 0;      ///< letters that adapt to their room stay at least this large, or are left out
  float least_label = 0;   ///< other letters are at least this large, if the text's are

  float small() const { return std::max(std::min(least_label, font_size), 0.85F * font_size); }
  float title() const { return 1.15F * font_size; }
  float unit() const { return std::max(1.F, std::round(font_size / 14 * 4)); }
  float line(float size) const { return std::ceil(fonts.line_height(FontStyle::regular, size)); }
  /// Width of a text as add_label draws it.
  float width(std::string_view text, float size, FontStyle style = FontStyle::regular) const;
  /// A length rounded to whole device pixels.
  float snapped(float v) const { return std::round(v * device_scale) / device_scale; }
};

/// Marks a part of a text as a superscript: add_label draws it smaller and higher. Only for words of the
/// program, never for text of a user.
std::string superscript(std::string_view text);
/// The same text for readers without superscripts: "10000^(2i/d)", "T^k".
std::string without_superscripts(std::string_view text);

/// Adds a text whose capitals are centred vertically on the anchor, truncated to `max_width`; adds nothing if
/// not even one letter and an ellipsis fit.
void add_label(Scene& scene, const Style& style, std::string_view text, Point anchor, float size, Color color,
               FontStyle face = FontStyle::regular, Align align = Align::left, float max_width = 1e9F,
               float angle = 0);

/// A small muted label: numbers of axes, titles, notes.
void add_muted(Scene& scene, const Style& style, std::string_view text, Point anchor,
               Align align = Align::left, float max_width = 1e9F);

/// Adds a small label if all of it fits into `room`. Returns whether it did.
bool add_whole_label(Scene& scene, const Style& style, std::string_view text, Point anchor, float room,
                     Color color, FontStyle face = FontStyle::regular, Align align = Align::left,
                     float angle = 0);

/// Breaks a text at spaces into lines of at most `width`; a wider word is truncated.
std::vector<std::string> wrap(const Style& style, std::string_view text, float size, FontStyle face,
                              float width);

/// The end of a text that fits, after an ellipsis if that is not all of it.
std::string end_of(const Style& style, std::string_view text, float size, float width);

/// The one of two colours with the higher contrast to `background` (WCAG 2).
Color readable_on(Color background, Color a, Color b);
/// `top` blended over an opaque `bottom`.
Color blended(Color bottom, Color top);

}  // namespace headscope::viz
