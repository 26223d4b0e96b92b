#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "system/threads.h"

namespace headscope::model {

constexpr std::size_t kCacheLineBytes = 64;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct FreeFloats {
  std::align_val_t alignment{kCacheLineBytes};
  void operator()(float* memory) const { ::operator delete(memory, alignment); }
};

/// Floats aligned to a cache line.
using FloatMemory = std::unique_ptr<float[], FreeFloats>;

/// Allocates uninitialized floats. Parts that fill whole huge pages are placed on them if the system has
/// some: a product reads many rows at once, and if each were on its own page, translating their addresses
/// would take a twentieth of a forward pass. Throws std::bad_alloc.
FloatMemory allocate_floats(std::size_t floats);

/// Recycles the memory of freed pages, because the system zeroes fresh memory each time, which took a
/// twentieth of a forward pass. Thread-safe.
class PageMemory {
 public:
  /// Limit of used and free bytes together, beyond which no free memory is kept. Initially 0.
  void keep_at_most(std::size_t bytes);

  /// Uninitialized memory for `floats`.
  FloatMemory take(std::size_t floats);
  void give_back(FloatMemory memory, std::size_t floats) noexcept;  ///< destructors of pages call it

 private:
  struct Piece {
    FloatMemory memory;
    std::size_t floats;
  };
  void shrink();  // to the limit; the mutex must be held

  system::Mutex mutex_;
  std::vector<Piece> free_;
  std::size_t most_ = 0, bytes_ = 0;  // the limit, and what is used or free
};

}  // namespace headscope::model
