#include "app/run/kept_models.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/file_io.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// What a model or a file of patterns is loaded from.
struct Files {
  std::string stamp;
  std::uintmax_t weights = 0;  ///< bytes of the files that have weights
};

/// The files next to those that loading reads. The file of a model's weights stands for its folder.
Files files_of(const fs::path& place) {
  const bool is_file = system::is_file(place);
  const fs::path folder = is_file ? place.parent_path() : place;
  std::vector<fs::path> paths;
  if (!is_file || system::is_there(folder / "config.json")) paths = model::entries_of(folder);
  if (is_file && paths.empty()) paths = {place};
  Files files;
  for (const fs::path& path : paths) {
    const std::string stamp = file_stamp(path);
    if (stamp.empty()) continue;
    files.stamp += system::text_of(path.filename()) + " " + stamp + "\n";
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error && (path.extension() == ".safetensors" || path.extension() == ".bin")) files.weights += size;
  }
  return files;
}

std::size_t bytes_of(const LoadedModel& model) {
  constexpr std::size_t kPatterns = 1 << 20;  // their weights stay in the file
  if (model.patterns) return kPatterns;
  constexpr std::size_t kPerToken = 160;  // its bytes twice (by id, and to be found), with their bookkeeping
  return model.transformer->report().bytes + static_cast<std::size_t>(model.tokenizer->size()) * kPerToken;
}

}  // namespace

std::size_t KeptModels::bytes() const {
  std::size_t bytes = 0;
  for (const Kept& kept : kept_) bytes += kept.bytes;
  return bytes;
}

void KeptModels::make_room(std::size_t bytes) {
  while (!kept_.empty() && (bytes > limit_ || this->bytes() > limit_ - bytes)) kept_.erase(kept_.begin());
}

std::shared_ptr<const LoadedModel> KeptModels::find_or_load(const fs::path& given,
                                                            std::optional<model::Precision> precision) {
  fs::path path = fs::absolute(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const Files files = files_of(path);  // before they are read: what changes meanwhile is read again
  std::erase_if(kept_, [&](const Kept& kept) { return kept.path == path && kept.stamp != files.stamp; });
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.path == path && kept.precision == precision; });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().model;
  }
  if (precision) make_room(static_cast<std::size_t>(files.weights));
  auto loaded = precision ? load_model(given, {.precision = *precision}) : load_patterns(given);
  const std::size_t bytes = bytes_of(*loaded);
  make_room(bytes);
  if (bytes <= limit_) kept_.push_back({std::move(path), precision, files.stamp, bytes, loaded});
  return loaded;
}

}  // namespace headscope::app
