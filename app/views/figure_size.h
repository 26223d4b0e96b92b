#pragma once
#include <optional>
#include <string_view>

#include "viz/players/players.h"

namespace headscope::app {

constexpr int kShortestSide = 16;                      ///< of a figure, in logical pixels
constexpr int kLongestSide = viz::kLongestBitmapSide;  ///< limit for a PNG

/// A figure's size in logical pixels, 1/96 inch on paper.
struct FigureSize {
  int width = 0;
  int height = 0;  ///< 0: as high as the figure needs
  bool operator==(const FigureSize&) const = default;
};

/// Parses a width, "900" or "3.3in", or a width and a height, "900x700", "84mm x 60mm" or "6.5x4in"; a side
/// without a unit has the other side's. Units are px (the default, whole numbers), in, cm, mm and pt; lengths
/// are rounded to whole pixels. Nothing for other text and for sides outside kShortestSide to kLongestSide.
std::optional<FigureSize> parse_figure_size(std::string_view text);

}  // namespace headscope::app
