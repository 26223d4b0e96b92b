#include "system/memory.h"

#include <windows.h>

#include <new>

#include "system/file.h"
#include "system/mapped_file.h"
#include "system/windows_calls.h"

namespace headscope::system {

void* allocate_pages(std::size_t bytes) {
  void* const memory = ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void free_pages(void* memory, std::size_t /*bytes*/) noexcept {
  ::VirtualFree(memory, 0, MEM_RELEASE);
}

// Large pages must be asked for when memory is allocated, by users with a right of their own.
void prefer_huge_pages(void* /*memory*/, std::size_t /*bytes*/) noexcept {}

void return_freed_memory() noexcept {}

MappedFile::MappedFile(const std::filesystem::path& path) {
  try {
    const File file(path, Open::read);
    const FileStatus status = file.status();
    if (status.kind != FileKind::regular || status.size == 0) return;
    const HANDLE mapping = ::CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (!mapping) return;
    const void* const address = ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    ::CloseHandle(mapping);  // the view keeps it
    if (address) bytes_ = {static_cast<const unsigned char*>(address), static_cast<std::size_t>(status.size)};
  } catch (const std::system_error&) {
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::UnmapViewOfFile(bytes_.data());
}

}  // namespace headscope::system
