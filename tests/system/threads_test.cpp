#include "system/threads.h"
#include "tests/support/matchers.h"

namespace headscope::system::threads_test {
namespace {

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
