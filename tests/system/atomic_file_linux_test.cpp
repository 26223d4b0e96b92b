#include <fcntl.h>
#include <unistd.h>

#include "system/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/system/killed_while_writing.h"

namespace headscope::system::atomic_file_linux_test {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

TEST(AtomicFile, OfAProcessThatIsKilledLeavesNothing) {
  const TemporaryFolder folder;
  const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  ::close(nameless);
  folder.write("goal", "old");
  ASSERT_TRUE(killed_while_writing(folder.path() / "goal"));
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

}  // namespace
}  // namespace headscope::system::atomic_file_linux_test
