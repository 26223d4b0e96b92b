#pragma once
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>

#include "system/file.h"
#include "system/folders.h"

struct stat;  // the system's

// What the POSIX bodies share.
namespace headscope::system {

/// Throws std::system_error for a value of errno.
[[noreturn]] void fail(int error);

/// Repeats a call that returns 0 on success for as long as signals interrupt it. Returns errno, or 0.
template <typename Call>
int uninterrupted(const Call& call) {
  while (call() != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// open(2) with O_CLOEXEC, repeated when a signal interrupts it, as can happen with a pipe or a file on a
/// network. Throws std::system_error.
int open_descriptor(const std::filesystem::path& path, int flags);

inline int number(const File& file) {
  return static_cast<int>(file.handle());
}

FileStatus status_of(const struct stat& status);

/// A program in one of the folders of $PATH; nothing if none has it.
std::optional<std::filesystem::path> program_in_path(const Environment& environment, std::string_view name);

}  // namespace headscope::system
