#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/tensor_file.h"

namespace headscope::model {

/// Where the libraries of Hugging Face put weights, in the order in which they look for them: a file, or an
/// index of shards.
inline constexpr const char* kWeightFiles[] = {"model.safetensors", "model.safetensors.index.json",
                                               "pytorch_model.bin", "pytorch_model.bin.index.json"};
inline constexpr std::string_view kIndexEnding = ".index.json";
inline constexpr std::uint64_t kMaxIndexBytes = 16 << 20;  ///< of 100,000 tensors

/// What a file is that belongs to an adapter, and what to do with it.
inline constexpr const char* kAdapter =
    "an adapter (of PEFT), which changes another model; merge it first, in Python: "
    "peft.AutoPeftModelForCausalLM.from_pretrained(folder).merge_and_unload().save_pretrained(new_folder)";

/// The sentence about a folder or a repository of files with these names, none of kWeightFiles among them:
/// what is there instead.
std::string no_weights(const std::string& where, const std::set<std::string>& names);

/// The names of the files that an index of shards has, which are plain and in printable ASCII. `where` is
/// named in messages. Throws LoadError; or Stopped.
std::set<std::string> shards_of(std::string_view json, const std::string& where,
                                const std::stop_token& stop = {});

/// The names of the files in a folder that one of kWeightFiles stands for. Throws LoadError; or Stopped.
std::set<std::string> files_behind(const std::filesystem::path& folder, const std::string& name,
                                   const std::stop_token& stop = {});

/// Throws LoadError if a folder has an adapter (of PEFT).
void refuse_adapter(const std::filesystem::path& folder);

/// The tensors of a model's folder, from one file or several shards.
struct TensorSource {
  std::map<std::string, TensorView> tensors;
  std::string main_file;              ///< the one to name in a message about a missing tensor
  std::set<std::string> files;        ///< the names of the files that the tensors are from
  std::vector<std::string> warnings;  ///< sentences about files that look as if they were used and are not

  /// Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names, or else the same of
  /// `pytorch_model.bin`. A file that cannot be used does not hide the next one: see warnings. Throws
  /// LoadError if none can be used; or Stopped.
  static TensorSource open(const std::filesystem::path& folder, const std::stop_token& stop = {});
};

}  // namespace headscope::model
