#include "system/machine.h"

#include <windows.h>

// These need it.
#include <psapi.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <thread>

#include "system/windows_calls.h"

namespace headscope::system {
namespace {

/// The processors of this process's affinity mask, which covers one group of up to 64; of all groups where
/// the process has more than one.
int processors_of_affinity() {
  USHORT groups = 0;
  ::GetProcessGroupAffinity(::GetCurrentProcess(), &groups, nullptr);
  DWORD_PTR own = 0, machine = 0;
  if (groups <= 1 && ::GetProcessAffinityMask(::GetCurrentProcess(), &own, &machine) && own != 0)
    return std::popcount(own);
  return static_cast<int>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
}

/// The share of the machine that a job object, such as a container's, limits this process to.
int limited_by_job(int count) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION limit{};
  constexpr DWORD kHard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if (!::QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &limit, sizeof limit,
                                   nullptr) ||
      (limit.ControlFlags & kHard) != kHard)
    return count;
  const double machine = ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  const double share = limit.CpuRate / 10'000.0 * machine;  // the rate is in hundredths of a percent
  return std::clamp(static_cast<int>(share + 0.999), 1, count);
}

}  // namespace

int available_processors() {
  return limited_by_job(std::max(1, processors_of_affinity()));
}

std::string processor_name() {
  wchar_t name[128] = {};
  DWORD bytes = sizeof name - sizeof(wchar_t);
  if (::RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                     L"ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes) != ERROR_SUCCESS)
    return {};
  std::string text = utf8(name);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

MemoryFacts memory_here() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!::GlobalMemoryStatusEx(&status)) return {};
  return {status.ullTotalPhys, status.ullAvailPhys};
}

double peak_memory_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  if (!::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters)) return 0;
  return static_cast<double>(counters.PeakWorkingSetSize);
}

bool is_windows() {
  return true;
}

std::uint64_t process_id() {
  return ::GetCurrentProcessId();
}

std::filesystem::path executable() {
  std::wstring name(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    if (length == 0) throw std::runtime_error("cannot locate this program: " + last_error().message());
    if (length < name.size()) {
      name.resize(length);
      break;
    }
    name.resize(2 * name.size());
  }
  std::error_code ignored;
  std::filesystem::path resolved = std::filesystem::canonical(name, ignored);
  return ignored ? std::filesystem::path(name) : resolved;
}

}  // namespace headscope::system
