#include "model/page_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace headscope::model {
namespace {

/// Asks for huge pages where whole ones fit: attention over a long context reads all of it for every token.
void ask_for_huge_pages(float* memory, std::size_t floats) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + floats * sizeof(float);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage,
                       last = end / kHugePage * kHugePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

void PageMemory::keep_at_most(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  most_ = bytes;
  shrink();
}

std::unique_ptr<float[]> PageMemory::take(std::size_t floats) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(free_, floats, &Piece::floats);
  std::unique_ptr<float[]> memory;
  if (found != free_.end()) {
    free_bytes_ -= floats * sizeof(float);
    memory = std::move(found->memory);
    free_.erase(found);
  } else {
    memory = std::make_unique_for_overwrite<float[]>(floats);
    ask_for_huge_pages(memory.get(), floats);
  }
  used_bytes_ += floats * sizeof(float);
  shrink();  // what is free may be of another model
  return memory;
}

void PageMemory::give_back(std::unique_ptr<float[]> memory, std::size_t floats) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= floats * sizeof(float);
  free_bytes_ += floats * sizeof(float);
  free_.push_back({std::move(memory), floats});
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
