#include "system/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/system/killed_while_writing.h"

namespace headscope::system::atomic_file_generic_test {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

TEST(AtomicFile, OfAProcessThatIsKilledLeavesTheOldOneAndAPart) {
  const TemporaryFolder folder;
  folder.write("goal", "old");
  ASSERT_TRUE(killed_while_writing(folder.path() / "goal"));
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), "old");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         "goal", AllOf(::testing::StartsWith(".headscope-"), EndsWith(".part"))));
}

}  // namespace
}  // namespace headscope::system::atomic_file_generic_test
