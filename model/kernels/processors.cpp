#include "model/kernels/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The smallest quota of this process's control group and its ancestors (v2), or of the group that a
/// container shows (v1).
std::optional<double> group_quota() {
  const fs::path root = "/sys/fs/cgroup";
  std::optional<double> least;
  const auto take = [&](const std::string& cpu_max) {
    if (const auto quota = processors_of_quota(cpu_max)) least = std::min(least.value_or(*quota), *quota);
  };
  std::istringstream groups(text_of("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (fs::path group = line.substr(4);; group = group.parent_path()) {
      take(text_of(root / group / "cpu.max"));
      if (group.empty()) break;
    }
  }
  take(text_of(root / "cpu/cpu.cfs_quota_us") + " " + text_of(root / "cpu/cpu.cfs_period_us"));
  return least;
}

int processors_of_affinity() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more processors than fit in the set
}

}  // namespace

std::optional<double> processors_of_quota(std::string_view cpu_max) {
  std::istringstream words{std::string(cpu_max)};
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

int available_processors() {
  int count = std::max(1, processors_of_affinity());
  if (const auto quota = group_quota())
    count = std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, count);
  return count;
}

}  // namespace headscope::model
