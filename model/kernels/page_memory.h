#pragma once
#include <cstddef>
#include <vector>

#include "model/kernels/float_memory.h"
#include "system/threads.h"

namespace headscope::model {

/// Recycles the memory of freed pages, because the system zeroes fresh memory each time, which took a
/// twentieth of a forward pass. Thread-safe.
class PageMemory {
 public:
  /// Limit of used and free bytes together, beyond which no free memory is kept. Initially 0.
  void keep_at_most(std::size_t bytes);

  /// Uninitialized memory for `floats`.
  FloatMemory take(std::size_t floats);
  void give_back(FloatMemory memory, std::size_t floats) noexcept;  ///< destructors of pages call it

  std::size_t bytes_in_use() const;
  std::size_t bytes_free() const;

 private:
  struct Piece {
    FloatMemory memory;
    std::size_t floats;
  };
  void shrink();  // to the limit; the mutex must be held

  mutable system::Mutex mutex_;
  std::vector<Piece> free_;
  std::size_t most_ = 0, used_bytes_ = 0, free_bytes_ = 0;
};

}  // namespace headscope::model
