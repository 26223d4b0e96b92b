#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::system {

/// Looks up an environment variable: nothing if it is unset or empty. A value, so that tests can supply their
/// own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// $HOME, or %USERPROFILE% on Windows.
std::optional<std::filesystem::path> home_folder(const Environment& environment);

/// Where programs keep settings: $XDG_CONFIG_HOME, else ~/.config; %APPDATA% on Windows. Nothing
/// without a home folder. Relative folders are ignored, as the XDG base directory specification requires.
std::optional<std::filesystem::path> settings_folder(const Environment& environment);

/// Where programs keep what they want to find again on this machine: $XDG_STATE_HOME, else ~/.local/state;
/// %LOCALAPPDATA% on Windows. Nothing without a home folder.
std::optional<std::filesystem::path> state_folder(const Environment& environment);

/// Where fonts are, the user's before the system's: `fonts` in $XDG_DATA_HOME, ~/.fonts, and `fonts` in
/// $XDG_DATA_DIRS, with their defaults; on Windows the user's and the system's folders of fonts.
std::vector<std::filesystem::path> font_folders(const Environment& environment);

}  // namespace headscope::system
