#include "model/files/file_io.h"

#include <algorithm>
#include <span>
#include <system_error>

#include "model/files/error.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using system::FileKind;
using system::FileStatus;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw ReadError("cannot read " + system::text_of(path) + ": " + why);
}

std::string content_of(const fs::path& path, std::size_t max_bytes, system::Open how, bool only_regular) try {
  const system::File file(path, how);
  const FileStatus status = file.status();
  if (only_regular && status.kind != FileKind::regular)
    fail(path, status.kind == FileKind::folder ? std::make_error_code(std::errc::is_a_directory).message()
                                               : "expected a regular file, found a device or a pipe");
  std::string content;
  if (status.kind == FileKind::regular) {  // the size is only a hint: files under /proc report 0
    content.reserve(std::min(static_cast<std::size_t>(status.size), max_bytes) + 1);
  }
  constexpr std::size_t kStep = std::size_t{1} << 16;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(std::max(before + kStep, content.capacity()));
    const std::size_t got = file.read(std::span(content).subspan(before));
    content.resize(before + got);
    if (content.size() > max_bytes)
      fail(path, "expected at most " + std::to_string(max_bytes) + " bytes, found more");
    if (got > 0) continue;
    const FileStatus now = file.status();
    if (now.size < status.size)
      fail(path, "expected " + std::to_string(status.size) + " bytes, found only " +
                     std::to_string(now.size) + " (it was truncated while being read)");
    return content;
  }
} catch (const std::system_error& error) {
  fail(path, error.code().message());
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  return content_of(path, max_bytes, system::Open::read, false);
}

std::string read_regular_file(const fs::path& path, std::size_t max_bytes) {
  return content_of(path, max_bytes, system::Open::read_at_once, true);  // a pipe would wait for its writer
}

}  // namespace headscope::model
