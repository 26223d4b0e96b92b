#pragma once
#include <cstdint>
#include <span>

#include "viz/charts/heatmap.h"

namespace headscope::viz {

/// A vector as a row of coloured cells over `rect`. The region has a column for each component; role, id and
/// the row (which tells vectors of one id apart) are the caller's. The region is also added to the picture.
struct VectorStrip {
  std::span<const float> values;
  ColorScale scale;
  int role = 0;
  int id = 0;
  int row = 0;
  std::span<const std::uint8_t> masked =
      {};  ///< as long as the values: 1 for a hatched component without a value; empty: all have one
};
Region paint_vector_strip(Picture& picture, const VectorStrip& strip, Rect rect, const Style& style);

}  // namespace headscope::viz
