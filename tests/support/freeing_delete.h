#pragma once
// operator delete for tests that define operator new with malloc. Include it in the same file, because a
// compiler that sees only one of them reports mismatched calls.
#include <cstdlib>
#include <new>

#ifdef __GNUC__  // GCC reports a free() of memory from its own inlined operator new as mismatched
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
