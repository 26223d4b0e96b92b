#include "system/calls.h"

#include <windows.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace headscope::system {
namespace {

/// What C++ calls errors that Linux has, too.
std::errc errc_of(DWORD number) {
  using enum std::errc;
  constexpr std::pair<DWORD, std::errc> kKnown[] = {
      {ERROR_FILE_NOT_FOUND, no_such_file_or_directory},
      {ERROR_PATH_NOT_FOUND, no_such_file_or_directory},
      {ERROR_BAD_NETPATH, no_such_file_or_directory},
      {ERROR_BAD_NET_NAME, no_such_file_or_directory},
      {ERROR_INVALID_DRIVE, no_such_file_or_directory},
      {ERROR_ACCESS_DENIED, permission_denied},
      {ERROR_SHARING_VIOLATION, permission_denied},
      {ERROR_LOCK_VIOLATION, permission_denied},
      {ERROR_PRIVILEGE_NOT_HELD, permission_denied},
      {ERROR_DELETE_PENDING, permission_denied},
      {ERROR_FILE_EXISTS, file_exists},
      {ERROR_ALREADY_EXISTS, file_exists},
      {ERROR_DISK_FULL, no_space_on_device},
      {ERROR_HANDLE_DISK_FULL, no_space_on_device},
      {ERROR_BROKEN_PIPE, broken_pipe},
      {ERROR_NO_DATA, broken_pipe},
      {ERROR_PIPE_NOT_CONNECTED, broken_pipe},
      {ERROR_INVALID_HANDLE, bad_file_descriptor},
      {ERROR_WRITE_PROTECT, read_only_file_system},
      {ERROR_DIRECTORY, not_a_directory},
      {ERROR_FILENAME_EXCED_RANGE, filename_too_long},
      {ERROR_FILE_TOO_LARGE, file_too_large},
      {ERROR_INVALID_NAME, invalid_argument},
      {ERROR_INVALID_PARAMETER, invalid_argument},
      {ERROR_NOT_ENOUGH_MEMORY, not_enough_memory},
      {ERROR_COMMITMENT_LIMIT, not_enough_memory},
      {ERROR_TOO_MANY_OPEN_FILES, too_many_files_open},
      {ERROR_CANT_RESOLVE_FILENAME, too_many_symbolic_link_levels},
      {ERROR_NOT_SUPPORTED, not_supported},
      {ERROR_INVALID_FUNCTION, not_supported},
      {ERROR_CRC, io_error},
      {ERROR_READ_FAULT, io_error},
      {ERROR_WRITE_FAULT, io_error},
      {ERROR_IO_DEVICE, io_error},
  };
  const auto* const known = std::ranges::find(kKnown, number, &std::pair<DWORD, std::errc>::first);
  return known == std::end(kKnown) ? std::errc{} : known->second;
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

}  // namespace headscope::system
