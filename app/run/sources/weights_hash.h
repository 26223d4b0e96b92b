#pragma once
#include <cstddef>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/run/question.h"

namespace headscope::app {

/// A hash that identifies weights: "sha256:" and the digits that `sha256sum` prints for model.safetensors,
/// under which the Hugging Face hub lists that file. For weights in several files, the hash of what
/// `sha256sum` prints for them, by name; for patterns, that of their file. If a Hugging Face cache stores a
/// file under its hash, that name is used; else the whole file is read, about a second for 500 MB, once for a
/// size and time. Throws model::LoadError, and Stopped.
std::string weights_hash(const std::filesystem::path& folder, const std::stop_token& stop = {});

/// The same for a model in memory. Throws model::LoadError also if its files have changed since.
std::string weights_hash(const LoadedModel& model, const std::stop_token& stop = {});

/// Names of the weight files in a folder, sorted; for a file itself the empty name. Throws model::LoadError
/// for an unreadable index, and Stopped.
std::set<std::string> weight_files(const std::filesystem::path& folder, const std::stop_token& stop = {});

bool is_weights_hash(std::string_view text);

/// Size and time of a file, to detect that it was replaced; empty if it cannot be read.
std::string file_stamp(const std::filesystem::path& file);
/// Names, sizes and times of the weight files and of `config.json`; empty if there are no weights. Throws
/// Stopped.
std::string weights_stamp(const std::filesystem::path& folder, const std::stop_token& stop = {});

/// The weights hash of a run's model; fails if the files cannot be read any more or have changed.
struct HashOfWeights {
  static constexpr std::string_view kName = "the weights' hash";
  static constexpr bool kModelOnly = true;
  static constexpr Capability kNeeds = Capability::patterns;
  bool operator==(const HashOfWeights&) const = default;
  std::string compute(const PromptRun& run, const Computation<std::string>& computation) const;
};

}  // namespace headscope::app
