#include "app/run/sources/weights_hash.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "app/run/sources/digest.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/tensor_source.h"
#include "model/pass/transformer.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "sha256:";

/// The hash from a link to `blobs/<hash>`, as in a Hugging Face cache; else empty.
std::string hash_of_blob(const fs::path& file) {
  const auto blob = system::link_target(file);
  if (!blob) return "";
  const std::string name = system::text_of(blob->filename());
  const bool named = name.size() == 64 && is_digest(name);
  return named && blob->parent_path().filename() == "blobs" ? name : "";
}

/// Hashes of files with their stamps, for any thread.
class KnownHashes {
 public:
  /// Empty if the file was not hashed yet, or has been written since.
  std::string find(const fs::path& file, const std::string& stamp) const {
    const std::lock_guard lock(mutex_);
    const auto known = hashes_.find(file);
    return known != hashes_.end() && known->second.first == stamp ? known->second.second : "";
  }
  void keep(const fs::path& file, const std::string& stamp, const std::string& hash) {
    const std::lock_guard lock(mutex_);
    hashes_[file] = {stamp, hash};
  }

 private:
  mutable std::mutex mutex_;
  std::map<fs::path, std::pair<std::string, std::string>> hashes_;  // stamp and hash
};

/// Whether another write would change the time of a file: clocks of file systems tick every few milliseconds.
bool is_settled(const fs::path& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::seconds(2);
}

std::string hash_of_file(const fs::path& file, const std::stop_token& stop) {
  if (std::string known = hash_of_blob(file); !known.empty()) return known;
  static KnownHashes hashes;
  const std::string stamp = file_stamp(file);
  if (std::string known = hashes.find(file, stamp); !known.empty()) return known;
  const bool settled = is_settled(file);  // before hashing, which may take longer than settling
  const model::OpenFile in(file);
  std::string piece(std::size_t{1} << 20, '\0');
  Digest hash = Digest::sha256();
  for (std::uint64_t at = 0; at < in.size(); at += piece.size()) {
    if (stop.stop_requested()) throw model::Stopped();
    piece.resize(std::min<std::uint64_t>(piece.size(), in.size() - at));
    in.read(at, std::as_writable_bytes(std::span(piece)));
    hash.add(piece);
  }
  std::string hex = hash.hex();
  if (settled && stamp == file_stamp(file)) hashes.keep(file, stamp, hex);
  return hex;
}

std::string hash_of_files(const fs::path& folder, const std::set<std::string>& files,
                          const std::stop_token& stop) {
  const auto path_of = [&](const std::string& name) {
    return name.empty() ? folder : folder / system::path_of(name);
  };
  if (files.size() == 1) return std::string(kKind) + hash_of_file(path_of(*files.begin()), stop);
  Digest all = Digest::sha256();
  for (const std::string& file : files) all.add(hash_of_file(path_of(file), stop) + "  " + file + "\n");
  return std::string(kKind) + all.hex();
}

}  // namespace

std::set<std::string> weight_files(const fs::path& folder) {
  return system::is_file(folder) ? std::set<std::string>{""} : model::TensorSource::open(folder).files;
}

std::string weights_hash(const fs::path& folder, const std::stop_token& stop) {
  return hash_of_files(folder, weight_files(folder), stop);
}

std::string weights_hash(const LoadedModel& model, const std::stop_token& stop) {
  const std::set<std::string> files =
      model.transformer ? model.transformer->files() : weight_files(model.folder);
  std::string hash = hash_of_files(model.folder, files, stop);
  if (weights_stamp(model.folder) != model.weights_stamp)
    throw model::LoadError(system::text_of(model.folder) +
                           ": the weights have changed since they were loaded");
  return hash;
}

bool is_weights_hash(std::string_view text) {
  return text.starts_with(kKind) && text.size() == kKind.size() + 64 && is_digest(text.substr(kKind.size()));
}

std::string file_stamp(const fs::path& file) {
  try {
    const system::FileStatus status = system::File(file, system::Open::read_at_once).status();
    return std::to_string(status.size) + " " + std::to_string(status.written);
  } catch (const std::system_error&) {
    return "";
  }
}

std::string weights_stamp(const fs::path& folder) {
  std::string stamp;
  try {
    for (const std::string& name : weight_files(folder)) {
      const std::string written = file_stamp(name.empty() ? folder : folder / system::path_of(name));
      if (written.empty()) return "";
      stamp += name + " " + written + "\n";
    }
  } catch (const std::runtime_error&) {
    return "";
  }
  return stamp;
}

WeightsHash HashOfWeights::compute(const PromptRun& run, const Computation<WeightsHash>& computation) const {
  try {
    return {weights_hash(*run.model, computation.stop)};
  } catch (const model::LoadError&) {  // a picture of the model in memory is still possible
    return {};
  }
}

}  // namespace headscope::app
