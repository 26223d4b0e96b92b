// operator new and delete of the program. Windows' own heap takes a lock for each block, which was a fifth of
// the time that a frame of the window took; here each thread keeps the small blocks that it frees, as glibc
// does on Linux.
//
// Blocks of up to 512 bytes come from slabs of 64 KiB, each of blocks of one size, in one reserved range of
// addresses, so that an address tells whether it is of a slab, and of which size. Everything else is
// malloc's. A thread that has many free blocks of a size hands half of them to a stock that all threads
// share, and takes from it when it has none. Slabs are kept until the program ends.

#include <windows.h>

// These need it.
#include <intrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kStep = 16, kLargest = 512, kSizes = kLargest / kStep;
constexpr std::size_t kSlab = std::size_t{64} << 10, kRange = std::size_t{16} << 30;
constexpr unsigned kAtOnce = 32;  // blocks that go to the stock or come from it together

/// A free block. The first of a group that lies in the stock leads to the next group.
struct Block {
  Block* next;
  Block* next_group;
};
static_assert(sizeof(Block) <= kStep);

struct List {
  Block* first = nullptr;
  unsigned count = 0;
};

/// The free blocks of a thread, by size.
struct Own {
  std::array<List, kSizes> lists;
};

/// The free blocks of a size that no thread has: groups of kAtOnce, and what is left of the slab in use.
struct Stock {
  SRWLOCK lock = SRWLOCK_INIT;
  Block* groups = nullptr;
  List rest;  ///< of threads that have ended
  std::byte* fresh = nullptr;
  std::byte* fresh_end = nullptr;
};

// Constant-initialized, as the first blocks are asked for before any constructor runs.
constinit std::array<Stock, kSizes> stocks;
constinit std::array<std::uint8_t, kRange / kSlab> size_of_slab{};
constinit std::atomic<std::byte*> range = nullptr;
constinit std::atomic<std::size_t> slabs_used = 0;
constinit INIT_ONCE prepared = INIT_ONCE_STATIC_INIT;
constinit std::atomic<DWORD> own_index = TLS_OUT_OF_INDEXES;
constinit DWORD at_end_index = FLS_OUT_OF_INDEXES;
constinit DWORD first_thread = 0;

Own* const kEnded = reinterpret_cast<Own*>(std::uintptr_t{1});  // of a thread that ends

/// Calls of the system leave what GetLastError says as it was: a block may be freed between a failure and
/// that question.
class LastErrorKept {
 public:
  LastErrorKept() = default;
  LastErrorKept(const LastErrorKept&) = delete;
  LastErrorKept& operator=(const LastErrorKept&) = delete;
  ~LastErrorKept() { ::SetLastError(error_); }

 private:
  DWORD error_ = ::GetLastError();
};

