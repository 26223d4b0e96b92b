#include "system/posix_calls.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace headscope::system {

void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

int open_descriptor(const std::filesystem::path& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) fail(errno);
  }
}

FileStatus status_of(const struct stat& status) {
  const FileKind kind = S_ISREG(status.st_mode)   ? FileKind::regular
                        : S_ISDIR(status.st_mode) ? FileKind::folder
                                                  : FileKind::other;
  return {kind, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace headscope::system
