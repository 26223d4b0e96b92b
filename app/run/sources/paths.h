#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::app {

/// Looks up an environment variable: nothing when it is unset or empty. A value, so that tests bring their
/// own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// The folder of the running program, symbolic links resolved. Throws std::runtime_error (one sentence).
std::filesystem::path executable_folder();

/// The program's own files: `../share/headscope` beside the program's folder (installed, wherever that is),
/// else `assets/` of the source tree it was built from. Throws std::runtime_error (one sentence, naming both)
/// when neither is there.
std::filesystem::path assets_folder(const std::filesystem::path& program_folder);
std::filesystem::path assets_folder();

/// The name of the model that comes with the program.
constexpr std::string_view kBundledModel = "tales";
/// The model that is used when none is named: `models/tales` of the assets.
std::filesystem::path bundled_model();

/// Where settings are kept: $XDG_CONFIG_HOME/headscope, else ~/.config/headscope; nothing without a home. A
/// relative XDG_CONFIG_HOME is passed over, as the XDG base directory specification asks.
std::optional<std::filesystem::path> config_folder(const Environment& environment);

/// Where the last session is kept: $XDG_STATE_HOME/headscope, else ~/.local/state/headscope; likewise.
std::optional<std::filesystem::path> state_folder(const Environment& environment);

/// What a path means that somebody typed: `~` and `~/x` in the home folder, other relative ones in the folder
/// in which the program was started. Links and `..` are left as they are. Nothing typed stays the empty path;
/// `~name`, and `~` without a home, stay as typed. Never throws.
std::filesystem::path expanded(std::string_view typed, const Environment& environment);

}  // namespace headscope::app
