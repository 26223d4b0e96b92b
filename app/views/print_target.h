#pragma once
#include <array>
#include <string_view>

#include "app/run/named.h"

namespace headscope::app {

/// What a figure is made for.
enum class Target { screen, column, page, slide };

inline constexpr Named<Target> kTargetNames[]{
    {"screen", Target::screen}, {"column", Target::column}, {"page", Target::page}, {"slide", Target::slide}};

/// What a target chooses unless something else is asked for. A logical pixel is 1/96 inch on paper, so
/// letters of 10 are of 7.5 points, and a figure's smallest letters, which have 0.85 of that size, of 6.4.
struct TargetSpec {
  std::string_view label;
  std::string_view words;      ///< its size, for people
  float width = 0;             ///< logical pixels
  float height = 0;            ///< 0: as high as the figure needs
  float font_size = 0;         ///< logical pixels
  float scale = 0;             ///< png: device pixels per logical pixel
  float min_stroke_width = 0;  ///< the thinnest line, in logical pixels
  float line_scale = 1;        ///< how many times as wide as on the screen lines are
};

/// A column is one of two of a paper, a page the text of a letter page. No line on paper is thinner than 0.5
/// points.
constexpr TargetSpec spec_of(Target target) {
  constexpr float kHalfPoint = 96.F / 72 / 2;
  constexpr float kPrintScale = 300.F / 96;
  constexpr std::array<TargetSpec, 4> kSpecs{
      {{"Screen", "as large as on the screen, in the window's font size", 1000, 0, 14, 2, 0, 1},
       {"Column", "a column of a paper: 3.3 inches wide, 300 dpi", 316.8F, 0, 10, kPrintScale, kHalfPoint, 1},
       {"Page", "the width of a page: 6.5 inches, 300 dpi", 624, 0, 10.5F, kPrintScale, kHalfPoint, 1},
       {"Slide", "a 16:9 slide: 13.33 x 7.5 inches, 3840x2160 pixels", 1280, 720, 20, 3, 1.4F, 1.4F}}};
  return kSpecs[static_cast<std::size_t>(target)];
}

/// A figure's width in logical pixels: the target's own, which need not be a whole number, where that rounds
/// to it.
constexpr float width_on(Target target, int width) {
  const float own = spec_of(target).width;
  return width == static_cast<int>(own + 0.5F) ? own : static_cast<float>(width);
}

}  // namespace headscope::app
