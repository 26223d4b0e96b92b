#include "app/run/sources/weights_hash.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/tensor_source.h"
#include "model/pass/transformer.h"
#include "system/file.h"
#include "system/hash.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using system::Hash;

constexpr std::string_view kKind = "sha256:";

/// The hash from a link to `blobs/<hash>`, as in a Hugging Face cache; else empty.
std::string hash_of_blob(const fs::path& file) {
  const auto blob = system::link_target(file);
  if (!blob || blob->parent_path().filename() != "blobs") return "";
  const std::string name = system::text_of(blob->filename());
  return name.size() == 64 && is_content_hash(name) ? name : "";
}

/// Whether another write would change the time of a file: clocks of file systems tick every few milliseconds.
bool is_settled(const fs::path& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::seconds(2);
}

std::string hash_of_file(const fs::path& file, const std::stop_token& stop) {
  if (std::string known = hash_of_blob(file); !known.empty()) return known;
  static std::mutex mutex;                                                // for any thread
  static std::map<std::pair<fs::path, std::string>, std::string> hashes;  // by file and stamp
  const std::pair key(file, file_stamp(file));
  {
    const std::lock_guard lock(mutex);
    if (const auto known = hashes.find(key); known != hashes.end()) return known->second;
  }
  const bool settled = is_settled(file);  // before hashing, which may take longer than settling
  const model::OpenFile in(file);
  constexpr std::uint64_t kPiece = 1 << 20;
  Hash hash(Hash::Kind::sha256);
  for (std::uint64_t at = 0; at < in.size(); at += kPiece) {
    if (stop.stop_requested()) throw model::Stopped();
    hash.add(in.text(at, std::min(kPiece, in.size() - at)));
  }
  std::string hex = hash.hex();
  const std::lock_guard lock(mutex);
  if (settled && key.second == file_stamp(file)) hashes[key] = hex;
  return hex;
}

/// `name`: empty for the folder that is itself a file.
fs::path path_of(const fs::path& folder, const std::string& name) {
  return name.empty() ? folder : folder / system::path_of(name);
}

std::string hash_of_files(const fs::path& folder, const std::set<std::string>& files,
                          const std::stop_token& stop) {
  if (files.size() == 1) return std::string(kKind) + hash_of_file(path_of(folder, *files.begin()), stop);
  Hash all(Hash::Kind::sha256);
  for (const std::string& file : files)
    all.add(hash_of_file(path_of(folder, file), stop) + "  " + file + "\n");
  return std::string(kKind) + all.hex();
}

/// Empty if a file of weights cannot be read.
std::string stamp_of_files(const fs::path& folder, const std::set<std::string>& files) {
  std::string stamp = file_stamp(folder / "config.json") + "\n";
  for (const std::string& name : files) {
    const std::string written = file_stamp(path_of(folder, name));
    if (written.empty()) return "";
    stamp += name + " " + written + "\n";
  }
  return stamp;
}

}  // namespace

std::set<std::string> weight_files(const fs::path& folder, const std::stop_token& stop) {
  return system::is_file(folder) ? std::set<std::string>{""} : model::TensorSource::open(folder, stop).files;
}

std::string weights_hash(const fs::path& folder, const std::stop_token& stop) {
  return hash_of_files(folder, weight_files(folder, stop), stop);
}

std::string weights_hash(const LoadedModel& model, const std::stop_token& stop) {
  const auto files = model.transformer ? model.transformer->report().files : weight_files(model.folder, stop);
  std::string hash = hash_of_files(model.folder, files, stop);
  if (stamp_of_files(model.folder, files) != model.weights_stamp)
    throw model::LoadError(system::text_of(model.folder) +
                           ": its files have changed since they were loaded; open the model again");
  return hash;
}

bool is_weights_hash(std::string_view text) {
  return text.starts_with(kKind) && text.size() == kKind.size() + 64 &&
         is_content_hash(text.substr(kKind.size()));
}

std::string file_stamp(const fs::path& file) {
  try {
    const system::FileStatus status = system::File(file, system::Open::read_at_once).status();
    return std::to_string(status.size) + " " + std::to_string(status.written);
  } catch (const std::system_error&) {
    return "";
  }
}

std::string weights_stamp(const fs::path& folder, const std::stop_token& stop) try {
  return stamp_of_files(folder, weight_files(folder, stop));
} catch (const model::LoadError&) {
  return "";
}

std::string HashOfWeights::compute(const PromptRun& run, const Computation<std::string>& computation) const {
  return weights_hash(*run.model, computation.stop);
}

}  // namespace headscope::app
