#include "app/hub/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "model/files/file_io.h"

namespace headscope::app {

PartialFile::PartialFile(std::filesystem::path file, FileFacts facts, const std::function<void()>& poll)
    : file_(std::move(file)), facts_(std::move(facts)), digest_(facts_.digest, facts_.bytes) {
  descriptor_ = model::open_descriptor(file_, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (descriptor_ < 0) fail(errno);
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) fail(EEXIST);
    if (static_cast<std::uint64_t>(status.st_size) > facts_.bytes) {
      restart();
      return;
    }
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
      poll();
      const ssize_t got = ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(size_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(errno);
      if (got == 0) break;
      digest_.add({buffer.data(), static_cast<std::size_t>(got)});
      size_ += static_cast<std::uint64_t>(got);
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PartialFile::append(std::string_view bytes) {
  if (bytes.size() > facts_.bytes - size_)
    throw HubError("the server sent more than the announced " + std::to_string(facts_.bytes) + " bytes");
  while (!bytes.empty()) {
    // At an offset, not at the end: another process that writes here without a lock writes the same bytes.
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    digest_.add(bytes.substr(0, static_cast<std::size_t>(written)));
    size_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(written);
  }
}

void PartialFile::restart() {
  if (const int error = model::uninterrupted([&] { return ::ftruncate(descriptor_, 0); })) fail(error);
  size_ = 0;
  digest_ = Digest(facts_.digest, facts_.bytes);
}

bool PartialFile::finish(const std::filesystem::path& goal) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(errno);
  if (static_cast<std::uint64_t>(status.st_size) != facts_.bytes || digest_.hex() != facts_.digest) {
    restart();
    return false;
  }
  if (const int error = model::uninterrupted([&] { return ::fsync(descriptor_); })) fail(error);
  if (const int error = model::close_descriptor(std::exchange(descriptor_, -1))) fail(error);
  if (::rename(file_.c_str(), goal.c_str()) != 0) fail(errno);
  return true;
}

void PartialFile::fail(int error) const {
  throw HubError("cannot write " + file_.string() + ": " + std::generic_category().message(error));
}

}  // namespace headscope::app
