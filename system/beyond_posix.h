#pragma once
#include <cstdint>

// What POSIX lacks, or leaves to a system to do better.
namespace headscope::system {

/// Reserves the first `size` bytes of a file on the disk. Returns errno, or 0.
int reserve_space(int descriptor, std::int64_t size);

}  // namespace headscope::system
