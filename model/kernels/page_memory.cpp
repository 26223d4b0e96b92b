#include "model/kernels/page_memory.h"

#include <algorithm>
#include <new>
#include <utility>

namespace headscope::model {

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
    free_bytes_ -= floats * sizeof(float);
    memory = std::move(found->memory);
    free_.erase(found);
  } else {
    memory = allocate_floats(floats);
  }
  used_bytes_ += floats * sizeof(float);
  shrink();  // free memory may belong to another model
  return memory;
}

void PageMemory::give_back(FloatMemory memory, std::size_t floats) noexcept {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= floats * sizeof(float);
  try {
    free_.push_back({std::move(memory), floats});
    free_bytes_ += floats * sizeof(float);
  } catch (const std::bad_alloc&) {  // no memory for the list: the page is freed
  }
  shrink();
}

std::size_t PageMemory::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

std::size_t PageMemory::bytes_free() const {
  const std::lock_guard lock(mutex_);
  return free_bytes_;
}

void PageMemory::shrink() {
  while (!free_.empty() && used_bytes_ + free_bytes_ > most_) {
    free_bytes_ -= free_.front().floats * sizeof(float);
    free_.erase(free_.begin());
  }
}

}  // namespace headscope::model
