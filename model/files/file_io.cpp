#include "model/files/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "model/files/error.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

// Calls `write` or `pwrite` until all bytes are written, since either may write fewer. Returns errno, or 0.
template <typename WriteSome>
int write_all(const char* data, std::size_t size, const WriteSome& write_some) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t written = write_some(data + done, size - done, done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

// /dev/stdout may lead to a regular file, but the user did not mean to replace that file.
bool names_a_descriptor(const fs::path& path) {
  const std::string text = path.lexically_normal().string();
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/") ||
         text.starts_with("/proc/");
}

std::string path_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// fsync(2): returns errno, or 0, also if the file system does not support it.
int synced(int descriptor) {
  const int error = uninterrupted([&] { return ::fsync(descriptor); });
  return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == EROFS ? 0 : error;
}

/// Makes a new name durable. The file is complete even if this fails.
void sync_folder(const fs::path& folder) {
  const int descriptor = open_descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  static_cast<void>(synced(descriptor));
  ::close(descriptor);
}

/// -1 if not supported.
int open_nameless([[maybe_unused]] const fs::path& folder) {
#ifdef O_TMPFILE
  const int descriptor = open_descriptor(folder.empty() ? "." : folder, O_TMPFILE | O_RDWR);
  if (descriptor < 0 || ::access(path_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);  // without /proc it could never be given a name
#endif
  return -1;
}

}  // namespace

int open_descriptor(const fs::path& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

int close_descriptor(int descriptor) {
  return ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

/// `flags`: passed to open(2) in addition to O_RDONLY.
static std::string content_of(const fs::path& path, std::size_t max_bytes, int flags, bool only_regular) {
  const auto fail = [&](const std::string& why) -> void {
    throw LoadError("cannot read " + path.string() + ": " + why);
  };
  const int descriptor = open_descriptor(path, O_RDONLY | flags);
  if (descriptor < 0) fail(reason(errno));
  const struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};

  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(reason(errno));
  if (only_regular && !S_ISREG(status.st_mode))
    fail(S_ISDIR(status.st_mode) ? reason(EISDIR) : "expected a regular file, found a device or a pipe");
  std::string content;
  if (S_ISREG(status.st_mode)) {  // the size is only a hint: files under /proc report 0
    content.reserve(std::min(static_cast<std::size_t>(status.st_size), max_bytes) + 1);
  }
  constexpr std::size_t kStep = std::size_t{1} << 16;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(std::max(before + kStep, content.capacity()));
    const ssize_t got = ::read(descriptor, content.data() + before, content.size() - before);
    const int error = errno;
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) fail(reason(error));
    if (content.size() > max_bytes) {
      fail("expected at most " + std::to_string(max_bytes) + " bytes, found more");
    }
    if (got > 0) continue;
    struct stat now {};
    if (::fstat(descriptor, &now) != 0) fail(reason(errno));
    if (now.st_size < status.st_size)
      fail("expected " + std::to_string(status.st_size) + " bytes, found only " +
           std::to_string(now.st_size) + " (it was truncated while being read)");
    return content;
  }
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  return content_of(path, max_bytes, 0, false);
}

std::string read_regular_file(const fs::path& path, std::size_t max_bytes) {
  return content_of(path, max_bytes, O_NONBLOCK, true);  // opening a pipe would wait for its writer
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path), goal_(path) {
  std::error_code ignored;
  if (const fs::path resolved = fs::canonical(path, ignored); !ignored && !names_a_descriptor(path)) {
    goal_ = resolved;
  }
  struct stat status {};
  const bool exists = ::stat(goal_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && ::access(goal_.c_str(), W_OK) != 0) fail(errno);  // rename does not check this
  if (names_a_descriptor(path) || (exists && !S_ISREG(status.st_mode))) {
    descriptor_ = open_descriptor(goal_, O_WRONLY);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  kind_ = Kind::nameless;
  descriptor_ = open_nameless(goal_.parent_path());
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    kind_ = Kind::named;
    temporary_ = beside(attempt);
    descriptor_ = open_descriptor(temporary_, O_RDWR | O_CREAT | O_EXCL);
    if (descriptor_ < 0 && errno != EEXIST) fail(errno);
  }
  if (exists) static_cast<void>(::fchmod(descriptor_, status.st_mode & 07777));  // best effort
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (kind_ == Kind::named) ::unlink(temporary_.c_str());
}

fs::path AtomicFile::beside(int attempt) const {
  return goal_.parent_path() /
         (".headscope-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part");
}

int AtomicFile::take_name() {
  const auto take = [&](const fs::path& name) {
    temporary_ = name;
    return ::linkat(AT_FDCWD, path_of(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0
               ? 0
               : errno;
  };
  // Directly if it replaces nothing: then it never has another name. To replace a file, it needs a temporary
  // one.
  int error = take(goal_);
  for (int attempt = 0; error == EEXIST; ++attempt) error = take(beside(attempt));
  if (error == 0) kind_ = Kind::named;
  return error;
}

void AtomicFile::append(std::string_view bytes) {
  const int error = write_all(
      bytes.data(), bytes.size(),
      [&](const char* from, std::size_t count, std::size_t) { return ::write(descriptor_, from, count); });
  if (error != 0) fail(error);
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const int error = write_all(reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                              [&](const char* from, std::size_t count, std::size_t done) {
                                return ::pwrite(descriptor_, from, count, static_cast<off_t>(offset + done));
                              });
  if (error != 0) fail(error);
}

void AtomicFile::resize(std::uint64_t size) {
  if (kind_ == Kind::direct) return;  // a device or a pipe has no size
  if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) fail(EFBIG);
  const auto length = static_cast<off_t>(size);
  // Some file systems cannot reserve space; the writes will report errors.
  if (const int error =
          length > 0 ? uninterrupted([&] { return ::fallocate(descriptor_, 0, 0, length); }) : 0;
      error != 0 && error != EOPNOTSUPP && error != ENOSYS && error != EINVAL)
    fail(error);
  if (const int error = uninterrupted([&] { return ::ftruncate(descriptor_, length); })) fail(error);
}

void AtomicFile::commit() {
  int error = kind_ == Kind::direct ? 0 : synced(descriptor_);
  if (error == 0 && kind_ == Kind::nameless) error = take_name();
  const int closed =
      close_descriptor(std::exchange(descriptor_, -1));  // some file systems report a full disk only here
  if (error == 0) error = closed;
  if (error == 0 && kind_ == Kind::named && ::rename(temporary_.c_str(), goal_.c_str()) != 0) error = errno;
  if (error == 0) {
    if (kind_ != Kind::direct) sync_folder(goal_.parent_path());
    return;
  }
  if (kind_ == Kind::named) ::unlink(temporary_.c_str());
  fail(error);
}

void AtomicFile::fail(int error) const {
  throw std::runtime_error("cannot write " + path_.string() + ": " + reason(error));
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot create the folder " + folder.string() + ": " + error.message());
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

}  // namespace headscope::model
