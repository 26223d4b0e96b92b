#pragma once
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A part of a whole.
struct Share {
  std::string label;
  double size = 0;
  Color fill;
  bool hatched = false;  ///< excluded from what follows; excluded parts come last
  int id = 0;            ///< id of its region
};

/// Parts of a whole side by side.
struct ShareBar {
  std::vector<Share> shares;
  double total = 1;  ///< sum of all sizes, including parts that are not given
  Color rest;        ///< colour of these, and of parts too narrow to show
  double mark = -1;  ///< place of a triangle, in units of the sizes; negative: none
  Color mark_color;
  int role = 0;  ///< role of the regions, one for each part that is not hatched and wide enough to point at
};

constexpr float kLeastShare = 1.5F;  ///< logical pixels: narrower parts are not told apart from the rest

/// Draws the parts in `bar`, each with its label if it fits; the triangle is above it.
void paint_share_bar(Picture& picture, const ShareBar& shares, Rect bar, const Style& style);

/// Fills a rectangle with lines, like parts that are excluded.
void paint_hatching(Scene& scene, const Rect& rect, Color color);

/// The x of a size measured from the bar's left.
float share_x(const ShareBar& shares, Rect bar, double size);

}  // namespace headscope::viz
