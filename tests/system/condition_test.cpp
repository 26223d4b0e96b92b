#include "system/condition.h"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <vector>

namespace headscope::system::condition_test {
namespace {

using namespace std::chrono_literals;

/// Two threads that take turns, each of which sleeps until the other has woken it.
template <class AMutex, class ACondition>
std::chrono::nanoseconds time_of_turns(int turns) {
  AMutex mutex;
  ACondition changed;
  bool second = false;
  const auto take = [&](bool mine) {
    for (int i = 0; i < turns; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return second == mine; });
      second = !mine;
      changed.notify_one();
    }
  };
  const auto begun = std::chrono::steady_clock::now();
  std::thread other([&] { take(true); });
  take(false);
  other.join();
  return std::chrono::steady_clock::now() - begun;
}

TEST(Condition, WakesTheThreadThatWaits) {
  time_of_turns<Mutex, Condition>(1000);
}

TEST(Condition, WakesAllThreadsThatWait) {
  Mutex mutex;
  Condition changed;
  bool open = false;
  int waiting = 0, passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [&] { return open; });
      ++passed;
    });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting == 4; });
    open = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, 4);
}

TEST(Condition, WaitsNoLongerThanItIsTold) {
  Mutex mutex;
  Condition changed;
  std::unique_lock lock(mutex);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(changed.wait_for(lock, 30ms, [] { return false; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 30ms);
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_TRUE(changed.wait_for(lock, 0ms, [] { return true; }));
}

TEST(Condition, AMutexIsHeldByOne) {
  Mutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 20'000; ++i) {
      const std::lock_guard lock(mutex);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count, 40'000);
  const std::lock_guard lock(mutex);
  std::thread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
}

// The library's own took 50 times as long there.
TEST(Condition, IsQuickerThanTheLibrarysOnWindows) {
  if constexpr (std::is_same_v<Mutex, std::mutex>) GTEST_SKIP() << "it is the library's own";
  constexpr int kTurns = 2000;
  const auto own = time_of_turns<Mutex, Condition>(kTurns);
  const auto library = time_of_turns<std::mutex, std::condition_variable>(kTurns);
  EXPECT_LT(own, library / 2);
}

}  // namespace
}  // namespace headscope::system::condition_test
