#pragma once
#include <cstddef>

namespace headscope::model {

/// How the elements of a matrix lie in memory: float32, IEEE 754 binary16, bfloat16.
enum class Precision { f32, f16, bf16 };

constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

}  // namespace headscope::model
