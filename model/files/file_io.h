#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "system/file.h"

namespace headscope::model {

/// The whole content of a file that a user names, which may be a pipe. Throws ReadError (one sentence with
/// the path and the system's reason) if it cannot be read, is a directory, or has more than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = 64 << 20);

/// The number in up to 8 bytes, the lowest first.
std::uint64_t little_endian(std::string_view bytes);

/// A regular file that is open for reading at any offset. Not a memory map: if the file is truncated or the
/// disk fails, accessing a map ends the program, but a read reports an error.
class OpenFile {
 public:
  /// Throws ReadError if the file cannot be opened, or is a pipe, a device or a directory: reading a pipe
  /// might never end. Throws LoadError for a link that leads nowhere.
  explicit OpenFile(const std::filesystem::path& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return status_.size; }  ///< when it was opened

  /// Fills `out` with the bytes from `offset` on. Throws ReadError if that fails, if the file has become too
  /// short, or if its modification time has changed since it was opened.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  std::string text(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::filesystem::path path_;
  system::File file_;
  system::FileStatus status_;  // when it was opened
};

/// The whole content of a model's file. Throws as OpenFile, and LoadError, before anything is read, if the
/// file has more than `max_bytes`.
std::string read_regular_file(const std::filesystem::path& path, std::uint64_t max_bytes = 64 << 20);

/// Whether a folder has an entry with that path, be it a link that leads nowhere. Throws ReadError if the
/// system does not say.
bool has_entry(const std::filesystem::path& path);

/// What is in a folder, in a fixed order; nothing if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// What a file holds in place of its content, from its first bytes, and how to get the content: a Git LFS
/// pointer or an HTML page; empty: neither.
std::string foreign_content(std::string_view start);

}  // namespace headscope::model
