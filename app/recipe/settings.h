#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/recipe/recipe.h"

namespace headscope::app {

constexpr int kMaxExportScale = 4;
constexpr float kSmallestFont = 9, kDefaultFontSize = 14, kLargestFont = 32;  // logical pixels

/// What the window remembers between starts: a part of its session, and paths.
struct Settings {
  /// The parts that the next start restores: look, panes, views, selection, kept options, the prompt's text
  /// and start token. The selection may be of another model: clamp it to the one that is shown.
  Session session;
  bool has_prompt = false;  ///< whether the session's prompt was ever set
  int window_width = 1600;
  int window_height = 1000;
  std::filesystem::path last_model;                    ///< empty: the bundled model
  std::vector<std::filesystem::path> recent_models;    ///< newest first, see `remember`
  std::vector<std::filesystem::path> recent_folders;   ///< folders browsed or exported to, newest first
  std::vector<std::filesystem::path> recent_sessions;  ///< newest first
  std::filesystem::path export_folder;                 ///< folder of the last export; empty: none yet
  int export_scale = 2;       ///< PNG: device pixels per logical pixel, in [1, kMaxExportScale]
  bool offer_models = true;   ///< offer larger models while the bundled one is open
  bool all_controls = false;  ///< all controls of a view are shown, however many
  bool start_token = false;   ///< the start token toggle for new prompts
  bool operator==(const Settings&) const = default;
};

struct LoadedSettings {
  Settings settings;
  std::string message;  ///< one sentence if the file or a part of it is invalid; else empty
};

constexpr std::size_t kMaxRecent = 8;

/// Puts a path at the front of the recent ones, without duplicates (a slash at the end makes no
/// difference), and keeps the newest kMaxRecent. The empty path is none.
void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used);

/// The settings as JSON. Text that is not UTF-8 is stored as an array of bytes.
std::string to_json(const Settings& settings);

/// Never throws: values that are missing, of the wrong type or out of range keep their defaults, and the
/// message names them. `file` is used only in messages.
LoadedSettings parse_settings(std::string_view json, const std::string& file);

/// In the configuration folder.
constexpr std::string_view kSettingsFile = "settings.json";

/// The defaults, without a message, if the file does not exist.
LoadedSettings load_settings(const std::filesystem::path& file);

}  // namespace headscope::app
