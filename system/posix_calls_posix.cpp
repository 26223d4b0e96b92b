#include "system/posix_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "system/path_text.h"

namespace headscope::system {

namespace fs = std::filesystem;

void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

int open_descriptor(const fs::path& path, int flags) {
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

std::optional<fs::path> program_in_path(const Environment& environment, std::string_view name) {
  const std::string folders = environment("PATH").value_or("");
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path program = fs::path(folders.substr(at, end - at)) / name;
    std::error_code error;
    // Ignore relative paths: never run a program from the current folder.
    if (program.is_absolute() && fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0)
      return program;
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace headscope::system
