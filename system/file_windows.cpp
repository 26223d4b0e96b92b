#include <windows.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "system/calls.h"
#include "system/console.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // a call counts bytes in 32 bits

/// What CreateFileW is told.
struct Opening {
  DWORD access, disposition, flags;
};

Opening opening_of(Open how) {
  constexpr DWORD kChange = GENERIC_READ | GENERIC_WRITE | DELETE;
  switch (how) {
    case Open::write:
      return {GENERIC_WRITE, OPEN_EXISTING, 0};
    case Open::change:
      return {kChange, OPEN_ALWAYS, 0};
    case Open::change_no_link:
      return {kChange, OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT};
    case Open::create:
      return {kChange, CREATE_NEW, 0};
    default:  // folders, too, whose status is asked
      return {GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS};
  }
}

/// Opens a path so that others may read, write, rename and delete it meanwhile, as on Linux.
File::Handle open_handle(const fs::path& path, const Opening& opening) {
  if (path.empty()) fail(std::errc::no_such_file_or_directory);
  const HANDLE handle = ::CreateFileW(long_path(path).c_str(), opening.access,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                      opening.disposition, opening.flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail_with_last_error();
  return reinterpret_cast<File::Handle>(handle);
}

OVERLAPPED place_of(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

DWORD length_of(std::size_t bytes) {
  return static_cast<DWORD>(std::min(bytes, kMostAtOnce));
}

/// A line that a person types, in UTF-8: the system's own conversion loses what is beyond ASCII. `out` may be
/// short: a UTF-16 unit takes up to 3 bytes.
std::size_t read_from_console(HANDLE handle, std::span<char> out) {
  std::vector<wchar_t> typed(std::clamp<std::size_t>(out.size() / 3, 1, 4096));
  // A pair of units stays together, so room for its second half is kept.
  const DWORD most = static_cast<DWORD>(std::max<std::size_t>(typed.size() - 1, 1));
  DWORD units = 0;
  if (!::ReadConsoleW(handle, typed.data(), most, &units, nullptr)) fail_with_last_error();
  if (units > 0 && units < typed.size() && IS_HIGH_SURROGATE(typed[units - 1])) {
    DWORD second = 0;
    if (::ReadConsoleW(handle, typed.data() + units, 1, &second, nullptr)) units += second;
  }
  constexpr wchar_t kEnd = 0x1a;  // Ctrl+Z
  if (units > 0 && typed[0] == kEnd) return 0;
  const std::string text = utf8({typed.data(), units});
  const std::size_t count = std::min(text.size(), out.size());
  std::memcpy(out.data(), text.data(), count);
  return count;
}

/// Reads at `place`, or where the last call ended; returns how many bytes, 0 at the end.
std::size_t read_some(const File& file, void* out, std::size_t size, OVERLAPPED* place) {
  DWORD got = 0;
  if (::ReadFile(handle_of(file), out, length_of(size), &got, place)) return got;
  const std::error_code error = last_error();
  if (error == std::errc::broken_pipe || ::GetLastError() == ERROR_HANDLE_EOF) return 0;
  if (file.status().kind == FileKind::folder) fail(std::errc::is_a_directory);
  throw std::system_error(error);
}

/// Writes all bytes from `offset` on, or where the last call ended.
void write_all(HANDLE handle, const char* bytes, std::size_t size, std::optional<std::uint64_t> offset) {
  for (std::size_t done = 0; done < size;) {
    OVERLAPPED place = place_of(offset.value_or(0) + done);
    DWORD written = 0;
    if (!::WriteFile(handle, bytes + done, length_of(size - done), &written, offset ? &place : nullptr))
      fail_with_last_error();
    if (written == 0) fail(std::errc::no_space_on_device);
    done += written;
  }
}

/// `size` as the system counts. Throws std::system_error.
LARGE_INTEGER large(std::uint64_t size) {
  LARGE_INTEGER result{};
  if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    fail(std::errc::file_too_large);
  result.QuadPart = static_cast<std::int64_t>(size);
  return result;
}

template <typename Info>
bool set_information(HANDLE handle, FILE_INFO_BY_HANDLE_CLASS kind, Info& info) {
  return ::SetFileInformationByHandle(handle, kind, &info, sizeof info) != 0;
}

}  // namespace

File::File(const fs::path& path, Open how) : handle_(open_handle(path, opening_of(how))) {
  if (how != Open::change_no_link) return;
  BY_HANDLE_FILE_INFORMATION facts{};
  if (::GetFileInformationByHandle(handle_of(*this), &facts) &&
      (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
    ::CloseHandle(handle_of(*this));
    fail(std::errc::too_many_symbolic_link_levels);
  }
}

File::~File() {
  if (is_open() && !borrowed_) ::CloseHandle(handle_of(*this));
}

FileStatus File::status() const {
  const HANDLE handle = handle_of(*this);
  if (::GetFileType(handle) != FILE_TYPE_DISK) return {};
  // Not GetFileInformationByHandle, which also looks up the volume: models ask after each piece that they
  // read, and that took longer than reading it.
  FILE_BASIC_INFO times{};
  FILE_STANDARD_INFO sizes{};
  if (!::GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times) ||
      !::GetFileInformationByHandleEx(handle, FileStandardInfo, &sizes, sizeof sizes))
    fail_with_last_error();
  const auto size = sizes.Directory ? 0 : static_cast<std::uint64_t>(sizes.EndOfFile.QuadPart);
  return {sizes.Directory ? FileKind::folder : FileKind::regular, size,
          times.LastWriteTime.QuadPart * 100};  // of 100 nanoseconds
}

std::size_t File::read(std::span<char> out) const {
  return is_terminal(*this) ? read_from_console(handle_of(*this), out)
                            : read_some(*this, out.data(), out.size(), nullptr);
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  OVERLAPPED place = place_of(offset);
  return read_some(*this, out.data(), out.size(), &place);
}

void File::write(std::string_view bytes) const {
  write_all(handle_of(*this), bytes.data(), bytes.size(), std::nullopt);
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  write_all(handle_of(*this), reinterpret_cast<const char*>(bytes.data()), bytes.size(), offset);
}

void File::resize(std::uint64_t size) const {
  FILE_END_OF_FILE_INFO end{large(size)};
  if (!set_information(handle_of(*this), FileEndOfFileInfo, end)) fail_with_last_error();
}

void File::reserve(std::uint64_t size) const {
  FILE_ALLOCATION_INFO room{large(size)};
  if (set_information(handle_of(*this), FileAllocationInfo, room)) return;
  if (const std::error_code error = last_error(); error == std::errc::no_space_on_device)
    throw std::system_error(error);
}

void File::sync() const {
  // Consoles and pipes have nothing to sync.
  if (!::FlushFileBuffers(handle_of(*this)) && ::GetFileType(handle_of(*this)) == FILE_TYPE_DISK)
    fail_with_last_error();
}

void File::close() {
  const HANDLE handle = handle_of(*this);
  handle_ = kNone;
  if (std::exchange(borrowed_, false)) return;
  if (!::CloseHandle(handle)) fail_with_last_error();
}

bool File::try_lock() const {
  // The first byte, as Python's msvcrt.locking does in Hugging Face's library. A process that holds it
  // already must not wait for itself, so that only a lock of another handle is refused.
  OVERLAPPED place{};
  return ::LockFileEx(handle_of(*this), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                      &place) ||
         ::GetLastError() != ERROR_LOCK_VIOLATION;
}

bool File::is_at(const fs::path& path) const {
  try {
    const File other(path, Open::read);
    BY_HANDLE_FILE_INFORMATION own{}, named{};
    return ::GetFileInformationByHandle(handle_of(*this), &own) &&
           ::GetFileInformationByHandle(handle_of(other), &named) &&
           own.dwVolumeSerialNumber == named.dwVolumeSerialNumber &&
           own.nFileIndexHigh == named.nFileIndexHigh && own.nFileIndexLow == named.nFileIndexLow;
  } catch (const std::system_error&) {
    return false;
  }
}

std::optional<FileKind> kind_at(const fs::path& path) noexcept {
  try {
    constexpr Opening kToAsk{0, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS};
    return File::owned(open_handle(path, kToAsk)).status().kind;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// The C++ library knows no links here.
std::optional<fs::path> link_target(const fs::path& path) {
  const DWORD attributes = ::GetFileAttributesW(long_path(path).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
    return std::nullopt;
  try {
    const File file(path, Open::read);
    std::wstring name(32768, L'\0');  // the longest that there is
    const DWORD length =
        ::GetFinalPathNameByHandleW(handle_of(file), name.data(), static_cast<DWORD>(name.size()),
                                    FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (length == 0 || length >= name.size()) return std::nullopt;
    name.resize(length);
    constexpr std::wstring_view kLong = L"\\\\?\\", kShare = L"\\\\?\\UNC\\";
    if (name.starts_with(kShare)) return L"\\\\" + name.substr(kShare.size());
    return name.starts_with(kLong) ? name.substr(kLong.size()) : name;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

bool delete_when_closed(const File& file, bool deleted) noexcept {
  FILE_DISPOSITION_INFO info{};
  info.DeleteFile = deleted;
  return set_information(handle_of(file), FileDispositionInfo, info);
}

// As POSIX does, so that what has the new name is gone from it at once even if it is open; or, where the file
// system cannot do that, over a file that is not open.
void rename_open_file(const File& file, const fs::path& to) {
  const std::wstring name = long_path(to);
  const std::size_t bytes = name.size() * sizeof(wchar_t);
  std::vector<std::byte> memory(sizeof(FILE_RENAME_INFO) + bytes);
  auto* const info = reinterpret_cast<FILE_RENAME_INFO*>(memory.data());
  info->FileNameLength = static_cast<DWORD>(bytes);
  std::memcpy(info->FileName, name.data(), bytes);
  const auto rename = [&](FILE_INFO_BY_HANDLE_CLASS kind) {
    return ::SetFileInformationByHandle(handle_of(file), kind, info, static_cast<DWORD>(memory.size())) != 0;
  };
  constexpr DWORD kReplace = 1, kPosix = 2, kIgnoreReadOnly = 0x40;
  constexpr auto kFileRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  info->Flags = kReplace | kPosix | kIgnoreReadOnly;
  if (rename(kFileRenameInfoEx)) return;
  info->Flags = 0;
  info->ReplaceIfExists = TRUE;
  if (rename(FileRenameInfo)) return;
  const std::error_code error = last_error();
  // Linux tells a folder in its way from a lack of permission.
  if (error == std::errc::permission_denied && is_folder(to)) fail(std::errc::is_a_directory);
  throw std::system_error(error);
}

void rename_over(const fs::path& from, const fs::path& to) {
  // The link itself, not what it leads to.
  constexpr Opening kToRename{DELETE | SYNCHRONIZE, OPEN_EXISTING,
                              FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS};
  rename_open_file(File::owned(open_handle(from, kToRename)), to);
}

void remove_file(const fs::path& path) noexcept {
  try {
    ::DeleteFileW(long_path(path).c_str());
  } catch (const std::exception&) {  // no memory for the path
  }
}

void make_link(const fs::path& target, const fs::path& link) {
  const std::wstring name = long_path(link);
  const std::wstring words = fs::path(target).make_preferred().native();
  const auto is_there = [&] { return ::GetFileAttributesW(name.c_str()) != INVALID_FILE_ATTRIBUTES; };
  if (is_there()) fail(std::errc::file_exists);
  constexpr DWORD kUnprivileged = 2;  // for developers; others lack the right, and Wine only says that it did
  if (::CreateSymbolicLinkW(name.c_str(), words.c_str(), kUnprivileged) && is_there()) return;
  const std::wstring whole_target = long_path(link.parent_path() / target);
  if (!::CreateHardLinkW(name.c_str(), whole_target.c_str(), nullptr)) fail_with_last_error();
}

}  // namespace headscope::system
