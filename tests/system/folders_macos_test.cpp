#include "system/folders.h"

#include "tests/support/environment.h"
#include "tests/support/matchers.h"

namespace headscope::system {
namespace {

using testing::environment;

TEST(Folders, AreThoseOfTheLibrary) {
  const auto home = environment({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_STATE_HOME", "/s"}});
  EXPECT_EQ(settings_folder(home), "/h/Library/Application Support");
  EXPECT_EQ(state_folder(home), "/h/Library/Application Support");
  EXPECT_EQ(settings_folder(environment({})), std::nullopt);
  EXPECT_EQ(state_folder(environment({})), std::nullopt);
}

TEST(Folders, OfFontsAreTheUsersThenTheSystems) {
  EXPECT_THAT(font_folders(environment({{"HOME", "/h"}})),
              ElementsAre("/h/Library/Fonts", "/Library/Fonts", "/System/Library/Fonts"));
  EXPECT_THAT(font_folders(environment({})), ElementsAre("/Library/Fonts", "/System/Library/Fonts"));
}

}  // namespace
}  // namespace headscope::system
