#pragma once
#include <cstdlib>
#include <new>

namespace headscope::viz {

/// malloc and realloc that throw std::bad_alloc, for C libraries compiled into this program that do not check
/// for null. Memory the library holds at that moment is leaked.
inline void* throwing_realloc(void* memory, std::size_t bytes) {
  void* const larger = std::realloc(memory, bytes);
  if (larger == nullptr && bytes > 0) throw std::bad_alloc();
  return larger;
}
inline void* throwing_malloc(std::size_t bytes) {
  return throwing_realloc(nullptr, bytes);
}

}  // namespace headscope::viz
