#include "system/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "system/linux_texts.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGroupFolder = "/sys/fs/cgroup";

/// The content of a file; empty if it cannot be read.
std::string contents_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// This process's control group (v2), relative to kGroupFolder; nothing if there is none.
std::optional<fs::path> control_group() {
  std::istringstream groups(contents_of("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) return line.substr(4);
  return std::nullopt;
}

/// The smallest quota of this process's control group and its ancestors (v2), or of the group that a
/// container shows (v1).
std::optional<double> group_quota() {
  std::optional<double> least;
  const auto take = [&](const std::string& cpu_max) {
    if (const auto quota = processors_of_quota(cpu_max)) least = std::min(least.value_or(*quota), *quota);
  };
  if (const auto own = control_group()) {
    for (fs::path group = *own;; group = group.parent_path()) {
      take(contents_of(fs::path(kGroupFolder) / group / "cpu.max"));
      if (group.empty()) break;
    }
  }
  take(contents_of(fs::path(kGroupFolder) / "cpu/cpu.cfs_quota_us") + " " +
       contents_of(fs::path(kGroupFolder) / "cpu/cpu.cfs_period_us"));
  return least;
}

int processors_of_affinity() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more processors than fit in the set
}

}  // namespace

int available_processors() {
  int count = std::max(1, processors_of_affinity());
  if (const auto quota = group_quota())
    count = std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, count);
  return count;
}

std::string processor_name() {
  std::istringstream lines(contents_of("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

MemoryFacts memory_here() {
  const fs::path group = fs::path(kGroupFolder) / control_group().value_or("");
  return memory_facts(contents_of("/proc/meminfo"), contents_of(group / "memory.max"),
                      contents_of(group / "memory.current"));
}

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

fs::path executable() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw std::runtime_error("cannot locate this program (/proc/self/exe): " + error.message());
  return program;
}

}  // namespace headscope::system
