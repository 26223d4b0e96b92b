#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "system/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

TEST(AtomicFile, OfAProcessThatIsKilledLeavesNothing) {
  const TemporaryFolder folder;
  const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  ::close(nameless);
  folder.write("goal", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.path() / "goal");
    file.resize(1 << 20);
    file.append("half");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

}  // namespace
}  // namespace headscope::system
