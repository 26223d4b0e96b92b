#include "system/folders.h"

#include "tests/support/environment.h"
#include "tests/support/matchers.h"

namespace headscope::system::folders_posix_test {
namespace {

TEST(Folders, FollowTheXdgSpecification) {
  EXPECT_EQ(settings_folder(environment({{"XDG_CONFIG_HOME", "/c"}, {"HOME", "/h"}})), "/c");
  EXPECT_EQ(settings_folder(environment({{"XDG_CONFIG_HOME", "relative"}, {"HOME", "/h"}})), "/h/.config");
  EXPECT_EQ(state_folder(environment({{"XDG_STATE_HOME", "/s"}})), "/s");
  EXPECT_EQ(state_folder(environment({{"HOME", "/h"}})), "/h/.local/state");
  EXPECT_EQ(state_folder(environment({})), std::nullopt);
  EXPECT_EQ(home_folder(environment({{"HOME", "/h"}})), "/h");
  EXPECT_EQ(home_folder(environment({})), std::nullopt);
}

TEST(Folders, OfFontsAreTheUsersThenTheSystems) {
  EXPECT_THAT(
      font_folders(environment({{"HOME", "/h"}})),
      ElementsAre("/h/.local/share/fonts", "/h/.fonts", "/usr/local/share/fonts", "/usr/share/fonts"));
  EXPECT_THAT(font_folders(environment({{"XDG_DATA_HOME", "/d"}, {"XDG_DATA_DIRS", ":/a::/b:"}})),
              ElementsAre("/d/fonts", "/a/fonts", "/b/fonts", "/usr/share/fonts"));
}

}  // namespace
}  // namespace headscope::system::folders_posix_test
