#include "model/kernels/kernels.h"

#include <cmath>

#include "model/maths/sum.h"

namespace headscope::model {
namespace {

int length(std::span<const float> row) {
  return static_cast<int>(row.size());
}

}  // namespace

float center(std::span<const float> x, float epsilon, std::span<float> centered) {
  const auto n = static_cast<double>(x.size());
  const auto mean = sum_in_lanes<8>(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]); }) / n;
  for (std::size_t i = 0; i < x.size(); ++i) centered[i] = static_cast<float>(x[i] - mean);
  const double squares = sum_in_lanes<8>(x.size(), [&](std::size_t i) {
    const double value = x[i] - mean;
    return value * value;
  });
  return static_cast<float>(std::sqrt(squares / n + epsilon));
}

void divide(std::span<float> row, float scale) {
  for (float& value : row) value /= scale;
}

void apply_gain_and_bias(std::span<const float> gain, std::span<const float> bias, std::span<float> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] * gain[i] + bias[i];
}

void add(std::span<const float> other, std::span<float> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += other[i];
}

void multiply(const PanelKernels& kernels, ConstFloatRows x, ConstFloatRows w, bool accumulate, FloatRows y,
              const float* next) {
  kernels.multiply(
      {x.data, x.stride, w.data, w.stride, y.data, y.stride, x.rows, x.cols, y.cols, accumulate, next});
}

void activate(const RowKernels& kernels, Activation activation, std::span<float> row) {
  if (activation == Activation::gelu_new) return kernels.gelu_new(row.data(), length(row));
  if (activation == Activation::silu) return kernels.silu(row.data(), length(row));
  const auto value = function_of(activation).value;
  for (float& x : row) x = value(x);
}

}  // namespace headscope::model
