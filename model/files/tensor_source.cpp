#include "model/files/tensor_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "model/files/safetensors.h"
#include "model/files/torch_file.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapter =
    "an adapter (of PEFT), which changes another model; merge it first, in Python: "
    "peft.AutoPeftModelForCausalLM.from_pretrained(folder).merge_and_unload().save_pretrained(new_folder)";

constexpr const char* kAdapterFiles[] = {"adapter_model.safetensors", "adapter_model.bin",
                                         "adapter_config.json"};

/// The adapter's file in a folder; empty: there is none.
std::string adapter_in(const fs::path& folder) {
  for (const char* name : kAdapterFiles)
    if (system::is_there(folder / name)) return name;
  return "";
}

[[noreturn]] void fail_without_weights(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.insert(system::text_of(it->path().filename()));
  throw LoadError(no_weights(system::text_of(folder), names));
}

[[noreturn]] void fail_at_shard(const std::string& where, const std::string& tensor,
                                const std::string& found) {
  throw LoadError(where + ": weight_map: " + quote(tensor) +
                  ": expected the name of a file in the same folder, found " + found);
}

/// A shard's name must be a file name without a folder, in printable ASCII so that messages can show it.
bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 255;  // limit of a file name on Linux
  return system::is_file_name(name) && name.size() <= kLongest &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
}

/// The names of the files with weights that one of kWeightFiles stands for.
std::set<std::string> files_behind(const fs::path& folder, const std::string& name) {
  if (!name.ends_with(kIndexEnding)) return {name};
  return shards_of(read_regular_file(folder / name), system::text_of(folder / name));
}

}  // namespace

std::string no_weights(const std::string& where, const std::set<std::string>& names) {
  const std::string expected = where + ": expected model.safetensors or pytorch_model.bin, found ";
  for (const char* adapter : kAdapterFiles)
    if (names.contains(adapter)) return expected + adapter + ": " + kAdapter;
  constexpr std::string_view kEndings[] = {".safetensors", ".bin",     ".pt",   ".pth",  ".ckpt",
                                           ".h5",          ".msgpack", ".gguf", ".onnx", ".index"};
  constexpr int kMost = 8;
  std::string list;
  int count = 0;
  for (const std::string& name : names) {
    if (std::ranges::none_of(kEndings, [&](auto ending) { return name.ends_with(ending); })) continue;
    if (count < kMost) list += (count > 0 ? ", " : "") + quote(name);
    if (count++ == kMost) list += ", ...";
  }
  if (list.empty()) return expected + "neither";
  return expected + "only " + list +
         "; weights in PyTorch's or safetensors' form are read under one of the expected names";
}

std::set<std::string> shards_of(std::string_view json, const std::string& where) {
  const nlohmann::json content = parse_json(json, where);
  const auto map = content.is_object() ? content.find("weight_map") : content.end();
  if (map == content.end() || !map->is_object())
    throw LoadError(where + ": expected an object weight_map, found none");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) fail_at_shard(where, tensor, shard.type_name());
    const auto name = shard.get<std::string>();
    if (!is_plain_name(name)) fail_at_shard(where, tensor, quote(name));
    shards.insert(name);
  }
  return shards;
}

std::set<std::string> weight_files(const fs::path& folder) {
  for (const char* name : kWeightFiles)
    if (system::is_there(folder / name)) return files_behind(folder, name);
  fail_without_weights(folder);
}

void refuse_adapter(const fs::path& folder) {
  if (!adapter_in(folder).empty()) fail_without_weights(folder);
}

TensorSource TensorSource::open(const fs::path& folder, const std::stop_token& stop) {
  std::optional<LoadError> first_error;
  for (const char* name : kWeightFiles) {
    const fs::path file = folder / name;
    if (!system::is_there(file)) continue;
    try {
      TensorSource source;
      source.main_file_ = system::text_of(file);
      source.names_ = files_behind(folder, name);
      for (const std::string& each : source.names_) source.add_file(folder / system::path_of(each), stop);
      if (first_error)
        source.warnings_.push_back(first_error->what() + std::string("; ") + name + " is used instead");
      if (const std::string adapter = adapter_in(folder); !adapter.empty())
        source.warnings_.push_back(system::text_of(folder / adapter) + " is not used: it is " + kAdapter);
      return source;
    } catch (const ReadError&) {
      throw;
    } catch (const LoadError& error) {
      if (!first_error) first_error = error;
    }
  }
  if (first_error) throw LoadError(*first_error);
  fail_without_weights(folder);
}

const TensorSource::Entry* TensorSource::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void TensorSource::add_file(const fs::path& file, const std::stop_token& stop) {
  const bool is_torch = file.extension() == ".bin";
  files_.push_back(
      std::make_shared<const TensorFile>(is_torch ? open_torch_file(file) : open_safetensors(file, stop)));
  for (const auto& [name, view] : files_.back()->tensors())
    entries_.insert_or_assign(name, Entry{system::text_of(file), &view, files_.back().get()});
}

}  // namespace headscope::model
