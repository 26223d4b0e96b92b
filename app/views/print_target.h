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
  float width = 0;       ///< logical pixels
  float height = 0;      ///< 0: as high as the figure needs
  float font_size = 0;   ///< logical pixels
  float scale = 0;       ///< png: device pixels per logical pixel
  float least_line = 0;  ///< the thinnest line, in logical pixels
  float line_scale = 1;  ///< how many times as wide as on the screen lines are
};

/// 3.3 inches, a column of a paper with two; 6.5 inches, the text of a letter page; a slide of 13.33 x 7.5
/// inches. Columns and pages have 300 dots per inch, slides 3840 x 2160 pixels; no line on paper is thinner
/// than 0.5 points.
constexpr TargetSpec spec_of(Target target) {
  constexpr float kHalfPoint = 96.F / 72 / 2;
  constexpr float kPrintScale = 300.F / 96;
  constexpr std::array<TargetSpec, 4> kSpecs{{{1000, 0, 14, 2, 0, 1},
                                              {316.8F, 0, 10, kPrintScale, kHalfPoint, 1},
                                              {624, 0, 10.5F, kPrintScale, kHalfPoint, 1},
                                              {1280, 720, 20, 3, 1.4F, 1.4F}}};
  return kSpecs[static_cast<std::size_t>(target)];
}

/// A figure's width in logical pixels: the target's own, which need not be a whole number, where that rounds
/// to it.
constexpr float width_on(Target target, int width) {
  const float own = spec_of(target).width;
  return width == static_cast<int>(own + 0.5F) ? own : static_cast<float>(width);
}

}  // namespace headscope::app
