// A system of which no more is known than what all have: neither quotas nor a processor's name.
#include "system/machine.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "system/folders.h"
#include "system/path_text.h"
#include "system/posix_calls.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;

/// So many pages of memory in bytes; 0: unknown.
[[maybe_unused]] std::uint64_t bytes_of(long pages) {
  const long size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

}  // namespace

int available_processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string processor_name() {
  return {};
}

MemoryFacts memory_here() {
  MemoryFacts facts;
#ifdef _SC_PHYS_PAGES  // most have these, which POSIX does not know
  facts.all = bytes_of(::sysconf(_SC_PHYS_PAGES));
#endif
#ifdef _SC_AVPHYS_PAGES
  facts.free = bytes_of(::sysconf(_SC_AVPHYS_PAGES));
#endif
  return facts;
}

double peak_memory_bytes() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<double>(usage.ru_maxrss) * 1024 : 0;
}

// The dynamic linker knows the program by the word that started it.
fs::path executable() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(&executable), &found) == 0 || !found.dli_fname)
    throw std::runtime_error("cannot locate this program: the dynamic linker does not know it");
  fs::path program = found.dli_fname;
  if (!program.has_parent_path())
    program = program_in_path(process_environment(), found.dli_fname).value_or(program);
  std::error_code error;
  fs::path resolved = fs::canonical(program, error);
  if (error)
    throw std::runtime_error("cannot locate this program (" + text_of(program) + "): " + error.message());
  return resolved;
}

}  // namespace headscope::system
