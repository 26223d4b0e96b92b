#pragma once
#include <filesystem>
#include <map>
#include <memory>
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

/// The sentence about a folder or a repository of files with these names, none of kWeightFiles among them:
/// what is there instead.
std::string no_weights(const std::string& where, const std::set<std::string>& names);

/// The names of the files that an index of shards has, which are plain and in printable ASCII. `where` is
/// named in messages. Throws LoadError.
std::set<std::string> shards_of(std::string_view json, const std::string& where);

/// The names of the files with weights in a model's folder, without opening them. Throws LoadError if there
/// are none, and for an unreadable index.
std::set<std::string> weight_files(const std::filesystem::path& folder);

/// Throws LoadError if a folder has an adapter (of PEFT) and no weights of its own.
void refuse_adapter(const std::filesystem::path& folder);

/// The tensors of a model's folder, from one file or several shards. Entries stay valid as long as any copy
/// of this object.
class TensorSource {
 public:
  struct Entry {
    std::string file;  ///< for messages
    const TensorView* view;
    const TensorFile* source;  ///< the file that `view` belongs to
  };

  /// Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names, or else the same of
  /// `pytorch_model.bin`. A file that cannot be used does not hide the next one: see warnings(). Throws
  /// LoadError if none can be used; or Stopped.
  static TensorSource open(const std::filesystem::path& folder, const std::stop_token& stop = {});

  const std::map<std::string, Entry>& entries() const { return entries_; }
  /// The tensor with that name; null if there is none.
  const Entry* find(const std::string& name) const;

  /// The file to name in a message about a missing tensor.
  const std::string& main_file() const { return main_file_; }
  /// The names of the files that the tensors are from.
  const std::set<std::string>& files() const { return names_; }
  /// Sentences about files of the folder that are not used though they look as if they should be.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void add_file(const std::filesystem::path& file, const std::stop_token& stop);

  std::string main_file_;
  std::set<std::string> names_;
  std::vector<std::string> warnings_;
  std::vector<std::shared_ptr<const TensorFile>> files_;
  std::map<std::string, Entry> entries_;
};

}  // namespace headscope::model
