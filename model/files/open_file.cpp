#include "model/files/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "model/files/error.h"
#include "model/files/file_io.h"

namespace headscope::model {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw LoadError("cannot read " + path.string() + ": " + why);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::int64_t time_of_writing(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& path) : path_(path) {
  // Non-blocking, so that opening a pipe with that name does not wait forever for its writer.
  descriptor_ = open_descriptor(path, O_RDONLY | O_NONBLOCK);
  if (descriptor_ < 0) fail(path, reason(errno));
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    written_ = time_of_writing(status);
    return;
  }
  ::close(descriptor_);
  if (error != 0) fail(path, reason(error));
  fail(path, S_ISDIR(status.st_mode) ? "expected a file, found a directory"
                                     : "expected a regular file, found a device or a pipe");
}

OpenFile::~OpenFile() {
  ::close(descriptor_);
}

void OpenFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, reason(errno));
    if (got == 0)
      fail(path_, "expected " + std::to_string(size_) + " bytes, found only " + std::to_string(offset) +
                      " (it was truncated while open)");
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(got);
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(path_, reason(errno));
  if (time_of_writing(status) != written_) fail(path_, "it has changed since it was opened; open it again");
}

}  // namespace headscope::model
