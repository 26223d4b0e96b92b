#include "app/desktop/background.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>

#include "tests/support/matchers.h"

namespace headscope::app::background_test {
namespace {

using namespace std::chrono_literals;

/// Counts calls of `wake`, which can be waited for.
class Bell {
 public:
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      ++rings_;
    }
    changed_.notify_all();
  }
  bool wait_for(int rings) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return rings_ >= rings; });
  }
  int rings() const {
    const std::lock_guard lock(mutex_);
    return rings_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
};

/// Opens once, for all waiting threads.
struct Gate {
  std::promise<void> promise;
  std::shared_future<void> opened = promise.get_future().share();
  void open() { promise.set_value(); }
};

void wait_for_all_tasks() {
  while (running_tasks > 0) std::this_thread::yield();
}

TEST(Background, AWorkMayTellThingsBeforeItEnds) {
  Bell bell;
  Background<int> background([&] { bell.ring(); });
  Gate gate;
  background.run("a", [&gate](const Background<int>::Report& report) {
    report(1);
    report(2);
    gate.opened.wait();
    report(3);
    return 4;
  });
  ASSERT_TRUE(bell.wait_for(2));
  EXPECT_THAT(background.take(), ElementsAre(1, 2));
  gate.open();
  ASSERT_TRUE(bell.wait_for(4));
  EXPECT_THAT(background.take(), ElementsAre(3, 4));
}

TEST(Background, ANewerWorkDropsTheOldersResultBeforeAndAfterItCame) {
  Bell bell;
  Background<int> background([&] { bell.ring(); });
  Gate gate, ended;
  background.run("folder", [&gate, &ended] {
    gate.opened.wait();
    ended.open();
    return 1;
  });
  background.run("folder", [] { return 2; });
  ASSERT_TRUE(bell.wait_for(1));
  background.run("other", [] { return 3; });
  ASSERT_TRUE(bell.wait_for(2));
  gate.open();
  ended.opened.wait();
  background.run("folder", [] { return 4; });  // 2 is ready but has not been taken
  ASSERT_TRUE(bell.wait_for(3));
  EXPECT_THAT(background.take(), ElementsAre(3, 4));
  wait_for_all_tasks();
  EXPECT_THAT(background.take(), IsEmpty());
  EXPECT_EQ(bell.rings(), 3);
}

TEST(Background, WorksInOrderWaitForThoseBeforeThemAndKeepAllResults) {
  Bell bell;
  Background<int> background([&] { bell.ring(); });
  Gate gate;
  std::atomic<int> done = 0;
  background.run_in_order("write", [opened = gate.opened, &done] {
    opened.wait();
    return ++done;
  });
  background.run_in_order("write", []() -> int { throw std::runtime_error("no"); });
  background.run_in_order("write", [&done] { return 10 * ++done; });
  background.run_in_order("other", [] { return 5; });  // does not wait for them
  ASSERT_TRUE(bell.wait_for(1));
  EXPECT_THAT(background.take(), ElementsAre(5));
  EXPECT_EQ(done, 0);
  gate.open();
  EXPECT_TRUE(background.wait("write", 20s));
  EXPECT_THAT(background.take(), ElementsAre(1, 20));
  wait_for_all_tasks();
}

TEST(Background, NobodyWaitsForAWorkThatHangs) {
  Gate gate;
  const auto opened = gate.opened;
  std::atomic<int> left = 2;
  Bell bell;
  {
    auto background = std::make_unique<Background<int>>([&] { bell.ring(); });
    for (const char* topic : {"a", "b"})
      background->run(topic, [opened, &left] {
        opened.wait();
        --left;
        return 1;
      });
    background->run("a", [] { return 2; });  // does not wait for the one that hangs
    ASSERT_TRUE(bell.wait_for(1));
    EXPECT_THAT(background->take(), ElementsAre(2));
    background.reset();
  }
  EXPECT_EQ(left, 2);
  gate.open();
  wait_for_all_tasks();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(bell.rings(), 1);  // not after the end
}

TEST(Background, WhatAWorkThrowsIsDropped) {
  Bell bell;
  Background<int> background([&] { bell.ring(); });
  background.run("a", []() -> int { throw std::runtime_error("no"); });
  background.run("b", []() -> int { throw 5; });
  background.run("c", [] { return 3; });
  wait_for_all_tasks();
  EXPECT_THAT(background.take(), ElementsAre(3));
  background.run("a", [] { return 1; });  // the topic is still usable
  ASSERT_TRUE(bell.wait_for(2));
  EXPECT_THAT(background.take(), ElementsAre(1));
}

TEST(Background, WorksMayEndWhileItIsDestroyed) {
  for (int round = 0; round < 200; ++round) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    {
      Background<int> background([&] { ++*alive; });
      for (int i = 0; i < 4; ++i) background.run(std::to_string(i), [i] { return i; });
      if (round % 2 == 0) background.take();
    }
    alive.reset();  // a late wake would use it after its destruction
  }
}

TEST(Background, AWorkThatCanEndIsWaitedForAndCounted) {
  wait_for_all_tasks();  // of other tests
  Bell bell;
  Background<int> background([&] { bell.ring(); });
  EXPECT_TRUE(background.wait("a", 0ms)) << "none runs";
  Gate gate;
  background.run("a", [opened = gate.opened] {
    opened.wait();
    return 1;
  });
  EXPECT_EQ(running_tasks, 1);
  EXPECT_FALSE(background.wait("a", 5ms));
  EXPECT_TRUE(background.wait("b", 5ms)) << "it is of another topic";
  gate.open();
  EXPECT_TRUE(background.wait("a", 20s));
  wait_for_all_tasks();
}

}  // namespace
}  // namespace headscope::app::background_test
