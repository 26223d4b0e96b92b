#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/sources/paths.h"

namespace headscope::app {

/// A GPT-2 that is on this machine already.
struct DiscoveredModel {
  std::string name;              ///< as on Hugging Face, e.g. "openai-community/gpt2"
  std::filesystem::path folder;  ///< its snapshot, which holds config.json
  bool operator==(const DiscoveredModel&) const = default;
};

/// Whether a folder's config.json says `"model_type": "gpt2"`; never throws.
bool is_gpt2(const std::filesystem::path& folder);

/// The folder of Hugging Face's libraries: $HF_HOME, else $XDG_CACHE_HOME/huggingface, else
/// ~/.cache/huggingface; nothing without a home.
std::optional<std::filesystem::path> hugging_face_home(const Environment& environment);
/// Where they keep what they downloaded: $HF_HUB_CACHE, else `hub` in that folder.
std::optional<std::filesystem::path> hugging_face_cache(const Environment& environment);

/// The GPT-2 models of a cache by name: folders `models--ORGANISATION--NAME` with a snapshot whose
/// config.json says `"model_type": "gpt2"`. Of several snapshots the one that refs/main names, else the
/// newest. Whatever cannot be read or is something else is passed over; never throws.
std::vector<DiscoveredModel> discover_models(const std::filesystem::path& cache);

/// What `--model` means: a folder that is there, else the discovered model of that name or of that last part
/// of a name ("gpt2" for "openai-community/gpt2"), else the folder as it was written, so that loading says
/// what is wrong with it.
std::filesystem::path resolve_model(const std::string& argument, const std::vector<DiscoveredModel>& models);

/// The folder of the model of that name, which is never taken for a path: the bundled one, or one of `models`
/// as resolve_model finds it; nothing where there is none.
std::optional<std::filesystem::path> model_named(const std::string& name,
                                                 const std::vector<DiscoveredModel>& models);

/// Whether a text names a file of some folder, and leads nowhere else.
bool is_file_name(const std::string& name);

/// The file of attention patterns of that name, which is never taken for a path. `places` are files that may
/// be it and folders that may hold it: of those of that name the first with these weights (see weights_hash;
/// empty: any), else the first. Nothing where there is none. Reads files whole.
std::optional<std::filesystem::path> attention_named(const std::string& name, const std::string& weights,
                                                     const std::vector<std::filesystem::path>& places);

/// The folder that models like this one stand in: of one in a Hugging Face cache, the cache.
std::filesystem::path shelf_of(const std::filesystem::path& model);

/// What a model is called by its folder: "openai-community/gpt2" for a snapshot in a Hugging Face cache, else
/// the folder's own name, also for "models/tales/" and ".".
std::string model_name(const std::filesystem::path& folder);

}  // namespace headscope::app
