#include "app/desktop/settings.h"

#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "app/text/json_text.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPromptBytes = std::size_t{1} << 24;
constexpr std::size_t kMostPathBytes = 4096;
constexpr int kSmallestWindow = 320;
constexpr int kLargestWindow = 16384;
constexpr int kMostIndex = 1 << 24;  // of a layer, a head, a position
constexpr std::size_t kMostNameBytes = 64;

json recent_to_json(const std::vector<std::filesystem::path>& paths) {
  json array = json::array();
  for (const auto& path : paths) array.push_back(bytes_to_json(path.string()));
  return array;
}

std::filesystem::path without_last_slash(const std::filesystem::path& path) {
  return path.has_relative_path() && !path.has_filename() ? path.parent_path() : path;
}

/// Takes the values of an object one by one and collects the names of those that cannot be used.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  void number(const char* key, float low, float high, float& out) {
    take(key, [&](const json& value) {
      if (!value.is_number()) return false;
      const double number = value.get<double>();
      if (!(number >= low && number <= high)) return false;
      out = static_cast<float>(number);
      return true;
    });
  }

  void whole(const char* key, int low, int high, int& out) {
    take(key, [&](const json& value) {
      if (!value.is_number_integer()) return false;
      const double number = value.get<double>();
      if (!(number >= low && number <= high)) return false;
      out = static_cast<int>(number);
      return true;
    });
  }

  void flag(const char* key, bool& out) {
    take(key, [&](const json& value) {
      if (value.is_boolean()) out = value.get<bool>();
      return value.is_boolean();
    });
  }

  void bytes(const char* key, std::size_t most, std::string& out) {
    take(key, [&](const json& value) {
      auto found = bytes_from_json(value);
      if (!found || found->size() > most) return false;
      out = std::move(*found);
      return true;
    });
  }

  void theme(const char* key, bool& dark) {
    take(key, [&](const json& value) {
      dark = value == "dark";
      return dark || value == "light";
    });
  }

  void path(const char* key, std::filesystem::path& out) {
    std::string name;
    bytes(key, kMostPathBytes, name);
    out = name;
  }

  /// The newest first; those that are no paths are left out.
  void recent(const char* key, std::vector<std::filesystem::path>& out) {
    take(key, [&](const json& value) {
      if (!value.is_array()) return false;
      bool all = true;
      for (auto at = value.rbegin(); at != value.rend(); ++at) {
        const auto name = bytes_from_json(*at);
        const bool usable = name && !name->empty() && name->size() <= kMostPathBytes;
        if (usable) remember(out, *name);
        all = all && usable;
      }
      return all;
    });
  }

  /// Options of views by name; what no view has (any more) is passed over.
  void options(const char* key, std::map<std::string, std::string>& out) {
    take(key, [&](const json& value) {
      if (!value.is_object()) return false;
      bool all = true;
      for (const auto& [name, text] : value.items()) {
        const OptionSpec* option = find_option(name);
        if (!option) continue;
        try {
          parse_option(*option, text.get<std::string>());
          out.insert_or_assign(name, text.get<std::string>());
        } catch (const std::exception&) {
          all = false;
        }
      }
      return all;
    });
  }

  const std::string& unusable() const { return unusable_; }

 private:
  const json& object_;
  std::string unusable_;

  template <class Take>
  void take(const char* key, const Take& taken) {
    const auto at = object_.find(key);
    if (at == object_.end() || taken(*at)) return;
    if (!unusable_.empty()) unusable_ += ", ";
    unusable_ += key;
  }
};

}  // namespace

void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used) {
  if (used.empty()) return;
  const std::filesystem::path newest = without_last_slash(used);
  std::erase_if(recent, [&](const auto& path) { return without_last_slash(path) == newest; });
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

std::string to_json(const Settings& settings) {
  json object = {{"theme", settings.dark ? "dark" : "light"},
                 {"font_size", settings.font_size},
                 {"window_width", settings.window_width},
                 {"window_height", settings.window_height},
                 {"heads_pane", settings.heads_pane},
                 {"beside_pane", settings.beside_pane},
                 {"next_pane", settings.next_pane},
                 {"view", bytes_to_json(settings.view)},
                 {"second_view", bytes_to_json(settings.second_view)},
                 {"layer", settings.layer},
                 {"head", settings.head},
                 {"query", settings.query},
                 {"key", settings.key},
                 {"last_model", bytes_to_json(settings.last_model.string())},
                 {"recent_models", recent_to_json(settings.recent_models)},
                 {"recent_folders", recent_to_json(settings.recent_folders)},
                 {"recent_sessions", recent_to_json(settings.recent_sessions)},
                 {"export_folder", bytes_to_json(settings.export_folder.string())},
                 {"export_scale", settings.export_scale},
                 {"offer_models", settings.offer_models},
                 {"start_token", settings.start_token},
                 {"options", settings.options}};
  if (settings.has_prompt) {
    object["last_prompt"] = bytes_to_json(settings.last_prompt.text);
    object["last_prompt_start_token"] = settings.last_prompt.start_token;
  }
  return object.dump(2) + "\n";
}

LoadedSettings parse_settings(std::string_view text, const std::string& file) {
  json object;
  try {
    object = model::parse_json(text, file);
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the settings start afresh"};
  }
  if (!object.is_object()) return {{}, file + ": expected a JSON object; the settings start afresh"};

  Settings settings;
  Reader reader(object);
  reader.theme("theme", settings.dark);
  reader.number("font_size", kSmallestFont, kLargestFont, settings.font_size);
  reader.whole("window_width", kSmallestWindow, kLargestWindow, settings.window_width);
  reader.whole("window_height", kSmallestWindow, kLargestWindow, settings.window_height);
  reader.number("heads_pane", 0, kWidestPane, settings.heads_pane);
  reader.number("beside_pane", 0, kWidestPane, settings.beside_pane);
  reader.number("next_pane", 0, kWidestPane, settings.next_pane);
  reader.bytes("view", kMostNameBytes, settings.view);
  reader.bytes("second_view", kMostNameBytes, settings.second_view);
  reader.whole("layer", 0, kMostIndex, settings.layer);
  reader.whole("head", 0, kMostIndex, settings.head);
  reader.whole("query", -1, kMostIndex, settings.query);
  reader.whole("key", -1, kMostIndex, settings.key);
  reader.path("last_model", settings.last_model);
  reader.recent("recent_models", settings.recent_models);
  reader.recent("recent_folders", settings.recent_folders);
  reader.recent("recent_sessions", settings.recent_sessions);
  reader.path("export_folder", settings.export_folder);
  reader.whole("export_scale", 1, kMostExportScale, settings.export_scale);
  reader.flag("offer_models", settings.offer_models);
  reader.flag("start_token", settings.start_token);
  reader.options("options", settings.options);
  settings.has_prompt = object.contains("last_prompt");
  reader.bytes("last_prompt", kMostPromptBytes, settings.last_prompt.text);
  if (settings.has_prompt) reader.flag("last_prompt_start_token", settings.last_prompt.start_token);
  if (reader.unusable().empty()) return {settings, ""};
  return {settings, file + ": these values cannot be used and keep their defaults: " + reader.unusable()};
}

LoadedSettings load_settings(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return {};
  try {
    return parse_settings(model::read_file(file, 4 * kMostPromptBytes + (1 << 16)), file.string());
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the settings start afresh"};
  }
}

void save_settings(const std::filesystem::path& file, const Settings& settings) {
  model::make_folders(file.parent_path());
  model::write_file_atomically(file, to_json(settings));
}

}  // namespace headscope::app
