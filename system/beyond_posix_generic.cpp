#include "system/beyond_posix.h"

#include <fcntl.h>

#include <cerrno>

#include "system/memory.h"

namespace headscope::system {

int reserve_space(int descriptor, std::int64_t size) {
  for (;;) {
    const int error = ::posix_fallocate(descriptor, 0, size);  // returns errno instead of setting it
    if (error != EINTR) return error;
  }
}

void prefer_huge_pages(void* /*memory*/, std::size_t /*bytes*/) noexcept {}

void return_freed_memory() noexcept {}

}  // namespace headscope::system
