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

/// open(2), not given up for a signal that came meanwhile: a file of the network or a pipe may take its time.
/// -1 and errno where it fails; O_CLOEXEC goes without saying.
int open_descriptor(const std::filesystem::path& path, int flags);

/// close(2): errno, or 0. A signal is no error: the file is closed.
int close_descriptor(int descriptor);

/// The whole content of a file. Throws LoadError (one sentence with the path and the system's reason) when it
/// cannot be read, is a directory, has more than `max_bytes`, or becomes shorter meanwhile.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

/// The same of a file of a model: no pipe or device, which might never end or never begin (a LoadError says
/// so at once).
std::string read_regular_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{1} << 30);

/// A file that appears under its name only when it is whole: written without a name on the goal's file
/// system, which gets one by `commit`. Without commit nothing is left behind, nor by a process that is
/// killed; but where the file system has no files without names, or in the moment in which it takes the place
/// of another file, that leaves `.headscope-*.part` beside the goal. A goal that is no regular file (a
/// device, a pipe, /dev/stdout) is written directly. A goal that is a symbolic link keeps being one. All
/// members throw std::runtime_error, one sentence with the path and the system's reason (unwritable, full
/// disk ...).
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends to what `append` wrote before.
  void append(std::string_view bytes);

  /// Writes at `offset` from the start. Not for pipes.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Makes the file `size` bytes long, zeros where nothing was written, and takes the room on the disk at
  /// once, so that a full disk shows before the work and not after it. Does nothing to a device or a pipe.
  void resize(std::uint64_t size);

  /// Syncs the content before it takes the name, and the folder after it, so that a power cut leaves the old
  /// file or the whole new one.
  void commit();

 private:
  enum class Kind { direct, nameless, named };

  [[noreturn]] void fail(int error) const;
  /// The n-th candidate for a name next to the goal.
  std::filesystem::path beside(int attempt) const;
  /// Gives the unnamed file the goal's name, or if that is taken, one next to it; returns errno, or 0.
  int take_name();

  std::filesystem::path path_;       // as the caller wrote it, for messages
  std::filesystem::path goal_;       // symbolic links resolved
  std::filesystem::path temporary_;  // Kind::named: beside the goal
  Kind kind_ = Kind::direct;
  int descriptor_ = -1;
};

/// Makes a folder, and those that it is in. Throws std::runtime_error (one sentence).
void make_folders(const std::filesystem::path& folder);

/// Writes bytes in memory in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headscope::model
