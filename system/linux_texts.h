#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "system/machine.h"

// What Linux writes into the files under /proc and /sys.
namespace headscope::system {

/// The number of processors in a cgroup v2 `cpu.max` ("150000 100000": 1.5, in microseconds of each period);
/// nothing if there is no limit ("max") or the text is invalid.
std::optional<double> processors_of_quota(std::string_view cpu_max);

/// Memory in bytes, from the text of /proc/meminfo and, if the process's memory is limited, of its control
/// group's memory.max and memory.current ("max" or empty: unlimited).
MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used);

}  // namespace headscope::system
