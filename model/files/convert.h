#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/kernels/precision.h"

namespace headscope::model {

constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

/// A type of numbers in a file.
struct StoredType {
  std::size_t bytes = 4;                 ///< of one
  Precision precision = Precision::f32;  ///< of the kernels
  /// Makes floats of `count` numbers, which need not be aligned; null: they are numbers of that precision.
  void (*to_floats)(const std::byte* from, std::size_t count, float* to) = nullptr;
};

/// The type with safetensors' name; nothing for one that no weights are kept in (8-bit floats, complex
/// numbers).
std::optional<StoredType> stored_type(std::string_view dtype);

/// to [n] = from [n], rounded to the nearest, ties to even. Both aligned for their elements.
void convert(Precision from_precision, const void* from, std::size_t n, Precision to_precision, void* to);

/// Whether some finite number of `values` [n] rounds to infinity in float16.
bool exceeds_half(Precision precision, const void* values, std::size_t n);

}  // namespace headscope::model
