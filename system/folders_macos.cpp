#include "system/folders.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// Where programs keep what is theirs, for one user; macOS makes no difference between settings and state.
std::optional<fs::path> support_folder(const Environment& environment) {
  const auto home = home_folder(environment);
  return home ? std::optional(*home / "Library/Application Support") : std::nullopt;
}

}  // namespace

std::optional<fs::path> settings_folder(const Environment& environment) {
  return support_folder(environment);
}

std::optional<fs::path> state_folder(const Environment& environment) {
  return support_folder(environment);
}

std::vector<fs::path> font_folders(const Environment& environment) {
  std::vector<fs::path> folders;
  if (const auto home = home_folder(environment)) folders.push_back(*home / "Library/Fonts");
  folders.insert(folders.end(), {"/Library/Fonts", "/System/Library/Fonts"});
  return folders;
}

}  // namespace headscope::system
