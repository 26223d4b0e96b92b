#include "model/files/tensor_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_without_safetensors(const fs::path& folder) {
  const std::string expected = system::text_of(folder) + ": expected model.safetensors, found ";
  if (system::is_there(folder / "pytorch_model.bin") ||
      system::is_there(folder / "pytorch_model.bin.index.json")) {
    throw LoadError(
        expected +
        "only pytorch_model.bin; convert it in Python with transformers."
        "GPT2LMHeadModel.from_pretrained(folder).save_pretrained(folder, safe_serialization=True)");
  }
  throw LoadError(expected + "none");
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

}  // namespace

std::map<std::string, std::string> weight_map(std::string_view json, const std::string& where) {
  const nlohmann::json content = parse_json(json, where);
  const auto map = content.is_object() ? content.find("weight_map") : content.end();
  if (map == content.end() || !map->is_object())
    throw LoadError(where + ": expected an object weight_map, found none");
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) fail_at_shard(where, tensor, shard.type_name());
    shard_of.emplace(tensor, shard.get<std::string>());
  }
  return shard_of;
}

TensorSource TensorSource::open(const fs::path& folder) {
  TensorSource source;
  const fs::path single = folder / "model.safetensors";
  const fs::path index = folder / "model.safetensors.index.json";
  if (system::is_there(single)) {
    source.main_file_ = system::text_of(single);
    source.add_shard(single);
  } else if (system::is_there(index)) {
    source.main_file_ = system::text_of(index);
    source.read_index(folder, index);
  } else {
    fail_without_safetensors(folder);
  }
  return source;
}

const TensorSource::Entry* TensorSource::find(const std::string& name) const {
  for (const std::string& candidate : {name, "transformer." + name}) {
    const auto found = entries_.find(candidate);
    if (found != entries_.end()) return &found->second;
  }
  return nullptr;
}

void TensorSource::add_shard(const fs::path& file) {
  files_.push_back(std::make_shared<const SafetensorsFile>(SafetensorsFile::open(file)));
  for (const auto& [name, view] : files_.back()->tensors()) {
    entries_.insert_or_assign(name, Entry{system::text_of(file), &view, files_.back().get()});
  }
}

void TensorSource::read_index(const fs::path& folder, const fs::path& index) {
  const auto map = weight_map(read_regular_file(index), system::text_of(index));
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map) {
    if (!is_plain_name(shard)) fail_at_shard(system::text_of(index), tensor, quote(shard));
    if (shards.insert(shard).second) add_shard(folder / system::path_of(shard));
  }
  for (const auto& [tensor, shard] : map) {
    if (entries_.contains(tensor)) continue;
    throw LoadError(system::text_of(folder / system::path_of(shard)) + ": expected tensor " + quote(tensor) +
                    " as " + system::text_of(index.filename()) + " says, found no such tensor");
  }
}

}  // namespace headscope::model
