#include "system/folders.h"

#include <cstdlib>

namespace headscope::system {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value || !*value) return std::nullopt;
    return value;
  };
}

std::optional<std::filesystem::path> home_folder(const Environment& environment) {
  return environment("HOME");
}

}  // namespace headscope::system
