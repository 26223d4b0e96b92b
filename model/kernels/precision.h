#pragma once
#include <cstddef>
#include <span>

namespace headscope::model {

/// How the elements of a matrix lie in memory: float32, IEEE 754 binary16, bfloat16.
enum class Precision { f32, f16, bf16 };

constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

/// to [n] = from [n], rounded to the nearest, ties to even; `to` aligned for its elements.
void convert(std::span<const float> from, Precision precision, void* to);

/// Whether some finite number rounds to infinity in float16.
bool exceeds_half(std::span<const float> values);

}  // namespace headscope::model
