#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/kernels/precision.h"

namespace headscope::app {

/// Models and attention files that stay loaded for many commands, and are loaded again when a file has
/// another size or time. Not for several threads.
class KeptModels {
 public:
  /// Keeps at most `limit` bytes: what was used longest ago is dropped first, before something that would go
  /// beyond the limit is loaded; what is larger by itself is not kept.
  explicit KeptModels(std::size_t limit) : limit_(limit) {}
  KeptModels(const KeptModels&) = delete;
  KeptModels& operator=(const KeptModels&) = delete;

  /// Without a precision, the patterns of a file.
  std::shared_ptr<const LoadedModel> find_or_load(const std::filesystem::path& given,
                                                  std::optional<model::Precision> precision);

  /// Whether a warning is told for the first time: each is shown once a process.
  bool is_new(const std::string& warning) { return told_.insert(warning).second; }

  std::size_t bytes() const;  ///< the memory of what is kept, about
  std::size_t count() const { return kept_.size(); }

 private:
  struct Kept {
    std::filesystem::path path;  ///< absolute; links are not followed, since answers have its name
    std::optional<model::Precision> precision;  ///< nothing: patterns alone
    std::string stamp;                          ///< names, sizes and times of the files
    std::size_t bytes = 0;
    std::shared_ptr<const LoadedModel> model;
  };

  void make_room(std::size_t bytes);

  std::size_t limit_;
  std::vector<Kept> kept_;  ///< used longest ago first
  std::set<std::string> told_;
};

}  // namespace headscope::app
