#include "system/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "system/interrupt.h"
#include "system/machine.h"
#include "system/shared_library.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::console_posix_test {
namespace {

TEST(Console, IsATerminalAndNoFileAndNoPipe) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_terminal(File(folder.path() / "x", Open::change)));
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(is_terminal(File::owned(ends[0])));
  EXPECT_FALSE(is_terminal(File::owned(ends[1])));
  EXPECT_GT(terminal_columns(), 1U);
  if (const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY); terminal >= 0) {
    EXPECT_TRUE(is_terminal(File::owned(terminal)));
  }
}

TEST(Console, ALastMessageEndsTheProgram) {
  EXPECT_EXIT(end_with_message(3, {"headscope: ", "no memory", "\n"}), ::testing::ExitedWithCode(3),
              "headscope: no memory");
}

TEST(Interrupts, AreRememberedOnceAndThenObeyed) {
  {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.interrupted());
    guard.check();
    std::raise(SIGTERM);
    EXPECT_TRUE(guard.interrupted());
    EXPECT_THROW(guard.check(), Interrupted);
    EXPECT_EXIT(std::raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
  }
  EXPECT_FALSE(InterruptGuard().interrupted());
  EXPECT_EXIT(end_by_signal({SIGINT}), ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupts, ThatNobodyAskedAboutAreFollowedAfterTheWork) {
  const auto work = [] {
    const InterruptGuard guard;
    std::raise(SIGINT);
  };
  EXPECT_EXIT(work(), ::testing::KilledBySignal(SIGINT), "");
}

TEST(LibraryFunction, IsThereIfItsLibraryIs) {
  const auto toupper = reinterpret_cast<int (*)(int)>(library_function("libc.so.6", "toupper"));
  ASSERT_NE(toupper, nullptr);
  EXPECT_EQ(toupper('a'), 'A');
  EXPECT_EQ(library_function("libc.so.6", "no_such_function"), nullptr);
  EXPECT_EQ(library_function("libthatisnothere.so.9", "toupper"), nullptr);
}

}  // namespace
}  // namespace headscope::system::console_posix_test
