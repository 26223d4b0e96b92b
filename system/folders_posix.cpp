#include "system/folders.h"

#include <algorithm>
#include <cstdlib>

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// $VARIABLE if that is an absolute path, else ~/`otherwise`.
std::optional<fs::path> base_folder(const Environment& environment, const char* variable,
                                    const char* otherwise) {
  if (const auto folder = environment(variable); folder && fs::path(*folder).is_absolute()) return *folder;
  if (const auto home = home_folder(environment)) return *home / otherwise;
  return std::nullopt;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value || !*value) return std::nullopt;
    return value;
  };
}

std::optional<fs::path> home_folder(const Environment& environment) {
  return environment("HOME");
}

std::optional<fs::path> settings_folder(const Environment& environment) {
  return base_folder(environment, "XDG_CONFIG_HOME", ".config");
}

std::optional<fs::path> state_folder(const Environment& environment) {
  return base_folder(environment, "XDG_STATE_HOME", ".local/state");
}

std::vector<fs::path> font_folders(const Environment& environment) {
  std::vector<fs::path> folders;
  const auto home = home_folder(environment);
  if (const auto data = environment("XDG_DATA_HOME")) {
    folders.push_back(fs::path(*data) / "fonts");
  } else if (home) {
    folders.push_back(*home / ".local/share/fonts");
  }
  if (home) folders.push_back(*home / ".fonts");
  const std::string shared = environment("XDG_DATA_DIRS").value_or("/usr/local/share:/usr/share");
  for (std::size_t start = 0; start <= shared.size();) {
    const std::size_t end = std::min(shared.find(':', start), shared.size());
    if (end > start) folders.push_back(fs::path(shared.substr(start, end - start)) / "fonts");
    start = end + 1;
  }
  // A session may list only its own folders, but the system's fonts are needed, too.
  const fs::path system = "/usr/share/fonts";
  if (std::ranges::find(folders, system) == folders.end()) folders.push_back(system);
  return folders;
}

}  // namespace headscope::system
