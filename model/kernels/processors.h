#pragma once
#include <optional>
#include <string_view>

namespace headscope::model {

/// How many processors this process may use at a time: those of its affinity mask, and no more than the quota
/// of its control group gives, rounded up. At least 1.
int available_processors();

/// The processors of a cgroup v2 `cpu.max` ("150000 100000": 1.5, in microseconds of each period); nothing:
/// no limit ("max"), or no such text.
std::optional<double> processors_of_quota(std::string_view cpu_max);

}  // namespace headscope::model
