#pragma once
#include <cstddef>
#include <memory>
#include <new>

namespace headscope::model {

constexpr std::size_t kCacheLineBytes = 64;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct FreeFloats {
  std::align_val_t alignment{kCacheLineBytes};
  void operator()(float* memory) const { ::operator delete(memory, alignment); }
};

/// Floats aligned to a cache line.
using FloatMemory = std::unique_ptr<float[], FreeFloats>;

/// Allocates uninitialized floats. Parts that fill whole huge pages are placed on them if the system has
/// some: a product reads many rows at once, and if each were on its own page, translating their addresses
/// would take a twentieth of a forward pass. Throws std::bad_alloc.
FloatMemory allocate_floats(std::size_t floats);

}  // namespace headscope::model
