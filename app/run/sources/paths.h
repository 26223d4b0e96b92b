#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "system/folders.h"

namespace headscope::app {

using system::Environment;
using system::process_environment;

/// The program's version, "0.1.0".
std::string version();

/// The program's own files: `../share/headscope` next to the program's folder, else `assets/` of the source
/// tree it was built from. Throws std::runtime_error, which names both, if neither exists.
std::filesystem::path assets_folder(const std::filesystem::path& program_folder);
std::filesystem::path assets_folder();

constexpr std::string_view kBundledModel = "tales";
/// The default model: `models/tales` of the assets.
std::filesystem::path bundled_model();

/// The folder of settings: `headscope` in system::settings_folder.
std::optional<std::filesystem::path> config_folder(const Environment& environment);

/// The folder of the last session: `headscope` in system::state_folder.
std::optional<std::filesystem::path> state_folder(const Environment& environment);

/// Expands a typed path: `~` and `~/x` in the home folder, other relative paths in the current folder. An
/// empty text, `~name`, and `~` without a home folder stay as typed. Never throws.
std::filesystem::path expanded(std::string_view typed, const Environment& environment);

}  // namespace headscope::app
