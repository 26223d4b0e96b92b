#include "system/nameless_file.h"

#include <cerrno>

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
  fs::path name;
  File file = temporary_file(name);
  remove_file(name);
  return file;
}

bool names_a_descriptor(const fs::path& path) {
  const std::string text = text_of(path.lexically_normal());
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/");
}

}  // namespace headscope::system
