#pragma once
#include <cstdlib>
#include <new>

namespace headscope::viz {

/// malloc and realloc for libraries in C, compiled as our own, that do not look whether there was memory.
/// What the library holds itself when std::bad_alloc passes it is lost.
inline void* throwing_realloc(void* memory, std::size_t bytes) {
  void* const larger = std::realloc(memory, bytes);
  if (larger == nullptr && bytes > 0) throw std::bad_alloc();
  return larger;
}
inline void* throwing_malloc(std::size_t bytes) {
  return throwing_realloc(nullptr, bytes);
}

}  // namespace headscope::viz
