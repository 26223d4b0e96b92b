#include "model/gradient/steps.h"

#include "model/maths/sum.h"

namespace headscope::model {

void activation_slopes(const RowKernels& kernels, Activation activation, std::span<float> row) {
  const int size = static_cast<int>(row.size());
  if (activation == Activation::gelu_new) return kernels.gelu_new_slopes(row.data(), size);
  if (activation == Activation::silu) return kernels.silu_slopes(row.data(), size);
  const auto slope = function_of(activation).slope;
  for (float& x : row) x = slope(x);
}

float scale_gradient(std::span<const float> gradient, std::span<const float> centered, float scale) {
  const double dot = sum_in_lanes<8>(gradient.size(), [&](std::size_t i) {
    return static_cast<double>(gradient[i]) * static_cast<double>(centered[i]);
  });
  return static_cast<float>(-dot / (static_cast<double>(scale) * scale));
}

void layer_norm_gradient(std::span<const float> centered, LayerNormScale scale, float of_scale,
                         std::span<float> gradient) {
  const std::size_t n = gradient.size();
  const double inverse = 1 / static_cast<double>(scale.used);
  const double slope = of_scale / (static_cast<double>(n) * scale.computed);
  const auto of_centered = [&](std::size_t i) { return gradient[i] * inverse + slope * centered[i]; };
  const double mean = sum_in_lanes<8>(n, of_centered) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = static_cast<float>(of_centered(i) - mean);
}

void softmax_gradient(std::span<const float> weights, std::span<float> gradient) {
  const double mean = sum_in_lanes<8>(weights.size(), [&](std::size_t i) {
    return static_cast<double>(weights[i]) * static_cast<double>(gradient[i]);
  });
  for (std::size_t i = 0; i < weights.size(); ++i)
    gradient[i] = static_cast<float>(weights[i] * (gradient[i] - mean));
}

void multiply_terms(std::span<const float> other, std::span<float> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] *= other[i];
}

}  // namespace headscope::model
