#include "system/beyond_posix.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

#include "system/memory.h"
#include "system/posix_calls.h"

namespace headscope::system {

// Unlike posix_fallocate, it writes nothing where the file system has no such call.
int reserve_space(int descriptor, std::int64_t size) {
  return uninterrupted([&] { return ::fallocate(descriptor, 0, 0, size); });
}

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  ::madvise(memory, bytes, MADV_HUGEPAGE);
}

void return_freed_memory() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace headscope::system
