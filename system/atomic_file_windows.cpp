#include "system/atomic_file.h"
#include "system/windows_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// CON, NUL, \\.\pipe\x and similar names, which are written directly.
bool names_a_device(const fs::path& path) {
  return long_path(path).starts_with(L"\\\\.\\");
}

}  // namespace

void AtomicFile::open() {
  const bool device = names_a_device(path_);
  if (const auto target = link_target(path_)) goal_ = *target;
  if (device) {
    direct_ = true;
    file_ = File(goal_, Open::write);
    return;
  }
  const auto status = status_of(goal_);
  if (status && status->kind == FileKind::folder) system::fail(std::errc::is_a_directory);
  if (status && is_write_protected(goal_))
    system::fail(std::errc::permission_denied);  // a rename replaces it
  open_named();
  delete_when_closed(file_, true);  // even if the process is killed
}

void AtomicFile::put_in_place() {
  delete_when_closed(file_, false);
  rename_open_file(file_, goal_);
  temporary_.clear();
  file_.close();
}

}  // namespace headscope::system
