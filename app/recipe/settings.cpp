#include "app/recipe/settings.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/recipe/fields.h"
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

}  // namespace

static void describe(Fields& form, Settings& s) {
  describe(form, s.session);
  form.field("has_prompt", s.has_prompt);
  form.field("window_width", s.window_width, kSmallestWindow, kLargestWindow);
  form.field("window_height", s.window_height, kSmallestWindow, kLargestWindow);
  form.field("last_model", s.last_model);
  for (const auto& [key, recent] : {std::pair("recent_models", &s.recent_models),
                                    {"recent_folders", &s.recent_folders},
                                    {"recent_sessions", &s.recent_sessions}}) {
    form.field(key, *recent);
    for (const auto& path : std::vector(recent->rbegin(), recent->rend()))
      remember(*recent, path);  // each once
  }
  form.field("export_folder", s.export_folder);
  form.field("export_scale", s.export_scale, 1, kMaxExportScale);
  form.field("offer_models", s.offer_models);
  form.field("all_controls", s.all_controls);
  form.field("start_token", s.start_token);
}

void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used) {
  if (used.empty()) return;
  const std::filesystem::path newest = without_last_slash(used);
  std::erase_if(recent, [&](const auto& path) { return without_last_slash(path) == newest; });
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

std::string to_json(const Settings& settings) {
  return Fields::written(settings).dump(2) + "\n";
}

LoadedSettings parse_settings(std::string_view text, const std::string& file) {
  try {
    const nlohmann::json object = model::parse_json(text, file);
    LoadedSettings loaded;
    Fields form(object, file, &loaded.message);
    describe(form, loaded.settings);
    if (!loaded.message.empty())
      loaded.message = file + ": invalid values were replaced by defaults: " + loaded.message;
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
