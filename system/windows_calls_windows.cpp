#include "system/windows_calls.h"

#include <windows.h>

namespace headscope::system {
namespace {

std::errc errc_of(DWORD number) {
  switch (number) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_DRIVE:
      return std::errc::no_such_file_or_directory;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD:
    case ERROR_DELETE_PENDING:
      return std::errc::permission_denied;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return std::errc::file_exists;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return std::errc::no_space_on_device;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED:
      return std::errc::broken_pipe;
    case ERROR_INVALID_HANDLE:
      return std::errc::bad_file_descriptor;
    case ERROR_WRITE_PROTECT:
      return std::errc::read_only_file_system;
    case ERROR_DIRECTORY:
      return std::errc::not_a_directory;
    case ERROR_DIR_NOT_EMPTY:
      return std::errc::directory_not_empty;
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_BUFFER_OVERFLOW:
      return std::errc::filename_too_long;
    case ERROR_FILE_TOO_LARGE:
      return std::errc::file_too_large;
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_PARAMETER:
    case ERROR_NEGATIVE_SEEK:
      return std::errc::invalid_argument;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return std::errc::not_enough_memory;
    case ERROR_TOO_MANY_OPEN_FILES:
      return std::errc::too_many_files_open;
    case ERROR_CANT_RESOLVE_FILENAME:
      return std::errc::too_many_symbolic_link_levels;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION:
      return std::errc::not_supported;
    case ERROR_CRC:
    case ERROR_READ_FAULT:
    case ERROR_WRITE_FAULT:
    case ERROR_IO_DEVICE:
      return std::errc::io_error;
    default:
      return {};
  }
}

}  // namespace

std::wstring utf16(std::string_view utf8) {
  const int bytes = static_cast<int>(utf8.size());
  std::wstring text(
      static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, nullptr, 0)), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, text.data(), static_cast<int>(text.size()));
  return text;
}

std::string utf8(std::wstring_view utf16) {
  const int units = static_cast<int>(utf16.size());
  std::string text(static_cast<std::size_t>(
                       ::WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, nullptr, 0, nullptr, nullptr)),
                   '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, text.data(), static_cast<int>(text.size()), nullptr,
                        nullptr);
  return text;
}

std::wstring long_path(const std::filesystem::path& path) {
  const std::wstring given = path.native();
  if (given.empty() || given.starts_with(L"\\\\?\\") || given.starts_with(L"\\\\.\\")) return given;
  const DWORD room = ::GetFullPathNameW(given.c_str(), 0, nullptr, nullptr);
  std::wstring full(room, L'\0');
  const DWORD length = ::GetFullPathNameW(given.c_str(), room, full.data(), nullptr);
  if (length == 0 || length >= room) return given;
  full.resize(length);
  if (full.starts_with(L"\\\\.\\")) return full;  // a device, such as NUL
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
  return L"\\\\?\\" + full;
}

std::error_code windows_error(unsigned long number) {
  if (const std::errc known = errc_of(number); known != std::errc{}) return std::make_error_code(known);
  return {static_cast<int>(number), std::system_category()};
}

std::error_code last_error() {
  return windows_error(::GetLastError());
}

void fail_with_last_error() {
  throw std::system_error(last_error());
}

void fail(std::errc error) {
  throw std::system_error(std::make_error_code(error));
}

void* handle_of(const File& file) {
  return reinterpret_cast<void*>(file.handle());
}

std::optional<std::string> environment_variable(const std::string& name) {
  const std::wstring wide = utf16(name);
  std::wstring value(::GetEnvironmentVariableW(wide.c_str(), nullptr, 0), L'\0');
  const DWORD length =
      value.empty() ? 0
                    : ::GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
  if (length == 0 || length >= value.size()) return std::nullopt;
  value.resize(length);
  return utf8(value);
}

}  // namespace headscope::system
