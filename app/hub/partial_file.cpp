#include "app/hub/partial_file.h"

#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "system/path_text.h"

namespace headscope::app {

PartialFile::PartialFile(std::filesystem::path path, FileFacts facts, const std::function<void()>& poll)
    : path_(std::move(path)), facts_(std::move(facts)), digest_(facts_.digest, facts_.bytes) {
  try {
    file_ = system::File(path_, system::Open::change_no_link);
    const system::FileStatus status = file_.status();
    if (status.kind != system::FileKind::regular) fail(std::make_error_code(std::errc::file_exists));
    if (status.size > facts_.bytes) {
      restart();
      return;
    }
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
      poll();
      const std::size_t got = file_.read_at(size_, std::as_writable_bytes(std::span(buffer)));
      if (got == 0) break;
      digest_.add({buffer.data(), got});
      size_ += got;
    }
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

void PartialFile::append(std::string_view bytes) {
  if (bytes.size() > facts_.bytes - size_)
    throw HubError("the server sent more than the announced " + std::to_string(facts_.bytes) + " bytes");
  try {
    // At an offset, not at the end: another process that writes here without a lock writes the same bytes.
    file_.write_at(size_, std::as_bytes(std::span(bytes)));
  } catch (const std::system_error& error) {
    fail(error.code());
  }
  digest_.add(bytes);
  size_ += bytes.size();
}

void PartialFile::restart() {
  try {
    file_.resize(0);
  } catch (const std::system_error& error) {
    fail(error.code());
  }
  size_ = 0;
  digest_ = Digest(facts_.digest, facts_.bytes);
}

bool PartialFile::finish(const std::filesystem::path& goal) {
  try {
    if (file_.status().size != facts_.bytes || digest_.hex() != facts_.digest) {
      restart();
      return false;
    }
    file_.sync();
    file_.close();
    system::rename_over(path_, goal);
    return true;
  } catch (const std::system_error& error) {
    fail(error.code());
  }
}

void PartialFile::fail(const std::error_code& error) const {
  throw HubError("cannot write " + system::text_of(path_) + ": " + error.message());
}

}  // namespace headscope::app
