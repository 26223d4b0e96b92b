#include "system/memory.h"

#include <sys/mman.h>

#include <new>

#include "system/file.h"
#include "system/mapped_file.h"
#include "system/posix_calls.h"

namespace headscope::system {

void* allocate_pages(std::size_t bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return address;
}

void free_pages(void* memory, std::size_t bytes) noexcept {
  ::munmap(memory, bytes);
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  try {
    const File file(path, Open::read);
    const std::size_t size = file.status().size;
    void* address = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, number(file), 0) : MAP_FAILED;
    if (address != MAP_FAILED) bytes_ = {static_cast<const unsigned char*>(address), size};
  } catch (const std::system_error&) {
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());
}

}  // namespace headscope::system
