#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace headscope::system {

#if defined(_WIN32)

/// As std::mutex. MinGW's own waits for kernel objects where two threads meet.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept;
  void unlock() noexcept;
  bool try_lock() noexcept;

 private:
  friend class Condition;
  void* lock_ = nullptr;  ///< an SRWLOCK
};

/// As std::condition_variable, with a Mutex. MinGW's own asks the kernel for several objects each time that
/// a thread sleeps or is woken: two threads that took turns needed 430 us for each, with this one 9.
class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void notify_one() noexcept;
  void notify_all() noexcept;

  void wait(std::unique_lock<Mutex>& lock) noexcept;
  template <class Happened>
  void wait(std::unique_lock<Mutex>& lock, Happened happened) {
    while (!happened()) wait(lock);
  }

  /// Returns false if it did not happen within that time.
  template <class Rep, class Period, class Happened>
  bool wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                Happened happened) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!happened()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      wait_at_most(lock, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    return true;
  }

 private:
  void wait_at_most(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time) noexcept;
  void* condition_ = nullptr;  ///< a CONDITION_VARIABLE
};

#else

using Mutex = std::mutex;
using Condition = std::condition_variable;

#endif

}  // namespace headscope::system
