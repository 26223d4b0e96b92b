#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/safetensors.h"

namespace headscope::model {

/// Which file has each tensor, as an index of shards says; the names are as they stand there, whatever they
/// lead to. `where` is named in messages. Throws LoadError.
std::map<std::string, std::string> weight_map(std::string_view json, const std::string& where);

/// The tensors of a model's folder, whether they lie in one file or in several. Entries stay valid as long as
/// any copy of it.
class TensorSource {
 public:
  struct Entry {
    std::string file;  ///< for messages
    const TensorView* view;
    const SafetensorsFile* source;  ///< that the view is of
  };

  /// Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names. Throws LoadError.
  static TensorSource open(const std::filesystem::path& folder);

  /// The tensor of that name, with or without the prefix `transformer.`; null when there is none.
  const Entry* find(const std::string& name) const;

  /// The file that a missing tensor is missing from, for messages.
  const std::string& main_file() const { return main_file_; }

 private:
  void add_shard(const std::filesystem::path& file);
  void read_index(const std::filesystem::path& folder, const std::filesystem::path& index);

  std::string main_file_;
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::map<std::string, Entry> entries_;
};

}  // namespace headscope::model
