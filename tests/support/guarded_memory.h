#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

namespace headscope::testing {

/// A copy of elements at the end of a mapped page: an access after them crashes, even in code without
/// sanitizers.
template <class T>
class GuardedMemory {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedMemory(const std::vector<T>& elements) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t bytes = elements.size() * sizeof(T), room = (bytes + page - 1) / page * page;
    size_ = room + page;
    void* address = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(address);
    ::mprotect(memory_ + room, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(memory_ + (room - bytes));
    if (bytes > 0) std::memcpy(data_, elements.data(), bytes);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { ::munmap(memory_, size_); }

  T* data() const { return data_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace headscope::testing
