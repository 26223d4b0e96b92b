#include "system/atomic_file.h"

#include <unistd.h>

#include <stdexcept>
#include <string>

#include "system/calls.h"
#include "system/path_text.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#endif

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// Takes a step of writing `path`, whose failure becomes a sentence.
template <typename Step>
void with_error_prefix(const fs::path& path, const Step& step) {
  try {
    step();
  } catch (const std::system_error& error) {
    throw std::runtime_error("cannot write " + text_of(path) + ": " + error.code().message());
  }
}

#ifdef _WIN32

/// Whether a path is CON, NUL, \\.\pipe\x or similar, which are written directly.
bool names_a_device(const fs::path& path) {
  return long_path(path).starts_with(L"\\\\.\\");
}

/// Throws if a file may not be written, which a rename over it does not ask.
void check_writable(const fs::path& path) {
  const DWORD attributes = ::GetFileAttributesW(long_path(path).c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY))
    fail(std::errc::permission_denied);
}

#else

/// Whether a path leads to what a process has open. /dev/stdout may be a regular file, but the user did not
/// mean to replace that file.
bool names_a_device(const fs::path& path) {
  const std::string text = text_of(path.lexically_normal());
  return text == "/dev/stdout" || text == "/dev/stderr" || text.starts_with("/dev/fd/") ||
         text.starts_with("/proc/");
}

/// Throws if a file may not be written, which a rename over it does not ask.
void check_writable(const fs::path& path) {
  if (::access(path.c_str(), W_OK) != 0) fail(errno);
}

fs::path descriptor_path(const File& file) {
  return "/proc/self/fd/" + std::to_string(file.handle());
}

/// A new file without a name, next to `goal`, so that nothing is left when the program is killed. Closed
/// where the system or the file system has no such files.
File nameless_file([[maybe_unused]] const fs::path& goal) {
#ifdef O_TMPFILE
  try {
    const fs::path folder = goal.has_parent_path() ? goal.parent_path() : ".";
    File file = File::owned(open_descriptor(folder, O_TMPFILE | O_RDWR));
    if (is_there(descriptor_path(file))) return file;  // without /proc it could never be given a name
  } catch (const std::system_error&) {
  }
#endif
  return {};
}

/// Gives a nameless file a name that no file has. Returns errno, or 0.
int link_as(const fs::path& name, const File& file) {
  const fs::path source = descriptor_path(file);
  return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/// Makes a new name durable. The file is complete even if this fails.
void sync_folder(const fs::path& folder) {
  try {
    File::owned(open_descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY)).sync();
  } catch (const std::system_error&) {
  }
}

#endif

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path), goal_(path) {
  with_error_prefix(path_, [&] { open(); });
}

AtomicFile::~AtomicFile() {
  file_ = File();
  if (!temporary_.empty()) remove_file(temporary_);
}

void AtomicFile::open() {
  direct_ = names_a_device(path_);
  if (!direct_) {
    if (const auto target = link_target(path_)) goal_ = *target;
    const auto kind = kind_at(goal_);
    if (kind == FileKind::folder) throw std::system_error(std::make_error_code(std::errc::is_a_directory));
    if (kind) check_writable(goal_);
    direct_ = kind == FileKind::other;
  }
  if (direct_) {
    file_ = File(goal_, Open::write);
  } else {
    create();
  }
}

fs::path AtomicFile::beside(int attempt) const {
  return goal_.parent_path() /
         (".headscope-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part");
}

void AtomicFile::create_named() {
  for (int attempt = 0; !file_.is_open(); ++attempt) {
    const fs::path name = beside(attempt);
    try {
      file_ = File(name, Open::create);
      temporary_ = name;
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::file_exists) throw;
    }
  }
}

#ifdef _WIN32

void AtomicFile::create() {
  create_named();
  delete_when_closed(file_, true);  // even if the process is killed
}

void AtomicFile::put_in_place() {
  delete_when_closed(file_, false);
  rename_open_file(file_, goal_);
  temporary_.clear();
  file_.close();
}

#else

void AtomicFile::create() {
  file_ = nameless_file(goal_);
  if (!file_.is_open()) create_named();
  std::error_code missing;
  if (const auto old = fs::status(goal_, missing); fs::exists(old))
    static_cast<void>(::fchmod(number(file_), static_cast<mode_t>(old.permissions())));  // best effort
}

void AtomicFile::put_in_place() {
  if (temporary_.empty()) {
    // Directly if it replaces nothing: then it never has another name. To replace a file, it needs a
    // temporary one.
    fs::path name = goal_;
    int error = link_as(name, file_);
    for (int attempt = 0; error == EEXIST; ++attempt) error = link_as(name = beside(attempt), file_);
    if (error != 0) fail(error);
    temporary_ = name;
  }
  file_.close();
  rename_over(temporary_, goal_);
  temporary_.clear();
  sync_folder(goal_.parent_path());
}

#endif

void AtomicFile::append(std::string_view bytes) {
  with_error_prefix(path_, [&] { file_.write(bytes); });
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  with_error_prefix(path_, [&] { file_.write_at(offset, bytes); });
}

void AtomicFile::resize(std::uint64_t size) {
  if (direct_) return;  // a device or a pipe has no size
  with_error_prefix(path_, [&] {
    file_.reserve(size);
    file_.resize(size);
  });
}

void AtomicFile::commit() {
  with_error_prefix(path_, [&] {
    if (direct_) return file_.close();
    file_.sync();
    put_in_place();
  });
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot create the folder " + text_of(folder) + ": " + error.message());
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

}  // namespace headscope::system
