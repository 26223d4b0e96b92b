#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

constexpr int kMostExportScale = 4;
constexpr float kSmallestFont = 9, kDefaultFontSize = 14, kLargestFont = 32;  // logical pixels
constexpr float kNarrowestPane = 180, kWidestPane = 1600;  // where the window does not choose

/// What the window remembers from one start to the next.
struct Settings {
  bool dark = false;
  float font_size = kDefaultFontSize;  ///< logical pixels, in [kSmallestFont, kLargestFont]
  int window_width = 1600;
  int window_height = 1000;
  float heads_pane = 0;  ///< widths in logical pixels, up to kWidestPane; 0: chosen by the window's size
  float next_pane = 0;
  float beside_pane = 0;                                   ///< of the second view in the middle
  std::string view = std::string(view_at(Place::tab).id);  ///< the tab that is open
  std::string second_view;                                 ///< id of the view beside it; empty: none
  int layer = 0;  ///< the chosen head; of any model, so clamp it to the one that is shown
  int head = 0;
  int query = -1;                                      ///< the chosen position; -1: the last
  int key = -1;                                        ///< -1: none
  std::filesystem::path last_model;                    ///< empty: the bundled one
  std::vector<std::filesystem::path> recent_models;    ///< folders, newest first: see `remember`
  std::vector<std::filesystem::path> recent_folders;   ///< those that were browsed or exported to, likewise
  std::vector<std::filesystem::path> recent_sessions;  ///< files, likewise
  std::filesystem::path export_folder;                 ///< where the last export went; empty: nowhere yet
  int export_scale = 2;      ///< PNG: device pixels for a logical one, in [1, kMostExportScale]
  bool has_prompt = false;   ///< whether `last_prompt` was ever set
  Prompt last_prompt;        ///< text of any bytes; never ids
  bool offer_models = true;  ///< larger ones, while the bundled one is open
  bool start_token = false;  ///< the toggle, for prompts to come
  std::map<std::string, std::string>
      options;  ///< of the views: those that are kept and differ from their default, as text
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
