#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/kernels/arena.h"

namespace headscope::bench {

/// Weights that are read from memory, as in a pass: each requested matrix follows the previous one in a
/// memory larger than the caches. Every value has the same bit pattern, which is an ordinary number in each
/// precision; the time of a product depends on the values only if they are denormal.
class RotatingWeights {
 public:
  /// For matrices of up to `largest_bytes`. Allocates 512 MiB, or room for two of the largest.
  explicit RotatingWeights(std::size_t largest_bytes)
      : size_(model::Arena::room_for(std::max(std::size_t{512} << 20, 2 * largest_bytes))), arena_(size_) {
    memory_ = arena_.take(size_);
    std::fill_n(reinterpret_cast<std::uint32_t*>(memory_), size_ / sizeof(std::uint32_t), 0x3c003c00U);
  }

  /// A matrix of `bytes` bytes, aligned to cache lines.
  const std::byte* next(std::size_t bytes) {
    if (next_ + bytes > size_) next_ = 0;
    const std::byte* matrix = memory_ + next_;
    next_ += model::Arena::room_for(bytes);
    return matrix;
  }

 private:
  std::size_t size_ = 0, next_ = 0;
  model::Arena arena_;
  std::byte* memory_ = nullptr;
};

}  // namespace headscope::bench
