#include "system/nameless_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "system/path_text.h"
#include "system/posix_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

std::string path_of(const File& file) {
  return "/proc/self/fd/" + std::to_string(file.handle());
}

}  // namespace

File nameless_file([[maybe_unused]] const fs::path& folder) {
#ifdef O_TMPFILE
  try {
    File file = File::owned(open_descriptor(folder.empty() ? "." : folder, O_TMPFILE | O_RDWR));
    if (::access(path_of(file).c_str(), F_OK) == 0) return file;
    // Without /proc it could never be given a name.
  } catch (const std::system_error&) {
  }
#endif
  return {};
}

int name_it(const File& file, const fs::path& name) {
  return ::linkat(AT_FDCWD, path_of(file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                                   : errno;
}

File scratch_file() {
  File file = File::owned(::memfd_create("headscope", MFD_CLOEXEC));
  if (!file.is_open()) fail(errno);
  return file;
}

bool names_a_descriptor(const fs::path& path) {
  const std::string text = text_of(path.lexically_normal());
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/") ||
         text.starts_with("/proc/");
}

}  // namespace headscope::system
