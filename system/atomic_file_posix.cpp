#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "system/atomic_file.h"
#include "system/path_text.h"
#include "system/posix_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

// /dev/stdout may lead to a regular file, but the user did not mean to replace that file.
bool names_a_descriptor(const fs::path& path) {
  const std::string text = text_of(path.lexically_normal());
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/") ||
         text.starts_with("/proc/");
}

std::string path_of(const File& file) {
  return "/proc/self/fd/" + std::to_string(file.handle());
}

/// Makes a new name durable. The file is complete even if this fails.
void sync_folder(const fs::path& folder) {
  try {
    File::owned(open_descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY)).sync();
  } catch (const std::system_error&) {
  }
}

/// A file without a name; closed if not supported.
File open_nameless([[maybe_unused]] const fs::path& folder) {
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

/// Gives an unnamed file a name. Returns errno, or 0.
int name_it(const File& file, const fs::path& name) {
  return ::linkat(AT_FDCWD, path_of(file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                                   : errno;
}

}  // namespace

void AtomicFile::open() {
  std::error_code ignored;
  if (const fs::path resolved = fs::canonical(path_, ignored); !ignored && !names_a_descriptor(path_)) {
    goal_ = resolved;
  }
  struct stat status {};
  const bool exists = ::stat(goal_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) system::fail(EISDIR);
  if (exists && ::access(goal_.c_str(), W_OK) != 0) system::fail(errno);  // rename does not check this
  if (names_a_descriptor(path_) || (exists && !S_ISREG(status.st_mode))) {
    direct_ = true;
    file_ = File(goal_, Open::write);
    return;
  }
  file_ = open_nameless(goal_.parent_path());
  if (!file_.is_open()) open_named();
  if (exists) static_cast<void>(::fchmod(number(file_), status.st_mode & 07777));  // best effort
}

void AtomicFile::put_in_place() {
  if (temporary_.empty()) {
    // Directly if it replaces nothing: then it never has another name. To replace a file, it needs a
    // temporary one.
    fs::path name = goal_;
    int error = name_it(file_, name);
    for (int attempt = 0; error == EEXIST; ++attempt) error = name_it(file_, name = beside(attempt));
    if (error != 0) system::fail(error);
    temporary_ = name;
  }
  file_.close();
  rename_over(temporary_, goal_);
  temporary_.clear();
  sync_folder(goal_.parent_path());
}

}  // namespace headscope::system
