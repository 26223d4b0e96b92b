#include "model/kernels/float_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "system/memory.h"

namespace headscope::model {

FloatMemory allocate_floats(std::size_t floats) {
  if (floats > std::numeric_limits<std::size_t>::max() / sizeof(float)) throw std::bad_alloc();
  const std::size_t bytes = floats * sizeof(float);
  const bool huge = bytes >= kHugePageBytes;
  const std::align_val_t alignment{huge ? kHugePageBytes : kCacheLineBytes};
  void* memory = ::operator new(bytes, alignment);
  if (huge) system::prefer_huge_pages(memory, bytes / kHugePageBytes * kHugePageBytes);
  return FloatMemory(static_cast<float*>(memory), FreeFloats{alignment});
}

void PageMemory::keep_at_most(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  most_ = bytes;
  shrink();
}

FloatMemory PageMemory::take(std::size_t floats) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(free_, floats, &Piece::floats);
  FloatMemory memory;
  if (found != free_.end()) {
    memory = std::move(found->memory);
    free_.erase(found);
  } else {
    memory = allocate_floats(floats);
    bytes_ += floats * sizeof(float);
  }
  shrink();  // free memory may belong to another model
  return memory;
}

void PageMemory::give_back(FloatMemory memory, std::size_t floats) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    free_.push_back({std::move(memory), floats});
  } catch (const std::bad_alloc&) {  // no memory for the list: the page is freed
    bytes_ -= floats * sizeof(float);
  }
  shrink();
}

void PageMemory::shrink() {
  while (!free_.empty() && bytes_ > most_) {
    bytes_ -= free_.front().floats * sizeof(float);
    free_.erase(free_.begin());
  }
}

}  // namespace headscope::model
