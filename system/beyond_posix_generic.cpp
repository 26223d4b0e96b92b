#include "system/beyond_posix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/memory.h"
#include "system/posix_calls.h"

namespace headscope::system {

int reserve_space(int descriptor, std::int64_t size) {
  for (;;) {
    const int error = ::posix_fallocate(descriptor, 0, size);  // returns errno instead of setting it
    if (error != EINTR) return error;
  }
}

int sync_to_disk(int descriptor) {
  return uninterrupted([&] { return ::fsync(descriptor); });
}

std::int64_t modification_time(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

void prefer_huge_pages(void* /*memory*/, std::size_t /*bytes*/) noexcept {}

void return_freed_memory() noexcept {}

}  // namespace headscope::system
