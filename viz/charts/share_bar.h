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
  int id = 0;            ///< of its region
};

/// Parts of a whole side by side.
struct ShareBar {
  std::vector<Share> shares;
  double total = 1;  ///< of all sizes, those of parts that are not given too
  Color rest;        ///< of these, and of parts that are too narrow to show
  double mark = -1;  ///< a triangle above this place, in units of the sizes; negative: none
  Color mark_color;
  int role = 0;  ///< of the regions, one a part that is not hatched and wide enough to be pointed at
};

/// The parts over `bar`, each with its label where that fits; the triangle stands above it.
void paint_share_bar(Picture& picture, const ShareBar& shares, Rect bar, const Style& style);

/// The place of a size from the bar's left on.
float share_x(const ShareBar& shares, Rect bar, double size);

}  // namespace headscope::viz
