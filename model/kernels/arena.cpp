#include "model/kernels/arena.h"

#include <cassert>

#include "system/memory.h"

namespace headscope::model {

Arena::Arena(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  memory_ = static_cast<std::byte*>(system::allocate_pages(bytes));
  system::prefer_huge_pages(memory_, bytes);
}

Arena::~Arena() {
  if (memory_ != nullptr) system::free_pages(memory_, size_);
}

std::byte* Arena::take(std::size_t bytes) {
  assert(bytes <= size_ - used_);
  std::byte* piece = memory_ + used_;
  used_ += room_for(bytes);
  return piece;
}

}  // namespace headscope::model
