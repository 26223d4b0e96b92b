#include "system/files_below.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace headscope::system::files_below_test {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

std::vector<fs::path> below(const fs::path& folder) {
  std::vector<fs::path> found;
  for_each_file_below(folder, [&](const fs::path& file) { found.push_back(file); });
  return found;
}

TEST(FilesBelow, AreThoseOfAllDepthsAndNoFolders) {
  const testing::TemporaryFolder folder;
  const fs::path deep = folder.path() / "empty" / "été" / "deeper";
  fs::create_directories(deep);
  fs::create_directories(folder.path() / "nothing.ttf");
  for (const fs::path& file : {folder.path() / "a.ttf", deep / "b", deep / ".c"}) std::ofstream(file) << "x";
  EXPECT_THAT(below(folder.path()), UnorderedElementsAre(folder.path() / "a.ttf", deep / "b", deep / ".c"));
}

TEST(FilesBelow, OfWhatIsNoFolderAreNone) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(below(folder.path() / "missing").empty());
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_TRUE(below(file).empty());
}

}  // namespace
}  // namespace headscope::system::files_below_test
