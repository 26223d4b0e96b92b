#pragma once
// What goes with an operator new of a test's own, whose memory is malloc's. For one file of a program, that
// of the operator: a compiler that sees only one of both takes them for mismatched.
#include <cstdlib>
#include <new>

#ifdef __GNUC__  // GCC takes a free() of what its own inlined operator new gave for mismatched
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
