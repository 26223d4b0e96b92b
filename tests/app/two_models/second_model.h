#pragma once
#include <filesystem>
#include <string>

#include "tests/support/gpt2_folder.h"

namespace headscope::testing {

/// A folder with a second model that has the bundled one's shape and vocabulary, but other weights.
class SecondModelFolder {
 public:
  explicit SecondModelFolder(const std::string& name = "other", std::uint64_t seed = 1,
                             Gpt2Shape shape = kTales)
      : folder_(parent_.path()), path_(parent_.path() / name) {
    write_other_model(folder_, shape);
    if (seed != 1) write_gpt2(folder_, gpt2_config(shape), gpt2_tensors(shape, "F16", seed));
    std::filesystem::rename(folder_.path(), path_);
  }
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& parent() const { return parent_.path(); }

  static constexpr Gpt2Shape kTales{
      .layers = 6, .heads = 8, .width = 256, .positions = 256, .vocabulary = 4096};

 private:
  TemporaryFolder parent_, folder_;
  std::filesystem::path path_;
};

}  // namespace headscope::testing
