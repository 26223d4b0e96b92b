#include "tests/support/source_folders.h"

namespace headscope::testing {

std::filesystem::path source_dir() {
  return HEADSCOPE_SOURCE_DIR;
}

}  // namespace headscope::testing
