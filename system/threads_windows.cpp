#include <process.h>
#include <windows.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "system/threads.h"

namespace headscope::system {
namespace {

using Work = std::function<void()>;

unsigned __stdcall run(void* work) noexcept {
  const std::unique_ptr<Work> owned(static_cast<Work*>(work));
  (*owned)();
  return 0;
}

// Both are one pointer, null at first, whose meaning is the system's.
static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(CONDITION_VARIABLE) == sizeof(void*));

}  // namespace

// Not by MinGW's std::thread: of those that were detached at once, about one in a hundred never began.
void start_detached(Work work) {
  auto owned = std::make_unique<Work>(std::move(work));
  const auto thread = ::_beginthreadex(nullptr, 0, run, owned.get(), 0, nullptr);
  if (thread == 0) throw std::system_error(errno, std::generic_category());
  (void)owned.release();  // the thread has it now
  ::CloseHandle(reinterpret_cast<HANDLE>(thread));
}

void Mutex::lock() noexcept {
  ::AcquireSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&lock_));
}

void Mutex::unlock() noexcept {
  ::ReleaseSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&lock_));
}

void Condition::notify_one() noexcept {
  ::WakeConditionVariable(reinterpret_cast<CONDITION_VARIABLE*>(&condition_));
}

void Condition::notify_all() noexcept {
  ::WakeAllConditionVariable(reinterpret_cast<CONDITION_VARIABLE*>(&condition_));
}

void Condition::sleep(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time) noexcept {
  ::SleepConditionVariableSRW(reinterpret_cast<CONDITION_VARIABLE*>(&condition_),
                              reinterpret_cast<SRWLOCK*>(&lock.mutex()->lock_),
                              static_cast<DWORD>(time.count()), 0);
}

}  // namespace headscope::system
