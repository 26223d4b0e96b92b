// A process whose memory is limited, as POSIX can.
#include "app/desktop/background.h"

#include <sys/resource.h>
#include <cstdio>
#include <cstdlib>

#include "tests/support/matchers.h"

namespace headscope::app::background_posix_test {
namespace {

using namespace std::chrono_literals;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Runs in its own process, without room for another thread's stack. Exits with 3 if everything is as
/// expected.
[[noreturn]] void start_without_room() {
  const rlimit none{1 << 20, 1 << 20};
  ::setrlimit(RLIMIT_AS, &none);
  Background<int> background([] {});
  try {
    background.run_in_order("b", [] { return 1; });
    std::_Exit(5);
  } catch (const NoThread&) {
  }
  try {
    background.run("a", [] { return 1; });
  } catch (const NoThread& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(running_tasks == 0 && background.wait("a", 0ms) && background.wait("b", 0ms) ? 3 : 4);
  }
  std::_Exit(5);
}

TEST(Background, AThreadThatCannotStartIsASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process without stacks of ended threads
  EXPECT_EXIT(start_without_room(), ::testing::ExitedWithCode(3), "Could not start a thread");
}
#endif

}  // namespace
}  // namespace headscope::app::background_posix_test