class Locked {
 public:
  explicit Locked(SRWLOCK& lock) : lock_(lock) { ::AcquireSRWLockExclusive(&lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { ::ReleaseSRWLockExclusive(&lock_); }

 private:
  SRWLOCK& lock_;
};

void push(List& list, Block* block) {
  block->next = list.first;
  list.first = block;
  ++list.count;
}

Block* pop(List& list) {
  Block* const block = list.first;
  list.first = block->next;
  --list.count;
  return block;
}

/// Moves kAtOnce blocks of a list, which has as many, to the stock.
void give(Stock& stock, List& list) {
  Block* const first = list.first;
  Block* last = first;
  for (unsigned i = 1; i < kAtOnce; ++i) last = last->next;
  list.first = last->next;
  list.count -= kAtOnce;
  last->next = nullptr;
  const Locked locked(stock.lock);
  first->next_group = stock.groups;
  stock.groups = first;
}

void WINAPI give_all(void* given) {
  const LastErrorKept kept;
  auto* const own = static_cast<Own*>(given);
  ::TlsSetValue(own_index, kEnded);
  for (std::size_t i = 0; i < kSizes; ++i) {
    List& list = own->lists[i];
    while (list.count >= kAtOnce) give(stocks[i], list);
    const Locked locked(stocks[i].lock);
    while (list.count > 0) push(stocks[i].rest, pop(list));
  }
  std::free(own);
}

BOOL WINAPI prepare(INIT_ONCE*, void*, void**) {
  first_thread = ::GetCurrentThreadId();
  at_end_index = ::FlsAlloc(give_all);
  const DWORD index = ::TlsAlloc();
  constexpr DWORD kInThreadBlock =
      64;  // the first slots lie in the thread's own block, where own() reads them
  if (at_end_index == FLS_OUT_OF_INDEXES || index >= kInThreadBlock)
    return TRUE;  // all blocks are malloc's then
  range = static_cast<std::byte*>(::VirtualAlloc(nullptr, kRange, MEM_RESERVE, PAGE_NOACCESS));
  if (range) own_index = index;
  return TRUE;
}

/// TlsGetValue, which would change what GetLastError says.
Own* own_of_thread(DWORD index) {
  constexpr unsigned long kSlots = 0x1480;  // in the thread's block
  return reinterpret_cast<Own*>(__readgsqword(kSlots + index * static_cast<unsigned long>(sizeof(void*))));
}

/// The blocks of this thread; null if it has none, since it ends or there is no memory.
Own* own() {
  DWORD index = own_index.load(std::memory_order_acquire);
  if (index == TLS_OUT_OF_INDEXES) {
    const LastErrorKept kept;
    ::InitOnceExecuteOnce(&prepared, prepare, nullptr, nullptr);
    index = own_index.load(std::memory_order_acquire);
    if (index == TLS_OUT_OF_INDEXES) return nullptr;
  }
  Own* const found = own_of_thread(index);
  if (found) return found == kEnded ? nullptr : found;
  const LastErrorKept kept;
  void* const memory = std::malloc(sizeof(Own));
  if (!memory) return nullptr;
  Own* const made = ::new (memory) Own;
  ::TlsSetValue(index, made);
  // The first thread ends with the program, when others may have been ended while they held a lock.
  if (::GetCurrentThreadId() != first_thread) ::FlsSetValue(at_end_index, made);
  return made;
}

/// Makes a slab for blocks of the i-th size. Returns false if there is no memory for it. The stock is locked.
bool new_slab(Stock& stock, std::size_t i) {
  std::byte* const begin = range;
  const std::size_t number = slabs_used.fetch_add(1);
  if (!begin || number >= size_of_slab.size()) return false;
  std::byte* const slab = begin + number * kSlab;
  if (!::VirtualAlloc(slab, kSlab, MEM_COMMIT, PAGE_READWRITE)) return false;
  size_of_slab[number] = static_cast<std::uint8_t>(i);
  stock.fresh = slab;
  stock.fresh_end = slab + kSlab / ((i + 1) * kStep) * ((i + 1) * kStep);
  return true;
}

/// Fills an empty list from the stock.
void take(std::size_t i, List& list) {
  const LastErrorKept kept;
  Stock& stock = stocks[i];
  const Locked locked(stock.lock);
  if (stock.groups) {
    list.first = stock.groups;
    list.count = kAtOnce;
    stock.groups = stock.groups->next_group;
    return;
  }
  while (stock.rest.count > 0 && list.count < kAtOnce) push(list, pop(stock.rest));
  if (list.count > 0) return;
  if (stock.fresh == stock.fresh_end && !new_slab(stock, i)) return;
  const std::size_t bytes = (i + 1) * kStep;
  for (; list.count < kAtOnce && stock.fresh != stock.fresh_end; stock.fresh += bytes)
    push(list, reinterpret_cast<Block*>(stock.fresh));
}

void* allocate(std::size_t bytes) {
  if (bytes <= kLargest) {
    const std::size_t i = bytes == 0 ? 0 : (bytes - 1) / kStep;
    if (Own* const mine = own()) {
      List& list = mine->lists[i];
      if (!list.first) take(i, list);
      if (list.first) return pop(list);
    }
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void release(void* memory) {
  const auto offset =
      static_cast<std::size_t>(static_cast<std::byte*>(memory) - range.load(std::memory_order_relaxed));
  if (offset >= kRange || !range.load(std::memory_order_relaxed)) {
    std::free(memory);
    return;
  }
  const std::size_t i = size_of_slab[offset / kSlab];
  auto* const block = static_cast<Block*>(memory);
  if (Own* const mine = own()) {
    List& list = mine->lists[i];
    push(list, block);
    if (list.count >= 4 * kAtOnce) {
      const LastErrorKept kept;
      while (list.count > 2 * kAtOnce) give(stocks[i], list);
    }
    return;
  }
  const LastErrorKept kept;
  const Locked locked(stocks[i].lock);
  push(stocks[i].rest, block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const memory = allocate(bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept {
  if (memory) release(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  if (memory) release(memory);
}
