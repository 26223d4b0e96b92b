#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace headscope::model {

/// Repeats a system call that returns 0 on success for as long as signals interrupt it. Returns errno, or 0.
template <typename Call>
int uninterrupted(const Call& call) {
  while (call() != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// open(2) with O_CLOEXEC, repeated when a signal interrupts it, as can happen with a pipe or a file on a
/// network. Returns -1 and sets errno on failure.
int open_descriptor(const std::filesystem::path& path, int flags);

/// close(2). Returns errno, or 0. An interruption by a signal is not an error: the file is closed.
int close_descriptor(int descriptor);

/// The whole content of a file. Throws LoadError (one sentence with the path and the system's reason) if it
/// cannot be read, is a directory, has more than `max_bytes`, or is truncated while it is read.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

/// The same for a model's file. Rejects pipes and devices with a LoadError, since reading them might never
/// end.
std::string read_regular_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{1} << 30);

/// A file that appears under its name only when it is complete. It is written without a name, on the target's
/// file system, and `commit` gives it the name. Without `commit` nothing remains, even if the process is
/// killed; the exception is a `.headscope-*.part` next to the target, on file systems without unnamed files
/// and at the moment an existing file is replaced. A target that is not a regular file (a device, a pipe,
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
  enum class Kind { direct, nameless, named };

  [[noreturn]] void fail(int error) const;
  /// The n-th candidate for a temporary name next to the target.
  std::filesystem::path beside(int attempt) const;
  /// Gives the unnamed file the target's name or, if that is taken, a temporary one next to it. Returns
  /// errno, or 0.
  int take_name();

  std::filesystem::path path_;       // as the caller wrote it, for messages
  std::filesystem::path goal_;       // symbolic links resolved
  std::filesystem::path temporary_;  // Kind::named: next to the target
  Kind kind_ = Kind::direct;
  int descriptor_ = -1;
};

/// Creates a folder and its parents. Throws std::runtime_error (one sentence).
void make_folders(const std::filesystem::path& folder);

/// Writes a complete file in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headscope::model
