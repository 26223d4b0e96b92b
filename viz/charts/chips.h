#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A word in a rounded box.
struct Chip {
  std::string label;
  Color fill;
  Color text;
  Color outline{0, 0, 0, 0};  ///< invisible: none
  Color inner_outline{0, 0, 0, 0};
  Color underline{0, 0, 0, 0};
  bool break_after = false;  ///< the next chip starts a line
};

struct ChipFlow {
  std::vector<Chip> chips;
  int role = 0;  ///< role of the regions; their ids are indices of chips
};

/// A chip's place in the flow.
struct ChipPlace {
  int line = 0;
  float x = 0;
  float w = 0;
};

float chip_line_height(const Style& style);  ///< the gap below included

/// Places chips from left to right in lines of `width`; a wider chip is truncated.
std::vector<ChipPlace> place_chips(const ChipFlow& flow, float width, const Style& style);

/// Paints the lines from `first_line` on that fit into `area` whole.
void paint_chips(Picture& picture, const ChipFlow& flow, std::span<const ChipPlace> places, int first_line,
                 Rect area, const Style& style);

}  // namespace headscope::viz
