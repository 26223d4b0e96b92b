#include "app/run/sources/paths.h"

#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/variables.h"

namespace headscope::app::paths_test {
namespace {

TEST(Paths, AnEmptyVariableCountsAsUnset) {
  set_variable("HEADSCOPE_PATHS_TEST", "");
  EXPECT_EQ(process_environment()("HEADSCOPE_PATHS_TEST"), std::nullopt);
  set_variable("HEADSCOPE_PATHS_TEST", "x");
  EXPECT_EQ(process_environment()("HEADSCOPE_PATHS_TEST"), "x");
  unset_variable("HEADSCOPE_PATHS_TEST");
}

TEST(Paths, InstalledAssetsLieBesideTheProgramAndWin) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "share/headscope/models");
  EXPECT_EQ(assets_folder(folder.path() / "bin"), folder.path() / "share/headscope");
}

TEST(Paths, InTheBuildTreeTheSourcesAssetsAreUsed) {
  const TemporaryFolder folder;
  EXPECT_EQ(assets_folder(folder.path() / "bin"), headscope::testing::source_dir() / "assets");
}

TEST(Paths, ATypedPathIsExpanded) {
  const Environment home = environment({{"HOME", "/h/some body"}});
  EXPECT_EQ(expanded("~", home), "/h/some body");
  EXPECT_EQ(expanded("~/", home), "/h/some body");
  EXPECT_EQ(expanded("~/a/../b", home), "/h/some body/a/../b");
  EXPECT_EQ(expanded("~//a", home), "/h/some body/a");
  EXPECT_EQ(expanded("/a/~/b/", home), "/a/~/b/");
  EXPECT_EQ(expanded("a/b", home), std::filesystem::current_path() / "a/b");
  EXPECT_EQ(expanded("../~", home), std::filesystem::current_path() / "../~");
  EXPECT_EQ(expanded("\xff\n", home), std::filesystem::current_path() / "\xff\n");
  EXPECT_EQ(expanded("", home), "");
}

TEST(Paths, AHomeThatIsNotKnownStaysAsTyped) {
  EXPECT_EQ(expanded("~somebody/x", environment({{"HOME", "/h"}})), "~somebody/x");
  EXPECT_EQ(expanded("~", environment({})), "~");
  EXPECT_EQ(expanded("~/x", environment({})), "~/x");
}

}  // namespace
}  // namespace headscope::app::paths_test
