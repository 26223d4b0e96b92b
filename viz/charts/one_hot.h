#pragma once
#include <span>
#include <string>

#include "viz/scene/picture.h"
#include "viz/scene/scale.h"

namespace headscope::viz {

/// An illustration of why a one-hot row [1, rows] times a matrix [rows, cols] is one of its rows: the row
/// with its single 1, the matrix with the selected line, and that line's values. It has no regions.
struct OneHotProduct {
  int hot = 0;  ///< index of the 1
  int rows = 0;
  std::span<const float> values;                ///< [cols], of the matrix's row `hot`
  std::string hot_name, matrix_name, row_name;  ///< under each
  std::string hot_shape, matrix_shape, row_shape;
  ColorScale scale;
  Color color;  ///< colour of the 1 and its line
};

float one_hot_height(const Style& style);
/// The width below which names or shapes would be truncated.
float one_hot_least_width(const OneHotProduct& product, const Style& style);
void paint_one_hot_product(Picture& picture, const OneHotProduct& product, Rect area, const Style& style);

}  // namespace headscope::viz
