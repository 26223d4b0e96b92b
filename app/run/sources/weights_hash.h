#pragma once
#include <cstddef>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/run/question.h"

namespace headscope::app {

/// By which others can tell that they have the same weights: "sha256:" and the digits that `sha256sum` gives
/// of model.safetensors, and under which the Hugging Face hub lists that file. Of weights in several files
/// the hash of what `sha256sum` writes of them, in the order of their names; of patterns (see PatternFile)
/// that of their file. Where a cache of Hugging Face keeps a file under its hash, that name is taken; else
/// the whole file is read, about a second for 500 MB. Throws model::LoadError, and Stopped.
std::string weights_hash(const std::filesystem::path& folder, const std::stop_token& stop = {});

/// The same of a model in memory. Throws model::LoadError, too, where the files are others than when it was
/// loaded.
std::string weights_hash(const LoadedModel& model, const std::stop_token& stop = {});

/// Names of the files that the weights in a folder are in, sorted; of a file itself the empty name. Throws
/// model::LoadError for an index that cannot be read.
std::set<std::string> weight_files(const std::filesystem::path& folder);

/// Whether a text is such a hash.
bool is_weights_hash(std::string_view text);

/// Names, sizes and times of the files that the weights are in, by which it shows that others took their
/// place; empty where there are none.
std::string weights_stamp(const std::filesystem::path& folder);

/// The hash of the model of a run; empty, not known, where the files cannot be read any more or are others.
struct WeightsHash {
  std::string text;
  std::size_t bytes() const { return text.size(); }
};
struct HashOfWeights {
  using Answer = WeightsHash;
  static constexpr std::string_view kWork = "the weights' hash";
  static constexpr bool kOfModel = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  bool operator==(const HashOfWeights&) const = default;
  WeightsHash compute(const PromptRun& run, const Work<WeightsHash>& work) const;
};

}  // namespace headscope::app
