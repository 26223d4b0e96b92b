#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace headscope::system {

/// The number of processors this process may use: those in its affinity mask, limited by the quota of its
/// control group or job, rounded up. At least 1.
int available_processors();

/// As the maker calls it; empty if unknown.
std::string processor_name();

/// In bytes; 0: unknown.
struct MemoryFacts {
  std::uint64_t all = 0;
  std::uint64_t free = 0;  ///< what the process can still have; 0 also if only this is unknown
};
/// The machine's memory or, if it is limited, that of the process's control group.
MemoryFacts memory_here();

/// Whether this system is Windows, else Linux or like it: for words that users read.
bool is_windows();

/// The file of the running program, symbolic links resolved. Throws std::runtime_error (one sentence).
std::filesystem::path executable();

// How the files that Linux has under /proc and /sys are read.

/// The number of processors in a control group's `cpu.max` ("150000 100000": 1.5, in microseconds of each
/// period); infinite if there is no limit ("max") or the text is invalid.
double processors_of_quota(const std::string& cpu_max);

/// From the text of /proc/meminfo and, if the process's memory is limited, of its control group's memory.max
/// and memory.current ("max" or empty: unlimited).
MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used);

}  // namespace headscope::system
