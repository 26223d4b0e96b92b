#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "system/file.h"

namespace headscope::model {

/// A regular file that is open for reading at any offset. Not a memory map: if the file is truncated or the
/// disk fails, accessing a map ends the program, but a read reports an error.
class OpenFile {
 public:
  /// Throws LoadError (one sentence with the path and the system's reason) if the file cannot be opened or is
  /// not a regular file.
  explicit OpenFile(const std::filesystem::path& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return status_.size; }  ///< when it was opened

  /// Fills `out` with the bytes from `offset` on. Throws LoadError if that fails, if the file has become too
  /// short, or if its modification time has changed since it was opened.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  system::File file_;
  system::FileStatus status_;  // when it was opened
};

}  // namespace headscope::model
