#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

/// What the window remembers from one start to the next.
struct Settings {
  bool dark = false;
  float font_size = 14;  ///< logical pixels, in [8, 40]
  int window_width = 1600;
  int window_height = 1000;
  float heads_pane = 0;  ///< widths in logical pixels; 0: chosen by the window's size
  float next_pane = 0;
  std::string view = std::string(view_at(Place::tab).id);  ///< the tab that is open
  std::filesystem::path last_model;                        ///< empty: the bundled one
  bool has_prompt = false;                                 ///< whether `last_prompt` was ever set
  Prompt last_prompt;                                      ///< text of any bytes; never ids
  bool start_token = false;                                ///< the toggle, for prompts to come
  std::map<std::string, std::string>
      options;  ///< of the views, those that are kept and not as usual, as text
  bool operator==(const Settings&) const = default;
};

struct LoadedSettings {
  Settings settings;
  std::string message;  ///< one sentence when the file, or a part of it, could not be used; else empty
};

/// JSON. Text that is no UTF-8 is kept as an array of bytes.
std::string to_json(const Settings& settings);

/// Never throws: what is missing, of a wrong type or out of its range keeps its default, and the message says
/// so. `file` is only named in messages.
LoadedSettings parse_settings(std::string_view json, const std::string& file);

/// The defaults, without a message, when there is no such file.
LoadedSettings load_settings(const std::filesystem::path& file);

/// Writes them whole or not at all, making the folder if need be. Throws std::runtime_error (one sentence).
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace headscope::app
