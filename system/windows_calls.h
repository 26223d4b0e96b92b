#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "system/file.h"

// What the Windows bodies share.
namespace headscope::system {

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
void* handle_of(const File& file);

/// %VARIABLE%, or nothing.
std::optional<std::string> environment_variable(const std::string& name);

/// The status of what a path leads to; nothing if there is nothing.
std::optional<FileStatus> status_of(const std::filesystem::path& path);

bool is_write_protected(const std::filesystem::path& path);

/// Has an incomplete file deleted when its handle is closed, or no longer. Returns whether that is possible.
bool delete_when_closed(const File& file, bool deleted) noexcept;

/// Renames a file that was opened to be changed, over another. Throws std::system_error.
void rename_open_file(const File& file, const std::filesystem::path& to);

}  // namespace headscope::system
