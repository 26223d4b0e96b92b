#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/hub/hub_name.h"
#include "app/run/sources/digest.h"
#include "system/file.h"

namespace headscope::app {

/// Identifies a file's content.
struct FileFacts {
  std::string digest;  ///< see Digest
  std::uint64_t bytes = 0;
  bool operator==(const FileFacts&) const = default;
};

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
  std::filesystem::path blob(const std::string& digest) const { return folder_ / "blobs" / digest; }
  std::filesystem::path incomplete(const std::string& digest) const { return blob(digest + ".incomplete"); }
  std::filesystem::path lock(const std::string& digest) const {
    return cache_ / ".locks" / folder_.filename() / (digest + ".lock");
  }
  std::filesystem::path snapshot(const std::string& commit) const { return folder_ / "snapshots" / commit; }

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

/// Whether a folder has config.json, a tokenizer's files unless it is known that there are none, and all
/// files of its weights. Never throws.
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

/// A blob that is being fetched. What was received stays on disk under a temporary name, so that an
/// interrupted fetch can be resumed. Members throw HubError (one sentence with the path and the system's
/// reason, for example a full disk).
class PartialFile {
 public:
  /// Opens and hashes what was received before; drops it if it is too long. `poll` is called meanwhile and
  /// may throw.
  PartialFile(std::filesystem::path path, FileFacts facts, const std::function<void()>& poll);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::uint64_t size() const { return size_; }
  bool is_complete() const { return size_ == facts_.bytes; }

  /// Throws HubError if the file would become too long.
  void append(std::string_view bytes);
  /// Drops everything received.
  void restart();
  /// For a complete file: checks the hash. If it is right, syncs the file to disk, gives it its final name
  /// and returns true; otherwise drops everything received.
  bool finish(const std::filesystem::path& goal);

 private:
  std::filesystem::path path_;
  FileFacts facts_;
  Digest digest_;
  std::uint64_t size_ = 0;
  system::File file_;
};

}  // namespace headscope::app
