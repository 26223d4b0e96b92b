#pragma once
#include <cstdint>

struct stat;  // the system's

// What the POSIX bodies need and POSIX lacks, or leaves to a system to do better. Functions that return an
// int return errno, or 0.
namespace headscope::system {

/// Reserves the first `size` bytes of a file on the disk.
int reserve_space(int descriptor, std::int64_t size);

/// Waits until a file's content is on the disk.
int sync_to_disk(int descriptor);

/// When a file was last written, in nanoseconds.
std::int64_t modification_time(const struct stat& status);

}  // namespace headscope::system
