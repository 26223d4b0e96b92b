#include "model/kernels/float_memory.h"

#include <limits>

#include "system/memory.h"

namespace headscope::model {

FloatMemory allocate_floats(std::size_t floats) {
  if (floats > std::numeric_limits<std::size_t>::max() / sizeof(float)) throw std::bad_alloc();
  const std::size_t bytes = floats * sizeof(float);
  const bool huge = bytes >= kHugePageBytes;
  const std::align_val_t alignment{huge ? kHugePageBytes : kCacheLineBytes};
  void* memory = ::operator new(bytes, alignment);
  if (huge) system::prefer_huge_pages(memory, bytes / kHugePageBytes * kHugePageBytes);
  return FloatMemory(static_cast<float*>(memory), FreeFloats{alignment});
}

}  // namespace headscope::model
