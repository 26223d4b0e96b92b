#include "system/machine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "system/calls.h"

#ifdef _WIN32
#include <windows.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// What follows the colon in a row such as "MemTotal:  16303348 kB"; empty if the row is missing.
std::string row_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':', name.size());
    if (line.starts_with(name) && colon != line.npos)
      return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

#ifndef _WIN32

// Files under /proc and /sys are Linux's; elsewhere they are missing, which limits nothing.
constexpr const char* kGroups = "/sys/fs/cgroup";

/// The content of a file; empty if it cannot be read.
std::string contents_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The folder of this process's control group (version 2), whose row in the list of groups begins with "0::".
fs::path control_group() {
  return kGroups + row_of(contents_of("/proc/self/cgroup"), "0:");
}

#endif

/// The processors in the affinity mask.
int allowed_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);  // else they do not fit in the set
#endif
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

double processors_of_quota(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  double quota = 0, period = 0;
  const bool is_limited = words >> quota >> period && quota > 0 && period > 0;
  return is_limited ? quota / period : std::numeric_limits<double>::infinity();
}

int available_processors() {
  double count = allowed_processors();
#ifdef _WIN32
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION limit{};
  constexpr DWORD kHard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  // The share of the machine that a job, such as a container's, has, in hundredths of a percent.
  if (::QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &limit, sizeof limit,
                                  nullptr) &&
      (limit.ControlFlags & kHard) == kHard)
    count = std::min(count, limit.CpuRate / 10'000.0 * ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
#else
  // Of the group and those it is in (version 2), or of the group that a container shows (version 1).
  const fs::path root = kGroups;
  for (fs::path group = control_group(); group != root.parent_path(); group = group.parent_path())
    count = std::min(count, processors_of_quota(contents_of(group / "cpu.max")));
  count = std::min(count, processors_of_quota(contents_of(root / "cpu/cpu.cfs_quota_us") + " " +
                                              contents_of(root / "cpu/cpu.cfs_period_us")));
#endif
  return std::max(1, static_cast<int>(std::ceil(count)));
}

std::string processor_name() {
#ifdef _WIN32
  wchar_t name[128] = {};
  DWORD bytes = sizeof name - sizeof(wchar_t);
  ::RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                 L"ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes);
  std::string text = utf8(name);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
#else
  return row_of(contents_of("/proc/cpuinfo"), "model name");
#endif
}

MemoryFacts memory_facts(const std::string& meminfo, const std::string& limit, const std::string& used) {
  // 0 for "max" or anything else that is no number.
  const auto number = [](const std::string& text) -> std::uint64_t {
    return std::strtoull(text.c_str(), nullptr, 10);
  };
  const MemoryFacts machine{1024 * number(row_of(meminfo, "MemTotal")),
                            1024 * number(row_of(meminfo, "MemAvailable"))};
  const std::uint64_t most = number(limit);
  if (most == 0 || (machine.all != 0 && most >= machine.all)) return machine;
  const std::uint64_t left = most - std::min(most, number(used));
  return {most, machine.free == 0 ? left : std::min(machine.free, left)};
}

MemoryFacts memory_here() {
#ifdef _WIN32
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!::GlobalMemoryStatusEx(&status)) return {};
  return {status.ullTotalPhys, status.ullAvailPhys};
#else
  const fs::path group = control_group();
  return memory_facts(contents_of("/proc/meminfo"), contents_of(group / "memory.max"),
                      contents_of(group / "memory.current"));
#endif
}

bool is_windows() {
#ifdef _WIN32
  return true;
#else
  return false;
#endif
}

fs::path executable() {
  std::error_code error;
#ifdef _WIN32
  std::wstring name(32768, L'\0');  // the longest that there is
  const DWORD length = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  if (length == 0) error = last_error();
  name.resize(length);
  fs::path program = std::move(name);
#else
  fs::path program = fs::read_symlink("/proc/self/exe", error);
#endif
  if (error) throw std::runtime_error("cannot locate this program: " + error.message());
  return program;
}

}  // namespace headscope::system
