#pragma once
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "system/file.h"

// What the bodies share.
namespace headscope::system {

#ifdef _WIN32

std::wstring utf16(std::string_view utf8);
std::string utf8(std::wstring_view utf16);

/// A path as the system takes it whatever its length: absolute, behind `\\?\`.
std::wstring long_path(const std::filesystem::path& path);

/// GetLastError: where C++ has a name for it, the error that Linux would report.
std::error_code last_error();
std::error_code windows_error(unsigned long number);

/// Throws std::system_error.
[[noreturn]] void fail_with_last_error();
[[noreturn]] void fail(std::errc error);

/// What CreateFileW returned, which is -1 on failure.
inline void* handle_of(const File& file) {
  return reinterpret_cast<void*>(file.handle());
}

/// Has an incomplete file deleted when its handle is closed, or no longer. Returns whether that is possible.
bool delete_when_closed(const File& file, bool deleted) noexcept;

/// Renames a file that was opened to be changed, over another. Throws std::system_error.
void rename_open_file(const File& file, const std::filesystem::path& to);

#else

/// Throws std::system_error for a value of errno.
[[noreturn]] void fail(int error);

/// open(2) with O_CLOEXEC, repeated when a signal interrupts it, as can happen with a pipe or a file on a
/// network. Throws std::system_error.
int open_descriptor(const std::filesystem::path& path, int flags);

inline int number(const File& file) {
  return static_cast<int>(file.handle());
}

/// The folders in a list such as $PATH, without relative ones.
std::vector<std::filesystem::path> folders_in(const std::string& list);

#endif

}  // namespace headscope::system
