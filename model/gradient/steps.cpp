#include "model/gradient/steps.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/maths/sum.h"

namespace headscope::model {
namespace {

/// Values at a time in a stack buffer.
constexpr std::size_t kPart = 256;

/// Calls body(part of the row, buffer of the same size).
template <class Body>
void for_parts(std::span<float> row, const Body& body) {
  std::array<float, kPart> buffer;
  for (std::size_t first = 0; first < row.size(); first += kPart) {
    const std::size_t count = std::min(kPart, row.size() - first);
    body(row.subspan(first, count), std::span(buffer).first(count));
  }
}

/// x s(2u), with u = sqrt(2/pi) (x + 0.044715 x^3) and the logistic s: see model::activate.
void gelu_new_slopes(const RowKernels& kernels, std::span<float> row) {
  constexpr float kTwoRootTwoOverPi = 1.5957691216057308F, kCubic = 0.044715F;
  for_parts(row, [&](std::span<float> part, std::span<float> powers) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const float x = part[i] = limited(part[i]);
      powers[i] = -kTwoRootTwoOverPi * (x + kCubic * x * x * x);
    }
    kernels.exp(powers.data(), static_cast<int>(powers.size()));
    for (std::size_t i = 0; i < part.size(); ++i) {
      const float x = part[i], s = 1 / (1 + powers[i]);
      part[i] = s + x * s * (1 - s) * kTwoRootTwoOverPi * (1 + 3 * kCubic * x * x);
    }
  });
}

void silu_slopes(const RowKernels& kernels, std::span<float> row) {
  for_parts(row, [&](std::span<float> part, std::span<float> powers) {
    for (std::size_t i = 0; i < part.size(); ++i) powers[i] = -(part[i] = limited(part[i]));
    kernels.exp(powers.data(), static_cast<int>(powers.size()));
    for (std::size_t i = 0; i < part.size(); ++i) {
      const float s = 1 / (1 + powers[i]);
      part[i] = s * (1 + part[i] * (1 - s));
    }
  });
}

}  // namespace

void activation_slopes(const RowKernels& kernels, Activation activation, std::span<float> row) {
  if (activation == Activation::gelu_new) return gelu_new_slopes(kernels, row);
  if (activation == Activation::silu) return silu_slopes(kernels, row);
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
  const double quotient = 1 / static_cast<double>(scale.used);
  const double slope = of_scale / (static_cast<double>(n) * scale.computed);
  const auto of_centered = [&](std::size_t i) { return gradient[i] * quotient + slope * centered[i]; };
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
