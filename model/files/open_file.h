#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace headscope::model {

/// A regular file that is open for reading at any place. No memory map: where a file is cut short or a disk
/// fails, the pages of a map end the program, and reading says so.
class OpenFile {
 public:
  /// Throws LoadError (one sentence with the path and the system's reason) when it cannot be opened or is no
  /// regular file.
  explicit OpenFile(const std::filesystem::path& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< as it was opened

  /// Fills `out` from byte `offset` on. Throws LoadError when it cannot, the file no longer has the bytes, or
  /// somebody wrote into it since it was opened, as far as its times tell.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  std::int64_t written_ = 0;  // when, in nanoseconds, as it was opened
  int descriptor_ = -1;
};

}  // namespace headscope::model
