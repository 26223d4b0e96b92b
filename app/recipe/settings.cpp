#include "app/recipe/settings.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/recipe/fields.h"
#include "app/recipe/names.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr int kSmallestWindow = 320;
constexpr int kLargestWindow = 16384;
constexpr std::size_t kMaxFileBytes = 16 * Prompt::kMaxBytes;  // of which each may be a number on its line

std::filesystem::path without_last_slash(const std::filesystem::path& path) {
  return path.has_relative_path() && !path.has_filename() ? path.parent_path() : path;
}

/// Paths, newest first; invalid ones are left out.
void describe_recent(Fields& form, const char* key, std::vector<std::filesystem::path>& recent) {
  std::vector<std::string> names;
  for (const auto& path : recent) names.push_back(system::text_of(path));
  form.texts(key, names.max_size(), names);
  for (auto name = names.rbegin(); name != names.rend(); ++name) remember(recent, system::path_of(*name));
}

/// The keys of the settings file.
void describe_settings(Fields& form, Settings& s) {
  Session& next = s.session;
  form.one_of("theme", kThemeNames, next.look.dark);
  form.number("font_size", kSmallestFont, kLargestFont, next.look.font_size);
  form.whole("window_width", kSmallestWindow, kLargestWindow, s.window_width);
  form.whole("window_height", kSmallestWindow, kLargestWindow, s.window_height);
  form.number("heads_pane", 0, kWidestPane, next.panes.heads);
  form.number("beside_pane", 0, kWidestPane, next.panes.second_view);
  form.number("next_pane", 0, kWidestPane, next.panes.next);
  form.bytes("view", next.view);
  form.bytes("second_view", next.second_view);
  describe_selection(form, next.selection);
  form.path("last_model", s.last_model);
  describe_recent(form, "recent_models", s.recent_models);
  describe_recent(form, "recent_folders", s.recent_folders);
  describe_recent(form, "recent_sessions", s.recent_sessions);
  form.path("export_folder", s.export_folder);
  form.whole("export_scale", 1, kMaxExportScale, s.export_scale);
  form.flag("offer_models", s.offer_models);
  form.flag("all_controls", s.all_controls);
  form.flag("start_token", s.start_token);
  std::vector<std::string> unknown;  // options of another version: ignored
  form.options("options", next.options, unknown);
  if (form.reads()) s.has_prompt = form.has("last_prompt");
  if (!s.has_prompt) return;
  form.bytes("last_prompt", next.prompt.text, Prompt::kMaxBytes);
  form.flag("last_prompt_start_token", next.prompt.start_token);
}

}  // namespace

void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used) {
  if (used.empty()) return;
  const std::filesystem::path newest = without_last_slash(used);
  std::erase_if(recent, [&](const auto& path) { return without_last_slash(path) == newest; });
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

std::string to_json(const Settings& settings) {
  Settings written = settings;
  Fields form;
  describe_settings(form, written);
  return nlohmann::json(form.take()).dump(2) + "\n";  // keys in alphabetical order
}

LoadedSettings parse_settings(std::string_view text, const std::string& file) {
  try {
    const nlohmann::json object = model::parse_json(text, file);
    std::string unusable;
    Fields form(object, file, {}, &unusable);
    LoadedSettings loaded;
    describe_settings(form, loaded.settings);
    if (!unusable.empty()) loaded.message = file + ": invalid values were replaced by defaults: " + unusable;
    return loaded;
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the default settings are used"};
  }
}

LoadedSettings load_settings(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return {};
  try {
    return parse_settings(model::read_file(file, kMaxFileBytes), system::text_of(file));
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the default settings are used"};
  }
}

}  // namespace headscope::app
