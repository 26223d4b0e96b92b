#include "model/files/tensor_source.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/safetensors.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

/// The adapter's file among some names; empty: there is none.
std::string adapter_among(const std::set<std::string>& names) {
  for (const char* adapter : {"adapter_model.safetensors", "adapter_model.bin", "adapter_config.json"})
    if (names.contains(adapter)) return adapter;
  return "";
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::path& path : entries_of(folder)) names.insert(system::text_of(path.filename()));
  return names;
}

/// A shard's name must be a file name without a folder, in printable ASCII so that messages can show it.
bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 255;  // limit of a file name on Linux
  return system::is_file_name(name) && name.size() <= kLongest &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
}

/// The tensors of one of kWeightFiles.
TensorSource source_of(const fs::path& folder, const std::string& name, const std::stop_token& stop) {
  TensorSource source;
  source.main_file = system::text_of(folder / name);
  source.files = files_behind(folder, name, stop);
  for (const std::string& each : source.files) {
    const fs::path path = folder / system::path_of(each);
    TensorFile file = path.extension() == ".bin" ? open_torch_file(path) : open_safetensors(path, stop);
    for (auto& [tensor, view] : file.tensors) source.tensors.insert_or_assign(tensor, std::move(view));
  }
  return source;
}

}  // namespace

std::string no_weights(const std::string& where, const std::set<std::string>& names) {
  const std::string expected = where + ": expected model.safetensors or pytorch_model.bin, found ";
  if (const std::string adapter = adapter_among(names); !adapter.empty())
    return expected + adapter + ": " + kAdapter;
  constexpr std::string_view kEndings[] = {".safetensors", ".bin",     ".pt",   ".pth",  ".ckpt",
                                           ".h5",          ".msgpack", ".gguf", ".onnx", ".index"};
  std::vector<std::string> others;
  std::ranges::copy_if(names, std::back_inserter(others), [&](const std::string& name) {
    return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
  });
  if (others.empty()) return expected + "neither";
  return expected + "only " + quoted_list(others) +
         "; weights in PyTorch's or safetensors' form are read under one of the expected names";
}

std::set<std::string> shards_of(std::string_view json, const std::string& where,
                                const std::stop_token& stop) {
  const nlohmann::json content = parse_json(json, where, {.stop = stop});
  const nlohmann::json& map = member(content, "weight_map");
  if (!map.is_object()) reject_value(where, "an object weight_map", map);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map.items()) {
    if (!shard.is_string() || !is_plain_name(shard.get<std::string>()))
      reject_value(where + ": weight_map: " + quote(tensor), "the name of a file in the same folder", shard);
    shards.insert(shard.get<std::string>());
  }
  return shards;
}

std::set<std::string> files_behind(const fs::path& folder, const std::string& name,
                                   const std::stop_token& stop) {
  if (!name.ends_with(kIndexEnding)) return {name};
  return shards_of(read_regular_file(folder / name, kMaxIndexBytes), system::text_of(folder / name), stop);
}

void refuse_adapter(const fs::path& folder) {
  const std::set<std::string> names = names_in(folder);
  if (!adapter_among(names).empty()) throw LoadError(no_weights(system::text_of(folder), names));
}

TensorSource TensorSource::open(const fs::path& folder, const std::stop_token& stop) {
  std::optional<LoadError> problem;  // with the first file that is there
  for (const char* name : kWeightFiles) {
    if (!has_entry(folder / name)) continue;
    try {
      TensorSource source = source_of(folder, name, stop);
      if (problem) source.warnings.push_back(problem->what() + std::string("; ") + name + " is used instead");
      if (const std::string adapter = adapter_among(names_in(folder)); !adapter.empty())
        source.warnings.push_back(system::text_of(folder / adapter) + " is not used: it is " + kAdapter);
      return source;
    } catch (const ReadError&) {
      throw;
    } catch (const LoadError& error) {
      if (!problem) problem = error;
    }
  }
  throw problem ? *problem : LoadError(no_weights(system::text_of(folder), names_in(folder)));
}

}  // namespace headscope::model
