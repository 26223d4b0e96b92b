#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/kernels/arena.h"

namespace headscope::bench {

/// Weights that come from memory, as they do in a pass: each matrix that is asked for lies behind the last
/// one, in more memory than caches hold. One bit pattern throughout, that is an ordinary number in each
/// precision: the time of a product does not depend on the numbers, unless they are denormal.
class RotatingWeights {
 public:
  /// For matrices of at most so many bytes. Takes 512 MiB, or room for two of the largest.
  explicit RotatingWeights(std::size_t largest_bytes)
      : size_(model::Arena::room_for(std::max(std::size_t{512} << 20, 2 * largest_bytes))), arena_(size_) {
    memory_ = arena_.take(size_);
    std::fill_n(reinterpret_cast<std::uint32_t*>(memory_), size_ / sizeof(std::uint32_t), 0x3c003c00U);
  }

  /// A matrix of so many bytes, aligned to cache lines.
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
