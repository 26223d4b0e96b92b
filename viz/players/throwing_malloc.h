#pragma once
#include <cstdlib>
#include <new>

namespace headscope::viz {

/// malloc that throws std::bad_alloc, for C libraries compiled into this program that do not check for null.
/// Memory the library holds at that moment is leaked.
inline void* throwing_malloc(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr && bytes > 0) throw std::bad_alloc();
  return memory;
}

}  // namespace headscope::viz
