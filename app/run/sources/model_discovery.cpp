#include "app/run/sources/model_discovery.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/config.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--";

std::optional<fs::path> main_snapshot(const fs::path& model) {
  try {
    const std::string content = model::read_file(model / "refs" / "main", 4096);
    const std::string revision(content, 0, content.find_last_not_of("\r\n") + 1);
    if (!system::is_file_name(revision) || revision.front() == '.') return std::nullopt;
    return model / "snapshots" / system::path_of(revision);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// The snapshots of a model, best first.
std::vector<fs::path> snapshots(const fs::path& model) {
  std::vector<fs::path> found = model::entries_of(model / "snapshots");
  const auto main = main_snapshot(model);
  const auto rank = [&](const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    return std::pair(main == path, error ? fs::file_time_type::min() : time);
  };
  std::ranges::stable_sort(found, std::ranges::greater{}, rank);
  return found;
}

/// "models--openai-community--gpt2" -> "openai-community/gpt2".
std::string repository_name(std::string_view folder) {
  std::string name(folder.substr(kPrefix.size()));
  if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
  return name;
}

}  // namespace

bool is_gpt2(const fs::path& folder) {
  try {
    const auto text = model::read_regular_file(folder / "config.json", model::kMaxConfigBytes);
    return model::member(model::parse_config_json(text, ""), "model_type") == "gpt2";
  } catch (const std::exception&) {
    return false;  // a broken download is no model
  }
}

std::optional<fs::path> hugging_face_home(const Environment& environment) {
  if (const auto home = environment("HF_HOME")) return system::path_of(*home);
  if (const auto cache = environment("XDG_CACHE_HOME")) return system::path_of(*cache) / "huggingface";
  if (const auto home = system::home_folder(environment)) return *home / ".cache" / "huggingface";
  return std::nullopt;
}

std::optional<fs::path> hugging_face_cache(const Environment& environment) {
  if (const auto cache = environment("HF_HUB_CACHE")) return system::path_of(*cache);
  if (const auto home = hugging_face_home(environment)) return *home / "hub";
  return std::nullopt;
}

bool is_content_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

system::Hash hash_like(std::string_view content_hash, std::uint64_t bytes) {
  if (content_hash.size() != 40) return system::Hash(system::Hash::Kind::sha256);
  system::Hash hash(system::Hash::Kind::sha1);
  hash.add("blob " + std::to_string(bytes) + std::string(1, '\0'));
  return hash;
}

std::vector<DiscoveredModel> discover_models(const fs::path& cache) {
  std::vector<DiscoveredModel> models;
  for (const fs::path& folder : model::entries_of(cache)) {
    const std::string name = system::text_of(folder.filename());
    if (!name.starts_with(kPrefix)) continue;
    const std::vector<fs::path> candidates = snapshots(folder);
    const auto best = std::ranges::find_if(candidates, is_gpt2);
    if (best != candidates.end()) models.push_back({repository_name(name), *best});
  }
  std::ranges::sort(models, {}, &DiscoveredModel::name);
  return models;
}

std::optional<fs::path> model_named(const std::string& name, const std::vector<DiscoveredModel>& models) {
  if (name == kBundledModel) return bundled_model();
  const auto with = [&](const auto& is_meant) -> std::optional<fs::path> {
    const auto found = std::ranges::find_if(models, is_meant, &DiscoveredModel::name);
    return found == models.end() ? std::nullopt : std::optional(found->folder);
  };
  if (auto whole = with([&](const std::string& one) { return one == name; })) return whole;
  return with([&](const std::string& one) { return !name.empty() && one.ends_with("/" + name); });
}

std::optional<fs::path> attention_named(const std::string& name, const std::string& weights,
                                        const std::vector<fs::path>& places) {
  if (!system::is_file_name(name)) return std::nullopt;
  std::optional<fs::path> first;
  for (const fs::path& place : places) {
    const fs::path own = system::path_of(name);
    const fs::path file = place.filename() == own && !system::is_folder(place) ? place : place / own;
    if (!PatternFile::is_one(file)) continue;
    if (!first) first = file;
    try {
      if (weights.empty() || weights_hash(file) == weights) return file;
    } catch (const model::LoadError&) {  // it has been removed
    }
  }
  return first;
}

fs::path shelf_of(const fs::path& model) {
  for (fs::path p = model; p.has_relative_path(); p = p.parent_path())
    if (system::text_of(p.filename()).starts_with(kPrefix)) return p.parent_path();
  return model.parent_path();
}

std::string model_name(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (error) whole = folder;
  if (whole.filename().empty()) whole = whole.parent_path();
  if (auto target = system::link_target(whole)) whole = *std::move(target);
  const fs::path snapshots = whole.parent_path();
  const std::string repository = system::text_of(snapshots.parent_path().filename());
  if (snapshots.filename() == "snapshots" && repository.starts_with(kPrefix))
    return repository_name(repository);
  return system::text_of(whole.filename());
}

}  // namespace headscope::app
