#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace headscope::system {

enum class FileKind {
  regular,
  folder,
  other  ///< a device, a pipe, a socket
};

/// What a path leads to, through links; nothing: there is nothing, or it cannot be asked.
std::optional<FileKind> kind_at(const std::filesystem::path& path) noexcept;
inline bool is_there(const std::filesystem::path& path) noexcept {
  return kind_at(path).has_value();
}
inline bool is_file(const std::filesystem::path& path) noexcept {
  return kind_at(path) == FileKind::regular;
}
inline bool is_folder(const std::filesystem::path& path) noexcept {
  return kind_at(path) == FileKind::folder;
}
/// The file or folder that a symbolic link leads to in the end; nothing: the path is no link, or leads
/// nowhere.
std::optional<std::filesystem::path> link_target(const std::filesystem::path& path);

struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t size = 0;    ///< in bytes; 0 for devices, pipes and what the system makes up
  std::int64_t written = 0;  ///< modification time in nanoseconds, to compare with another one
};

enum class Open {
  read,            ///< opening a pipe waits for its writer
  read_at_once,    ///< without waiting for a pipe's writer
  write,           ///< an existing file, device or pipe, from its start
  change,          ///< reads and writes, creates the file if it is missing
  change_no_link,  ///< the same, but fails if the path is a symbolic link
  create           ///< reads and writes a file that must not exist
};

/// An open file, device or pipe that no child process inherits. Calls that a signal interrupts are repeated.
/// Members throw std::system_error; its code is comparable with std::errc, and its message is the system's.
class File {
 public:
  /// What the system knows an open file by: a descriptor, or a HANDLE on Windows.
  using Handle = std::intptr_t;

  File() = default;  ///< no file
  File(const std::filesystem::path& path, Open how);
  File(File&& other) noexcept
      : handle_(std::exchange(other.handle_, kNone)), borrowed_(std::exchange(other.borrowed_, false)) {}
  File& operator=(File&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(borrowed_, other.borrowed_);
    return *this;
  }
  ~File();

  /// A file that someone else closes.
  static File borrowed(Handle handle) { return {handle, true}; }
  /// Takes over an open file: closes it.
  static File owned(Handle handle) { return {handle, false}; }

  bool is_open() const { return handle_ != kNone; }
  Handle handle() const { return handle_; }
  FileStatus status() const;

  /// Reads up to `out.size()` bytes at the current place; returns how many, 0 at the end.
  std::size_t read(std::span<char> out) const;
  /// Reads up to `out.size()` bytes from `offset` on; returns how many, 0 at the end. Not for pipes.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// Writes all bytes at the current place.
  void write(std::string_view bytes) const;
  /// Writes all bytes from `offset` on. Not for pipes.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

  /// Cuts the file, or extends it with zeros.
  void resize(std::uint64_t size) const;
  /// Reserves the space on the disk, so that a full disk is reported now; does nothing where the file system
  /// cannot do that.
  void reserve(std::uint64_t size) const;
  /// Waits until the content is on the disk, if the file system can do that.
  void sync() const;
  /// Closes the file; some file systems report only here that it could not be written.
  void close();

  /// Takes a lock between processes, which ends with this object, without waiting. Returns false if another
  /// holds it, true if it is held or the file system has no locks.
  bool try_lock() const;
  /// Whether the path leads to this very file. Never throws.
  bool is_at(const std::filesystem::path& path) const;

 private:
  File(Handle handle, bool borrowed) : handle_(handle), borrowed_(borrowed) {}

  static constexpr Handle kNone = -1;
  Handle handle_ = kNone;
  bool borrowed_ = false;
};

/// Gives a file another name, which may be that of an existing file, even of an open one: it is replaced at
/// once. Throws std::system_error.
void rename_over(const std::filesystem::path& from, const std::filesystem::path& to);

/// Deletes a file; errors are ignored.
void remove_file(const std::filesystem::path& path) noexcept;

/// Makes `link` another way to `target`, which is relative to the folder of `link`: a symbolic link, or a
/// second name of the same file where the system does not allow those. Throws std::system_error.
void make_link(const std::filesystem::path& target, const std::filesystem::path& link);

}  // namespace headscope::system
