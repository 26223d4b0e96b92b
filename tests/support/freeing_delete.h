#pragma once
// What goes with an operator new of a test's own, whose memory is malloc's. For one file of a program, that
// of the operator: a compiler that sees only one of both takes them for mismatched.
#include <cstdlib>
#include <new>

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
