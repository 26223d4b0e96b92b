#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "system/atomic_file.h"
#include "system/nameless_file.h"
#include "system/posix_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// Makes a new name durable. The file is complete even if this fails.
void sync_folder(const fs::path& folder) {
  try {
    File::owned(open_descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY)).sync();
  } catch (const std::system_error&) {
  }
}

}  // namespace

void AtomicFile::open() {
  // /dev/stdout may lead to a regular file, but the user did not mean to replace that file. Nor is "" the
  // current folder, as LLVM's library has it.
  if (!path_.empty() && !names_a_descriptor(path_)) {
    std::error_code error;
    if (const fs::path resolved = fs::canonical(path_, error); !error) goal_ = resolved;
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
  file_ = nameless_file(goal_.parent_path());
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
