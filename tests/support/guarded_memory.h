#pragma once
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

namespace headscope::testing {

/// A copy of elements at the end of a page: an access after them crashes, even in code without
/// sanitizers.
template <class T>
class GuardedMemory {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedMemory(const std::vector<T>& elements) {
    const std::size_t bytes = elements.size() * sizeof(T), room = (bytes + kPage - 1) / kPage * kPage;
    size_ = room + kPage;
    memory_ = static_cast<std::byte*>(::operator new(size_, kAlignment));
    guard(true);
    data_ = reinterpret_cast<T*>(memory_ + (room - bytes));
    if (bytes > 0) std::memcpy(data_, elements.data(), bytes);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() {
    guard(false);
    ::operator delete(memory_, kAlignment);
  }

  T* data() const { return data_; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 16;  // of any system, or several of its pages

  static constexpr std::align_val_t kAlignment{kPage};

  /// Forbids access to the last page, or allows it again.
  void guard(bool forbidden) {
    void* const page = memory_ + (size_ - kPage);
#ifdef _WIN32
    DWORD before = 0;
    ::VirtualProtect(page, kPage, forbidden ? PAGE_NOACCESS : PAGE_READWRITE, &before);
#else
    ::mprotect(page, kPage, forbidden ? PROT_NONE : PROT_READ | PROT_WRITE);
#endif
  }

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace headscope::testing
