#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "system/calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

int flags_of(Open how) {
  switch (how) {
    case Open::read_at_once:
      return O_RDONLY | O_NONBLOCK;
    case Open::write:
      return O_WRONLY;
    case Open::change:
      return O_RDWR | O_CREAT;
    case Open::change_no_link:
      return O_RDWR | O_CREAT | O_NOFOLLOW;
    case Open::create:
      return O_RDWR | O_CREAT | O_EXCL;
    default:
      return O_RDONLY;
  }
}

FileStatus status_of(const struct stat& status) {
  const FileKind kind = S_ISREG(status.st_mode)   ? FileKind::regular
                        : S_ISDIR(status.st_mode) ? FileKind::folder
                                                  : FileKind::other;
  return {kind, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

/// Repeats a call that returns 0 on success for as long as signals interrupt it. Returns errno, or 0.
template <typename Call>
int uninterrupted(const Call& call) {
  while (call() != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// Repeats a call that returns -1 on failure for as long as signals interrupt it. Throws std::system_error.
template <typename Call>
std::size_t completed(const Call& call) {
  for (;;) {
    const ssize_t result = call();
    if (result >= 0) return static_cast<std::size_t>(result);
    if (errno != EINTR) fail(errno);
  }
}

/// Writes all bytes from `offset` on, or where the last call ended; a call may write fewer.
void write_all(int file, const char* bytes, std::size_t size, std::optional<std::uint64_t> offset) {
  for (std::size_t done = 0; done < size;) {
    const std::size_t written = completed([&] {
      return offset ? ::pwrite(file, bytes + done, size - done, static_cast<off_t>(*offset + done))
                    : ::write(file, bytes + done, size - done);
    });
    if (written == 0) fail(ENOSPC);
    done += written;
  }
}

/// `size` as the system counts. Throws std::system_error.
off_t offset_of(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) fail(EFBIG);
  return static_cast<off_t>(size);
}

}  // namespace

void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

int open_descriptor(const fs::path& path, int flags) {
  return static_cast<int>(completed([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); }));
}

std::optional<FileKind> kind_at(const fs::path& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status_of(status).kind;
}

std::optional<fs::path> link_target(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return std::nullopt;
  fs::path target = fs::canonical(path, error);
  return error ? std::nullopt : std::optional(std::move(target));
}

File::File(const fs::path& path, Open how) : handle_(open_descriptor(path, flags_of(how))) {}

File::~File() {
  if (is_open() && !borrowed_) ::close(number(*this));
}

FileStatus File::status() const {
  struct stat status {};
  if (::fstat(number(*this), &status) != 0) fail(errno);
  return status_of(status);
}

std::size_t File::read(std::span<char> out) const {
  return completed([&] { return ::read(number(*this), out.data(), out.size()); });
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  return completed(
      [&] { return ::pread(number(*this), out.data(), out.size(), static_cast<off_t>(offset)); });
}

void File::write(std::string_view bytes) const {
  write_all(number(*this), bytes.data(), bytes.size(), std::nullopt);
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  write_all(number(*this), reinterpret_cast<const char*>(bytes.data()), bytes.size(), offset);
}

void File::resize(std::uint64_t size) const {
  const off_t length = offset_of(size);
  if (const int error = uninterrupted([&] { return ::ftruncate(number(*this), length); })) fail(error);
}

// Not by posix_fallocate, which writes every block where the file system cannot reserve them.
void File::reserve(std::uint64_t size) const {
  const off_t length = offset_of(size);
  const int error = uninterrupted([&] { return ::fallocate(number(*this), 0, 0, length); });
  if (error != 0 && error != EOPNOTSUPP && error != ENOSYS && error != EINVAL) fail(error);
}

void File::sync() const {
  const int error = uninterrupted([&] { return ::fsync(number(*this)); });
  if (error != 0 && error != EINVAL && error != ENOTSUP && error != ENOSYS && error != EROFS) fail(error);
}

void File::close() {
  const int descriptor = number(*this);
  handle_ = kNone;
  if (std::exchange(borrowed_, false)) return;
  if (::close(descriptor) != 0 && errno != EINTR) fail(errno);  // when interrupted, it is closed
}

bool File::try_lock() const {
  return uninterrupted([&] { return ::flock(number(*this), LOCK_EX | LOCK_NB); }) != EWOULDBLOCK;
}

bool File::is_at(const fs::path& path) const {
  struct stat own {
  }, named{};
  return ::fstat(number(*this), &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
         own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

void rename_over(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail(errno);
}

void remove_file(const fs::path& path) noexcept {
  ::unlink(path.c_str());
}

void make_link(const fs::path& target, const fs::path& link) {
  if (::symlink(target.c_str(), link.c_str()) != 0) fail(errno);
}

}  // namespace headscope::system
