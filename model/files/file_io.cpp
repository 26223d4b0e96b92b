#include "model/files/file_io.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cctype>
#include <cstring>
#include <system_error>

#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using system::FileKind;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw ReadError("cannot read " + system::text_of(path) + ": " + why);
}

[[noreturn]] void fail_as_truncated(const fs::path& path, std::uint64_t expected, std::uint64_t found) {
  fail(path, "expected " + std::to_string(expected) + " bytes, found only " + std::to_string(found) +
                 " (it was truncated while open)");
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes) try {
  const system::File file(path, system::Open::read);
  const system::FileStatus status = file.status();
  const std::uint64_t size = status.kind == FileKind::regular ? status.size : 0;  // files under /proc have 0
  std::string content, piece(std::size_t{1} << 16, '\0');
  if (size <= max_bytes) content.reserve(size);
  while (size <= max_bytes && content.size() <= max_bytes) {
    const std::size_t got = file.read(piece);
    content.append(piece, 0, got);
    if (got > 0) continue;
    if (content.size() < size) fail_as_truncated(path, size, content.size());
    return content;
  }
  fail(path, "expected at most " + std::to_string(max_bytes) + " bytes, found more");
} catch (const std::system_error& error) {
  fail(path, error.code().message());
}

std::uint64_t little_endian(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  assert(bytes.size() <= sizeof(std::uint64_t));
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

OpenFile::OpenFile(const fs::path& path) try : path_(path), file_(path, system::Open::read_at_once) {
  status_ = file_.status();
  if (status_.kind == FileKind::regular) return;
  fail(path, status_.kind == FileKind::folder ? "expected a file, found a directory"
                                              : "expected a regular file, found a device or a pipe");
} catch (const std::system_error& error) {
  std::error_code no_link;
  const fs::path target = fs::read_symlink(path, no_link);
  if (error.code() == std::errc::no_such_file_or_directory && !no_link)
    reject(system::text_of(path), "a file", "a link to " + system::text_of(target) + ", where nothing is");
  fail(path, error.code().message());
}

void OpenFile::read(std::uint64_t offset, std::span<std::byte> out) const try {
  while (!out.empty()) {
    const std::size_t got = file_.read_at(offset, out);
    if (got == 0) fail_as_truncated(path_, size(), offset);
    offset += got;
    out = out.subspan(got);
  }
  if (file_.status().written != status_.written)
    fail(path_, "it has changed since it was opened; open it again");
} catch (const std::system_error& error) {
  fail(path_, error.code().message());
}

std::string OpenFile::text(std::uint64_t offset, std::uint64_t bytes) const {
  std::string text(bytes, '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string read_regular_file(const fs::path& path, std::uint64_t max_bytes) {
  const OpenFile file(path);
  if (file.size() > max_bytes)
    throw LoadError(system::text_of(path) + ": expected at most " + std::to_string(max_bytes) +
                    " bytes, found " + std::to_string(file.size()));
  return file.text(0, file.size());
}

bool has_entry(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::none) fail(path, error.message());
  return fs::exists(status);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  std::ranges::sort(paths);
  return paths;
}

std::string foreign_content(std::string_view start) {
  if (start.starts_with("version https://git-lfs"))
    return "a Git LFS pointer to one; fetch it with `git lfs pull`";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  std::string tag(start.substr(0, std::string_view("<!doctype html").size()));
  std::ranges::transform(tag, tag.begin(), [](unsigned char c) { return std::tolower(c); });
  if (tag == "<!doctype html" || tag.starts_with("<html"))
    return "an HTML page; download the file itself instead of the page that shows it";
  return "";
}

}  // namespace headscope::model
