#include "system/picture_clipboard.h"

#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/system/programs_folder.h"

namespace headscope::system {
namespace {

TEST(PictureClipboard, IsAScriptThatReadsAFile) {
  const ProgramsFolder programs;
  EXPECT_FALSE(picture_clipboard(testing::environment({{"PATH", programs.path().string()}})));
  const auto program = programs.add("osascript", "");
  const auto clipboard =
      picture_clipboard(testing::environment({{"PATH", "/nowhere:" + programs.path().string()}}));
  ASSERT_TRUE(clipboard);
  EXPECT_EQ(clipboard->program, program);
  EXPECT_TRUE(clipboard->from_file);
  EXPECT_THAT(clipboard->arguments, Contains(HasSubstr("set the clipboard to (read (POSIX file")));
  EXPECT_THAT(std::string(no_picture_clipboard()), HasSubstr("osascript"));
}

}  // namespace
}  // namespace headscope::system
