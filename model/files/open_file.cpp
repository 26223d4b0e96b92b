#include "model/files/open_file.h"

#include <string>
#include <system_error>

#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

[[noreturn]] void fail_to_read(const std::filesystem::path& path, const std::string& why) {
  throw ReadError("cannot read " + system::text_of(path) + ": " + why);
}

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& path) try : path_(path) {
  // So that opening a pipe with that name does not wait forever for its writer.
  file_ = system::File(path, system::Open::read_at_once);
  status_ = file_.status();
  if (status_.kind == system::FileKind::regular) return;
  fail_to_read(path, status_.kind == system::FileKind::folder
                         ? "expected a file, found a directory"
                         : "expected a regular file, found a device or a pipe");
} catch (const std::system_error& error) {
  fail_to_read(path, error.code().message());
}

void OpenFile::read(std::uint64_t offset, std::span<std::byte> out) const try {
  while (!out.empty()) {
    const std::size_t got = file_.read_at(offset, out);
    if (got == 0)
      fail_to_read(path_, "expected " + std::to_string(size()) + " bytes, found only " +
                              std::to_string(offset) + " (it was truncated while open)");
    offset += got;
    out = out.subspan(got);
  }
  if (file_.status().written != status_.written)
    fail_to_read(path_, "it has changed since it was opened; open it again");
} catch (const std::system_error& error) {
  fail_to_read(path_, error.code().message());
}

}  // namespace headscope::model
