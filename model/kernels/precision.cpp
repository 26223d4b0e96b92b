#include "model/kernels/precision.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace headscope::model {

void convert(std::span<const float> from, Precision precision, void* to) {
  const Eigen::Map<const Eigen::ArrayXf> floats(from.data(), std::ssize(from));
  const auto write = [&]<class To>(To* out) {
    Eigen::Map<Eigen::ArrayX<To>>(out, floats.size()) = floats.cast<To>();
  };
  switch (precision) {
    case Precision::f32:
      return write(static_cast<float*>(to));
    case Precision::f16:
      return write(static_cast<Eigen::half*>(to));
    case Precision::bf16:
      return write(static_cast<Eigen::bfloat16*>(to));
  }
}

bool exceeds_half(std::span<const float> values) {
  constexpr float kRoundsToInfinity = 65520;  // half way from the largest float16 to 2^16
  return std::ranges::any_of(
      values, [](float value) { return std::abs(value) >= kRoundsToInfinity && std::isfinite(value); });
}

}  // namespace headscope::model
