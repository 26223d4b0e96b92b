#include "system/condition.h"

#include <windows.h>

#include <algorithm>

namespace headscope::system {
namespace {

// Both are one pointer, null at first, whose meaning is the system's.
static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(CONDITION_VARIABLE) == sizeof(void*));

SRWLOCK* lock_at(void** memory) {
  return reinterpret_cast<SRWLOCK*>(memory);
}

CONDITION_VARIABLE* condition_at(void** memory) {
  return reinterpret_cast<CONDITION_VARIABLE*>(memory);
}

}  // namespace

void Mutex::lock() noexcept {
  ::AcquireSRWLockExclusive(lock_at(&lock_));
}

void Mutex::unlock() noexcept {
  ::ReleaseSRWLockExclusive(lock_at(&lock_));
}

bool Mutex::try_lock() noexcept {
  return ::TryAcquireSRWLockExclusive(lock_at(&lock_)) != 0;
}

void Condition::notify_one() noexcept {
  ::WakeConditionVariable(condition_at(&condition_));
}

void Condition::notify_all() noexcept {
  ::WakeAllConditionVariable(condition_at(&condition_));
}

void Condition::wait(std::unique_lock<Mutex>& lock) noexcept {
  ::SleepConditionVariableSRW(condition_at(&condition_), lock_at(&lock.mutex()->lock_), INFINITE, 0);
}

void Condition::wait_at_most(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time) noexcept {
  constexpr std::chrono::milliseconds kLongest(std::chrono::hours(1));  // far from INFINITE; waiting goes on
  ::SleepConditionVariableSRW(condition_at(&condition_), lock_at(&lock.mutex()->lock_),
                              static_cast<DWORD>(std::min(time, kLongest).count()), 0);
}

}  // namespace headscope::system
