#include "app/views/parts/vector_scale.h"

#include <cmath>

namespace headscope::app {

viz::ColorScale vector_scale(std::span<const float> values) {
  constexpr double kBeyond = 0.01;  // fraction of the values allowed beyond the scale
  const viz::Matrix matrix = viz::Matrix::row(values);
  viz::ColorScale scale = viz::robust_scale(matrix, kBeyond);
  const double digit = std::pow(10, std::floor(std::log10(scale.high)) - 1);  // unit of the second digit
  const double magnitude = std::ceil(scale.high / digit) * digit;
  const viz::ValueRange range = viz::value_range(matrix);
  scale.low = -magnitude, scale.high = magnitude;
  scale.values_above = static_cast<double>(range.high) > magnitude;
  scale.values_below = static_cast<double>(range.low) < -magnitude;
  return scale;
}

}  // namespace headscope::app
