#include "system/folders.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "system/calls.h"
#include "system/path_text.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// A variable, and where its folder is below the home folder if it is not set.
struct Place {
  const char *variable, *otherwise;
};
#ifdef _WIN32
constexpr const char* kHome = "USERPROFILE";
constexpr Place kSettings{"APPDATA", "AppData/Roaming"}, kState{"LOCALAPPDATA", "AppData/Local"};
#else
constexpr const char* kHome = "HOME";
constexpr Place kSettings{"XDG_CONFIG_HOME", ".config"}, kState{"XDG_STATE_HOME", ".local/state"},
    kData{"XDG_DATA_HOME", ".local/share"};
#endif

std::optional<fs::path> folder_of(const Environment& environment, const Place& place) {
  const auto set = environment(place.variable);
  if (set && path_of(*set).is_absolute()) return path_of(*set);
  const auto home = home_folder(environment);
  return home ? std::optional(*home / place.otherwise) : std::nullopt;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
#ifdef _WIN32
    const wchar_t* const wide = ::_wgetenv(utf16(name).c_str());
    std::string value = wide ? utf8(wide) : std::string();
#else
    const char* const bytes = std::getenv(name.c_str());
    std::string value = bytes ? bytes : "";
#endif
    return value.empty() ? std::nullopt : std::optional(std::move(value));
  };
}

std::optional<fs::path> home_folder(const Environment& environment) {
  const auto home = environment(kHome);
  return home ? std::optional(path_of(*home)) : std::nullopt;
}

std::optional<fs::path> settings_folder(const Environment& environment) {
  return folder_of(environment, kSettings);
}

std::optional<fs::path> state_folder(const Environment& environment) {
  return folder_of(environment, kState);
}

std::vector<fs::path> font_folders(const Environment& environment) {
  std::vector<fs::path> folders;
#ifdef _WIN32
  if (const auto own = state_folder(environment)) folders.push_back(*own / "Microsoft/Windows/Fonts");
  if (const auto windows = environment("SystemRoot")) folders.push_back(path_of(*windows) / "Fonts");
#else
  if (const auto data = folder_of(environment, kData)) folders.push_back(*data / "fonts");
  if (const auto home = home_folder(environment)) folders.push_back(*home / ".fonts");
  const std::string shared = environment("XDG_DATA_DIRS").value_or("/usr/local/share:/usr/share");
  for (const fs::path& data : folders_in(shared)) folders.push_back(data / "fonts");
  // A session may list only its own folders, but the system's fonts are needed, too.
  const fs::path system = "/usr/share/fonts";
  if (std::ranges::find(folders, system) == folders.end()) folders.push_back(system);
#endif
  return folders;
}

#ifndef _WIN32
std::vector<fs::path> folders_in(const std::string& list) {
  std::vector<fs::path> folders;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ':');)
    if (fs::path(part).is_absolute()) folders.emplace_back(part);
  return folders;
}
#endif

}  // namespace headscope::system
