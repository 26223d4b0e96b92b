#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/hub/hub_name.h"
#include "system/file.h"

namespace headscope::app {

/// A model's paths in a Hugging Face cache, with the layout of Hugging Face's own library:
///
///     models--org--name/blobs/HASH                content, named by its hash
///     models--org--name/blobs/HASH.incomplete     the part received so far
///     models--org--name/snapshots/COMMIT/FILE     a relative link to the blob
///     models--org--name/refs/REVISION             the commit of a branch or tag when last asked for
///     models--org--name/.no_exist/COMMIT/FILE     known to be missing
///     .locks/models--org--name/HASH.lock          held while the blob is fetched
///
/// Every member that writes throws HubError, one sentence with the path and the system's reason.
class ModelCache {
 public:
  ModelCache(std::filesystem::path cache, const HubModel& model);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path blob(const std::string& digest) const;
  std::filesystem::path incomplete(const std::string& digest) const;
  std::filesystem::path lock(const std::string& digest) const;
  std::filesystem::path snapshot(const std::string& commit) const;

  /// The commit of the model's revision, if it is known here.
  std::optional<std::string> commit() const;
  /// The snapshot of that commit, if it has all files that loading needs.
  std::optional<std::filesystem::path> complete_snapshot() const;

  /// Atomically makes a file of a snapshot a link to a blob, replacing what was there.
  void link(const std::string& commit, const std::string& file, const std::string& digest) const;
  void remember(const std::string& commit) const;
  /// Ignores errors.
  void remember_absent(const std::string& commit, const std::string& file) const noexcept;

 private:
  std::filesystem::path cache_, folder_;
  std::string revision_;
};

/// Whether a folder has config.json, a tokenizer's files, and model.safetensors or all files of its index.
/// Never throws.
bool is_complete_model(const std::filesystem::path& folder);

/// Whether a file has that size; follows links. Never throws.
bool has_size(const std::filesystem::path& file, std::uint64_t bytes);

/// Creates a folder and its parents. Throws HubError.
void make_folder(const std::filesystem::path& folder);

/// A lock between processes that is released when its holder ends, compatible with Hugging Face's library.
class FileLock {
 public:
  /// Throws HubError if the lock file cannot be created.
  explicit FileLock(std::filesystem::path path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Tries to take the lock without waiting. Returns true if it is held, also if the file system does not
  /// support locks.
  bool try_lock();

 private:
  void open();

  std::filesystem::path path_;
  system::File file_;
};

}  // namespace headscope::app
