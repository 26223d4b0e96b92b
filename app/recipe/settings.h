#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/recipe/recipe.h"

namespace headscope::app {

constexpr int kMostExportScale = 4;
constexpr float kSmallestFont = 9, kDefaultFontSize = 14, kLargestFont = 32;  // logical pixels
constexpr float kNarrowestPane = 180, kWidestPane = 1600;  // where the window does not choose

/// What the window remembers from one start to the next: a part of its session, and paths.
struct Settings {
  /// The parts that the next start restores: look, panes, views, selection, kept options, the prompt's text
  /// and start token. The selection is of any model: clamp it to the one that is shown.
  Session session;
  bool has_prompt = false;  ///< whether the session's was ever set
  int window_width = 1600;
  int window_height = 1000;
  std::filesystem::path last_model;                    ///< empty: the bundled one
  std::vector<std::filesystem::path> recent_models;    ///< folders, newest first: see `remember`
  std::vector<std::filesystem::path> recent_folders;   ///< those that were browsed or exported to, likewise
  std::vector<std::filesystem::path> recent_sessions;  ///< files, likewise
  std::filesystem::path export_folder;                 ///< where the last export went; empty: nowhere yet
  int export_scale = 2;      ///< PNG: device pixels for a logical one, in [1, kMostExportScale]
  bool offer_models = true;  ///< larger ones, while the bundled one is open
  bool start_token = false;  ///< the toggle, for prompts to come
  bool operator==(const Settings&) const = default;
};

struct LoadedSettings {
  Settings settings;
  std::string message;  ///< one sentence when the file, or a part of it, could not be used; else empty
};

constexpr std::size_t kMostRecent = 8;

/// Puts a path at the front of the recent ones, without duplicates (a slash at the end makes no
/// difference), and keeps the newest kMostRecent. The empty path is none.
void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used);

/// JSON. Text that is no UTF-8 is kept as an array of bytes.
std::string to_json(const Settings& settings);

/// Never throws: what is missing, of a wrong type or out of its range keeps its default, and the message says
/// so. `file` is only named in messages.
LoadedSettings parse_settings(std::string_view json, const std::string& file);

/// In the folder of configurations.
constexpr std::string_view kSettingsFile = "settings.json";

/// The defaults, without a message, when there is no such file.
LoadedSettings load_settings(const std::filesystem::path& file);

/// Writes them whole or not at all, making the folder if need be. Throws std::runtime_error (one sentence).
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace headscope::app
