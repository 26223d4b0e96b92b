#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/hub/hub_name.h"

namespace headscope::app {

/// One model's places in a Hugging Face cache, laid out as Hugging Face's own library does:
///
///     models--org--name/blobs/HASH                content, named by its hash
///     models--org--name/blobs/HASH.incomplete     as far as it has come
///     models--org--name/snapshots/COMMIT/FILE     a relative link to the blob
///     models--org--name/refs/REVISION             the commit that a branch or a tag was when it was last
///     asked for models--org--name/.no_exist/COMMIT/FILE     known not to be there
///     .locks/models--org--name/HASH.lock          held by who fetches the blob
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

  /// The commit that the model's revision means here, as far as it is known.
  std::optional<std::string> commit() const;
  /// The snapshot of that commit, if all is in it that a model is loaded from.
  std::optional<std::filesystem::path> complete_snapshot() const;

  /// Lets a file of a snapshot be a link to a blob, at once, whatever was there.
  void link(const std::string& commit, const std::string& file, const std::string& digest) const;
  void remember(const std::string& commit) const;
  /// Not worth an error.
  void remember_absent(const std::string& commit, const std::string& file) const noexcept;

 private:
  std::filesystem::path cache_, folder_;
  std::string revision_;
};

/// Whether a folder has config.json, a tokenizer's files, and model.safetensors or all that its index names;
/// never throws.
bool is_complete_model(const std::filesystem::path& folder);

/// Whether it is a file of that many bytes, through links; never throws.
bool has_size(const std::filesystem::path& file, std::uint64_t bytes);

/// Makes a folder and those on the way to it. Throws HubError.
void make_folder(const std::filesystem::path& folder);

/// A lock between programs that goes with its holder, as Hugging Face's library takes it (flock).
class FileLock {
 public:
  /// Throws HubError when there can be no file of that name.
  explicit FileLock(std::filesystem::path file);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  /// Whether it is held now; does not wait. True where the file system knows no locks.
  bool try_lock();

 private:
  void open();
  void close();

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace headscope::app
