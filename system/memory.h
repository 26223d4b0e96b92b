#pragma once
#include <cstddef>

namespace headscope::system {

/// Zeroed memory of its own pages. Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory, std::size_t bytes) noexcept;

/// Asks for huge pages for memory that begins at a page, which is only for speed: nothing happens where there
/// are none.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Returns what was freed to the system, where the allocator would keep it: glibc's keeps memory between
/// blocks in use, up to twice the live memory within an hour. Nothing happens elsewhere.
void return_freed_memory() noexcept;

}  // namespace headscope::system
