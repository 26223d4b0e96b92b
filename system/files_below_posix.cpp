#include <system_error>

#include "system/files_below.h"

namespace headscope::system {

namespace fs = std::filesystem;

void for_each_file_below(const fs::path& folder, const std::function<void(const fs::path&)>& visit) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) visit(it->path());
  }
}

}  // namespace headscope::system
