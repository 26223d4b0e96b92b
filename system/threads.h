#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace headscope::system {

/// Runs `work`, which must not throw, on a thread of its own that nobody waits for. Throws std::system_error
/// if the system cannot start one.
void start_detached(std::function<void()> work);

#ifndef _WIN32

using Mutex = std::mutex;
using Condition = std::condition_variable;

inline void start_detached(std::function<void()> work) {
  std::thread(std::move(work)).detach();
}

#else

/// As std::mutex. MinGW's own waits for kernel objects where two threads meet.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept;
  void unlock() noexcept;

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

  template <class Happened>
  void wait(std::unique_lock<Mutex>& lock, Happened happened) {
    while (!happened()) sleep(lock, std::chrono::hours(1));
  }

  /// Returns false if it did not happen within that time.
  template <class Rep, class Period, class Happened>
  bool wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                Happened happened) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!happened()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      sleep(lock, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    return true;
  }

 private:
  /// Until it is notified, at most for that time; it may also wake for no reason.
  void sleep(std::unique_lock<Mutex>& lock, std::chrono::milliseconds time) noexcept;

  void* condition_ = nullptr;  ///< a CONDITION_VARIABLE
};

#endif

}  // namespace headscope::system
