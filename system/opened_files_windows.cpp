#include "system/opened_files.h"

namespace headscope::system {

void on_opened_files(const char* /*delegate*/, std::function<void(const std::filesystem::path&)> /*open*/) {}

}  // namespace headscope::system
