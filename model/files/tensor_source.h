#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/safetensors.h"

namespace headscope::model {

/// The file of each tensor, from the index of a sharded model. The file names are not checked. `where` is
/// named in messages. Throws LoadError.
std::map<std::string, std::string> weight_map(std::string_view json, const std::string& where);

/// The tensors of a model's folder, from one file or several shards. Entries stay valid as long as any copy
/// of this object.
class TensorSource {
 public:
  struct Entry {
    std::string file;  ///< for messages
    const TensorView* view;
    const SafetensorsFile* source;  ///< the file that `view` belongs to
  };

  /// Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names. Throws LoadError.
  static TensorSource open(const std::filesystem::path& folder);

  /// The tensor with that name, with or without the prefix `transformer.`; null if there is none.
  const Entry* find(const std::string& name) const;

  /// The file to name in a message about a missing tensor.
  const std::string& main_file() const { return main_file_; }

 private:
  void add_shard(const std::filesystem::path& file);
  void read_index(const std::filesystem::path& folder, const std::filesystem::path& index);

  std::string main_file_;
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::map<std::string, Entry> entries_;
};

}  // namespace headscope::model
