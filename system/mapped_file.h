#pragma once
#include <filesystem>
#include <span>
#include <utility>

namespace headscope::system {

/// A file mapped into memory, read only. Only for files that nobody truncates: touching a part that is gone
/// ends the program.
class MappedFile {
 public:
  /// Empty if it cannot be mapped.
  explicit MappedFile(const std::filesystem::path& file);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const unsigned char> bytes() const { return bytes_; }

 private:
  std::span<const unsigned char> bytes_;
};

}  // namespace headscope::system
