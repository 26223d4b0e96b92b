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

TEST(AtomicFile, OfAProcessThatIsKilledLeavesTheOldOneAndAPart) {
  const TemporaryFolder folder;
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
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         "goal", AllOf(::testing::StartsWith(".headscope-"), EndsWith(".part"))));
}

}  // namespace
}  // namespace headscope::system
