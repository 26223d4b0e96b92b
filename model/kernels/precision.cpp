#include "model/kernels/precision.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace headscope::model {
namespace {

template <class To>
void convert_elements(std::span<const float> from, void* to) {
  const auto count = static_cast<Eigen::Index>(from.size());
  Eigen::Map<Eigen::ArrayX<To>>(static_cast<To*>(to), count) =
      Eigen::Map<const Eigen::ArrayXf>(from.data(), count).cast<To>();
}

}  // namespace

void convert(std::span<const float> from, Precision precision, void* to) {
  switch (precision) {
    case Precision::f32:
      std::ranges::copy(from, static_cast<float*>(to));
      return;
    case Precision::f16:
      return convert_elements<Eigen::half>(from, to);
    case Precision::bf16:
      return convert_elements<Eigen::bfloat16>(from, to);
  }
}

bool exceeds_half(std::span<const float> values) {
  constexpr float kRoundsToInfinity = 65520;  // half way from the largest float16 to 2^16
  return std::ranges::any_of(
      values, [](float value) { return std::abs(value) >= kRoundsToInfinity && std::isfinite(value); });
}

}  // namespace headscope::model
