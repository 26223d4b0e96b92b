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

/// Floats that begin with a cache line.
using FloatMemory = std::unique_ptr<float[], FreeFloats>;

/// Room for `floats`, whatever they are. What fills whole huge pages is put on them, where the system has
/// some: a product goes along many rows at once, and with each row on pages of its own, as many addresses had
/// to be looked up, a twentieth of a forward pass. Throws std::bad_alloc.
FloatMemory allocate_floats(std::size_t floats);

}  // namespace headscope::model
