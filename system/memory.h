#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace headscope::system {

/// Asks for huge pages for memory that begins at a page, which is only for speed: nothing happens where there
/// are none. A twentieth of a pass went into looking up addresses of small ones.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Returns what was freed to the system, where the allocator would keep it: glibc's keeps memory between
/// blocks in use, up to twice the live memory within an hour. Nothing happens elsewhere.
void return_freed_memory() noexcept;

/// From now on, what is freed at the end of a thread's heap is returned at once, beyond 4 MiB, and so are
/// blocks that are larger. glibc's allocator would keep up to 64 MiB there for each thread, more the larger
/// the blocks were, which return_freed_memory does not reach. Nothing happens elsewhere.
void keep_little_freed_memory() noexcept;

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
