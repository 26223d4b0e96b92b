#pragma once
#include <optional>
#include <string_view>

namespace headscope::model {

/// The number of processors this process may use: those in its affinity mask, limited by the quota of its
/// control group, rounded up. At least 1.
int available_processors();

/// The number of processors in a cgroup v2 `cpu.max` ("150000 100000": 1.5, in microseconds of each period);
/// nothing if there is no limit ("max") or the text is invalid.
std::optional<double> processors_of_quota(std::string_view cpu_max);

}  // namespace headscope::model
