#pragma once
#include <cstddef>

namespace headscope::model {

/// How the elements of a matrix lie in memory: float32, IEEE 754 binary16, bfloat16.
enum class Precision { f32, f16, bf16 };

constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

/// to [n] = from [n], rounded to the nearest, ties to even. Both aligned for their elements.
void convert(Precision from_precision, const void* from, std::size_t n, Precision to_precision, void* to);

/// Whether some finite number of `values` [n] rounds to infinity in float16.
bool exceeds_half(Precision precision, const void* values, std::size_t n);

}  // namespace headscope::model
