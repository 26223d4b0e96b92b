#include "system/beyond_posix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/memory.h"
#include "system/posix_calls.h"

namespace headscope::system {

int reserve_space(int descriptor, std::int64_t size) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return errno;
  const std::int64_t missing = size - std::int64_t{status.st_blocks} * 512;
  if (missing <= 0) return 0;
  fstore_t wanted{F_ALLOCATEALL, F_PEOFPOSMODE, 0, missing, 0};
  return uninterrupted([&] { return ::fcntl(descriptor, F_PREALLOCATE, &wanted) == -1 ? -1 : 0; });
}

// fsync leaves the content in the memory of the disk. Where that cannot be emptied it still is the best there
// is.
int sync_to_disk(int descriptor) {
  if (::fcntl(descriptor, F_FULLFSYNC) != -1) return 0;
  return uninterrupted([&] { return ::fsync(descriptor); });
}

std::int64_t modification_time(const struct stat& status) {
  return std::int64_t{status.st_mtimespec.tv_sec} * 1'000'000'000 + status.st_mtimespec.tv_nsec;
}

void prefer_huge_pages(void* /*memory*/, std::size_t /*bytes*/) noexcept {}

void return_freed_memory() noexcept {}

}  // namespace headscope::system
