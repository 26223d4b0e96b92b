#include "system/memory.h"

#include "system/calls.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#endif

namespace headscope::system {
namespace {

/// The content of a file that is not empty; null if it cannot be mapped.
const void* map(const File& file, [[maybe_unused]] std::size_t size) {
#ifdef _WIN32
  const HANDLE mapping = ::CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (!mapping) return nullptr;
  const void* const address = ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  ::CloseHandle(mapping);  // the view keeps it
  return address;
#else
  const void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, number(file), 0);
  return address == MAP_FAILED ? nullptr : address;
#endif
}

}  // namespace

// Windows gives large pages only when memory is allocated, to users with a right of their own.
void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

void return_freed_memory() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void keep_little_freed_memory() noexcept {
#ifdef __GLIBC__
  constexpr int kKept = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  try {
    const File file(path, Open::read);
    const FileStatus status = file.status();
    if (status.kind != FileKind::regular || status.size == 0) return;
    const std::size_t size = static_cast<std::size_t>(status.size);
    if (const void* const address = map(file, size))
      bytes_ = {static_cast<const unsigned char*>(address), size};
  } catch (const std::system_error&) {
  }
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
#ifdef _WIN32
  ::UnmapViewOfFile(bytes_.data());
#else
  ::munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());
#endif
}

}  // namespace headscope::system
