#include "system/machine.h"

#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <sys/resource.h>
#include <sys/sysctl.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// A number that the kernel tells by name; 0: none.
std::uint64_t number_named(const char* name) {
  std::uint64_t value = 0;
  std::size_t size = sizeof value;
  return ::sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

/// The memory that can be had without writing any of it to the disk.
std::uint64_t free_memory() {
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  vm_size_t size = 0;
  const mach_port_t host = ::mach_host_self();
  const bool known = ::host_page_size(host, &size) == KERN_SUCCESS &&
                     ::host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages),
                                         &count) == KERN_SUCCESS;
  ::mach_port_deallocate(::mach_task_self(), host);
  return known ? (std::uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) * size : 0;
}

}  // namespace

// Apple's systems have neither affinity nor quotas.
int available_processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string processor_name() {
  char name[256] = {};
  std::size_t size = sizeof name - 1;
  return ::sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0 ? name : "";
}

MemoryFacts memory_here() {
  const std::uint64_t all = number_named("hw.memsize");
  return {all, std::min(all, free_memory())};
}

double peak_memory_bytes() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<double>(usage.ru_maxrss) : 0;  // bytes here
}

bool is_macos() {
  return true;
}

fs::path executable() {
  std::uint32_t size = 0;
  ::_NSGetExecutablePath(nullptr, &size);  // fails, and says how long the path is
  std::string path(size, '\0');
  if (::_NSGetExecutablePath(path.data(), &size) != 0)
    throw std::runtime_error("cannot locate this program (_NSGetExecutablePath)");
  std::error_code error;
  fs::path program = fs::canonical(path.c_str(), error);
  if (error) throw std::runtime_error("cannot locate this program (" + path + "): " + error.message());
  return program;
}

}  // namespace headscope::system
