#include "app/run/sources/model_near.h"

#include <utility>

#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {

namespace fs = std::filesystem;

std::optional<fs::path> model_near(const std::string& name, const std::string& weights,
                                   const std::vector<DiscoveredModel>& models,
                                   const std::vector<fs::path>& places) {
  std::vector<fs::path> folders;
  if (auto known = model_named(name, models)) folders.push_back(*std::move(known));
  if (system::is_file_name(name))
    for (const fs::path& place : places)
      if (fs::path folder = place / system::path_of(name); is_gpt2(folder))
        folders.push_back(std::move(folder));
  for (const fs::path& folder : folders) try {
      if (weights.empty() || weights_hash(folder) == weights) return folder;
    } catch (const model::LoadError&) {  // it has been removed
    }
  return folders.empty() ? std::nullopt : std::optional(folders.front());
}

}  // namespace headscope::app
