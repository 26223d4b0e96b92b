#include "system/nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>
#include <string>

#include "system/path_text.h"
#include "system/posix_calls.h"

namespace headscope::system {

namespace fs = std::filesystem;

File nameless_file(const fs::path& /*folder*/) {
  return {};
}

int name_it(const File& /*file*/, const fs::path& /*name*/) {
  return ENOTSUP;
}

// With a name that lasts for a moment.
File scratch_file() {
  std::error_code error;
  std::string name = text_of(fs::temp_directory_path(error) / "headscope-XXXXXX");
  if (error) throw std::system_error(error);
  File file = File::owned(::mkstemp(name.data()));
  if (!file.is_open()) fail(errno);
  ::fcntl(number(file), F_SETFD, FD_CLOEXEC);
  remove_file(name);
  return file;
}

bool names_a_descriptor(const fs::path& path) {
  const std::string text = text_of(path.lexically_normal());
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/");
}

}  // namespace headscope::system
