#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "system/file.h"

namespace headscope::system {

/// A file that appears under its name only when it is complete. Without `commit` nothing remains, even if the
/// process is killed: on Linux the file is written without a name, on Windows it is deleted when it is
/// closed. The exception is a `.headscope-*.part` next to the target, on file systems that cannot do that and
/// at the moment an existing file is replaced. A target that is not a regular file (a device, a pipe,
/// /dev/stdout) is written directly, and a symbolic link stays one. All members throw std::runtime_error, one
/// sentence with the path and the system's reason (unwritable, full disk ...).
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Writes after the bytes appended before.
  void append(std::string_view bytes);

  /// Writes at `offset` from the start. Not for pipes.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Makes the file `size` bytes long, with zeros where nothing was written, and reserves the space on the
  /// disk, so that a full disk is reported before the work starts. Does nothing for a device or a pipe.
  void resize(std::uint64_t size);

  /// Syncs the content, renames, and syncs the folder, so that a power failure leaves either the old file or
  /// the complete new one.
  void commit();

 private:
  // These throw std::system_error.
  void open();
  void create();        ///< a file that will become the target
  void create_named();  ///< the same, under the first temporary name that is free
  void put_in_place();  ///< gives the complete file the target's name and closes it

  /// The n-th candidate for a temporary name next to the target.
  std::filesystem::path beside(int attempt) const;

  std::filesystem::path path_;       // as the caller wrote it, for messages
  std::filesystem::path goal_;       // symbolic links resolved
  std::filesystem::path temporary_;  // a name that the incomplete file has; empty: none
  bool direct_ = false;              // a device or a pipe
  File file_;
};

/// Creates a folder and its parents. Throws std::runtime_error (one sentence).
void make_folders(const std::filesystem::path& folder);

/// Writes a complete file in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headscope::system
