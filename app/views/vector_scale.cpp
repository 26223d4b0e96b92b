#include "app/views/vector_scale.h"

#include <cmath>

namespace headscope::app {

viz::ColorScale vector_scale(std::span<const float> values) {
  constexpr double kBeyond = 0.01;  // of the values
  const viz::Matrix matrix = viz::Matrix::row(values);
  auto magnitude = static_cast<double>(viz::robust_magnitude(matrix, kBeyond));
  if (magnitude > 0 && std::isfinite(magnitude)) {
    const double digit = std::pow(10, std::floor(std::log10(magnitude)) - 1);  // of the second one
    magnitude = std::ceil(magnitude / digit) * digit;
  }
  viz::ColorScale scale = viz::diverging_scale(magnitude);
  const viz::ValueRange range = viz::value_range(matrix);
  scale.values_above = static_cast<double>(range.high) > scale.high;
  scale.values_below = static_cast<double>(range.low) < scale.low;
  return scale;
}

}  // namespace headscope::app
