#include "system/threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace headscope::system::threads_test {
namespace {

using namespace std::chrono_literals;

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

TEST(DetachedThread, EachOfManyRuns) {
  constexpr int kThreads = 1000;
  Mutex mutex;
  Condition ran;
  int count = 0;
  for (int turn = 1; turn <= kThreads / 2; ++turn) {
    for (int i = 0; i < 2; ++i)
      start_detached([&] {
        const std::lock_guard lock(mutex);
        ++count;
        ran.notify_all();
      });
    std::unique_lock lock(mutex);
    ASSERT_TRUE(ran.wait_for(lock, std::chrono::seconds(20), [&] { return count == 2 * turn; })) << turn;
  }
}

TEST(DetachedThread, KeepsItsWorkUntilItEnds) {
  auto owned = std::make_shared<int>(5);
  const std::weak_ptr<int> watched = owned;
  start_detached([owned = std::move(owned)] {});
  while (!watched.expired()) std::this_thread::yield();  // else the test's time runs out
}

}  // namespace
}  // namespace headscope::system::threads_test
