#include "model/kernels/kernels.h"

#include <cmath>

#include "model/maths/sum.h"

namespace headscope::model {

// All are defined in panels_loops.cpp, which is compiled for each kind of processor (CMakeLists.txt).
PanelKernels plain_kernels();
#ifdef HEADSCOPE_X86_KERNELS
PanelKernels avx2_kernels();
PanelKernels avx512_kernels();
#elif defined(HEADSCOPE_ARM_KERNELS)
PanelKernels neon_kernels();
#endif

std::vector<PanelKernels> runnable_kernels() {
  std::vector<PanelKernels> kernels;
#ifdef HEADSCOPE_X86_KERNELS
  // Every processor with AVX2 has F16C.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    kernels.push_back(avx512_kernels());
  if (avx2) kernels.push_back(avx2_kernels());
#elif defined(HEADSCOPE_ARM_KERNELS)
  kernels.push_back(neon_kernels());
#endif
  kernels.push_back(plain_kernels());
  return kernels;
}

PanelKernels fastest_kernels() {
  static const PanelKernels fastest = runnable_kernels().front();
  return fastest;
}

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
  const auto n = static_cast<int>(row.size());
  if (activation == Activation::gelu_new) return kernels.gelu_new(row.data(), n);
  if (activation == Activation::silu) return kernels.silu(row.data(), n);
  const auto value = function_of(activation).value;
  for (float& x : row) x = value(x);
}

}  // namespace headscope::model
