#include "app/run/kept_models.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

void add(Files& files, const fs::path& file) {
  const std::string stamp = file_stamp(file);
  if (stamp.empty()) return;
  files.stamp += system::text_of(file.filename()) + " " + stamp + "\n";
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && (file.extension() == ".safetensors" || file.extension() == ".bin")) files.weights += size;
}

/// Adds the files of a model's folder that loading reads; a hub's folder also has others.
void add_folder(Files& files, const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kEndings{".json", ".txt", ".safetensors", ".bin"};
  for (const fs::path& path : model::entries_of(folder))
    if (std::ranges::count(kEndings, system::text_of(path.extension())) > 0) add(files, path);
}

Files files_of(const fs::path& place) {
  Files files;
  if (!system::is_file(place)) {
    add_folder(files, place);
    return files;
  }
  // The file of a model's weights stands for its folder.
  if (system::is_there(place.parent_path() / "config.json")) add_folder(files, place.parent_path());
  if (files.stamp.empty()) add(files, place);
  return files;
}

/// About: the bytes of each token twice (by id, and to be found), with their bookkeeping.
std::size_t bytes_of(const model::Tokenizer& tokenizer) {
  constexpr std::size_t kPerToken = 160;
  return static_cast<std::size_t>(tokenizer.size()) * kPerToken;
}

constexpr std::size_t kPatterns = 1 << 20;  // their weights stay in the file

std::size_t bytes_of(const LoadedModel& model) {
  return model.patterns ? kPatterns : model.transformer->weight_bytes() + bytes_of(*model.tokenizer);
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

template <class Load>
KeptModels::Kept KeptModels::find_or_load(Kept wanted, const Load& load) {
  wanted.path = fs::absolute(wanted.path).lexically_normal();
  if (!wanted.path.has_filename()) wanted.path = wanted.path.parent_path();
  const Files files = files_of(wanted.path);  // before they are read: what changes meanwhile is read again
  std::erase_if(kept_,
                [&](const Kept& kept) { return kept.path == wanted.path && kept.stamp != files.stamp; });
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    if (kept.path != wanted.path) return false;
    if (wanted.kind == Kind::tokenizer) return kept.tokenizer != nullptr;
    return kept.kind == wanted.kind && kept.precision == wanted.precision;
  });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back();
  }
  if (wanted.kind == Kind::model) make_room(static_cast<std::size_t>(files.weights));
  load(wanted);
  wanted.stamp = files.stamp;
  wanted.bytes = wanted.model ? bytes_of(*wanted.model) : bytes_of(*wanted.tokenizer);
  make_room(wanted.bytes);
  if (wanted.bytes <= limit_) kept_.push_back(wanted);
  return wanted;
}

std::shared_ptr<const LoadedModel> KeptModels::model(const fs::path& folder, model::Precision precision) {
  return find_or_load({.kind = Kind::model, .path = folder, .precision = precision},
                      [&](Kept& kept) {
                        kept.model = load_model(folder, {.precision = precision, .stop = {}, .progress = {}});
                        kept.tokenizer = kept.model->tokenizer;
                      })
      .model;
}

std::shared_ptr<const LoadedModel> KeptModels::patterns(const fs::path& file) {
  return find_or_load({.kind = Kind::patterns, .path = file},
                      [&](Kept& kept) { kept.model = load_patterns(file); })
      .model;
}

std::shared_ptr<const model::Tokenizer> KeptModels::tokenizer(const fs::path& folder) {
  return find_or_load({.kind = Kind::tokenizer, .path = folder},
                      [&](Kept& kept) {
                        kept.tokenizer =
                            std::make_shared<const model::Tokenizer>(model::Tokenizer::load(folder));
                      })
      .tokenizer;
}

}  // namespace headscope::app
