#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/sources/paths.h"
#include "system/hash.h"

namespace headscope::app {

/// A GPT-2 found on this machine.
struct DiscoveredModel {
  std::string name;              ///< as on Hugging Face, e.g. "openai-community/gpt2"
  std::filesystem::path folder;  ///< its snapshot, which holds config.json
  bool operator==(const DiscoveredModel&) const = default;
};

/// Whether a folder's config.json says `"model_type": "gpt2"`; never throws.
bool is_gpt2(const std::filesystem::path& folder);

/// The folder of Hugging Face's libraries: $HF_HOME, else $XDG_CACHE_HOME/huggingface, else
/// ~/.cache/huggingface; nothing without a home folder.
std::optional<std::filesystem::path> hugging_face_home(const Environment& environment);
/// Their download cache: $HF_HUB_CACHE, else `hub` in that folder.
std::optional<std::filesystem::path> hugging_face_cache(const Environment& environment);

/// Whether a text is a hash by which the hub and its cache identify a file's content: 40 or 64 hexadecimal
/// digits in lower case, git's SHA-1 of a blob or the SHA-256 of a large file.
bool is_content_hash(std::string_view text);
/// The hash of the same kind for content of that size, which is to be added to it. Throws std::runtime_error
/// if the system lacks it.
system::Hash hash_like(std::string_view content_hash, std::uint64_t bytes);

/// The GPT-2 models of a cache by name: folders `models--ORGANISATION--NAME` with a snapshot that is one. Of
/// several snapshots the one named by refs/main, else the newest. Skips what cannot be read; never throws.
std::vector<DiscoveredModel> discover_models(const std::filesystem::path& cache);

/// The folder of the model with that name, which is never taken for a path: the bundled model, or one of
/// `models` with that name or that last part of a name ("gpt2" for "openai-community/gpt2").
std::optional<std::filesystem::path> model_named(const std::string& name,
                                                 const std::vector<DiscoveredModel>& models);

/// The file of attention patterns with that name, which is never taken for a path, among files and folders:
/// the first with these weights (see weights_hash; empty: any), else the first. Reads whole files.
std::optional<std::filesystem::path> attention_named(const std::string& name, const std::string& weights,
                                                     const std::vector<std::filesystem::path>& places);

/// The folder that contains models like this one: for a model in a Hugging Face cache, the cache.
std::filesystem::path shelf_of(const std::filesystem::path& model);

/// A model's name from its folder: "openai-community/gpt2" for a snapshot in a Hugging Face cache, else the
/// folder's own name, also for "models/tales/" and ".".
std::string model_name(const std::filesystem::path& folder);

}  // namespace headscope::app
