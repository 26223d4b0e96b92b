#include "model/kernels/arena.h"

#include <sys/mman.h>

#include <cassert>
#include <new>

namespace headscope::model {

Arena::Arena(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(address);
  ::madvise(address, bytes, MADV_HUGEPAGE);  // only for speed, so errors are ignored
}

Arena::~Arena() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

std::byte* Arena::take(std::size_t bytes) {
  assert(bytes <= size_ - used_);
  std::byte* piece = memory_ + used_;
  used_ += room_for(bytes);
  return piece;
}

}  // namespace headscope::model
