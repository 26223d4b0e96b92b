#include "system/folders.h"

#include <windows.h>

// These need it.
#include <knownfolders.h>
#include <shlobj.h>

#include "system/windows_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> known_folder(const KNOWNFOLDERID& id) {
  wchar_t* text = nullptr;
  std::optional<fs::path> folder;
  if (SUCCEEDED(::SHGetKnownFolderPath(id, KF_FLAG_DEFAULT, nullptr, &text))) folder = text;
  ::CoTaskMemFree(text);
  return folder;
}

/// %VARIABLE% if that is an absolute path, else what the system has for the user.
std::optional<fs::path> base_folder(const Environment& environment, const char* variable,
                                    const KNOWNFOLDERID& id) {
  if (const auto text = environment(variable)) {
    const fs::path folder = utf16(*text);
    if (folder.is_absolute()) return folder;
  }
  return known_folder(id);
}

}  // namespace

Environment process_environment() {
  return environment_variable;
}

std::optional<fs::path> home_folder(const Environment& environment) {
  return base_folder(environment, "USERPROFILE", FOLDERID_Profile);
}

std::optional<fs::path> settings_folder(const Environment& environment) {
  return base_folder(environment, "APPDATA", FOLDERID_RoamingAppData);
}

std::optional<fs::path> state_folder(const Environment& environment) {
  return base_folder(environment, "LOCALAPPDATA", FOLDERID_LocalAppData);
}

std::vector<fs::path> font_folders(const Environment& environment) {
  std::vector<fs::path> folders;
  if (const auto own = state_folder(environment)) folders.push_back(*own / "Microsoft" / "Windows" / "Fonts");
  // FOLDERID_Fonts, which is always there, is known to a library that would be started for it alone.
  wchar_t windows[MAX_PATH];
  const UINT length = ::GetSystemWindowsDirectoryW(windows, MAX_PATH);
  if (length > 0 && length < MAX_PATH) folders.push_back(fs::path(windows) / "Fonts");
  return folders;
}

}  // namespace headscope::system
