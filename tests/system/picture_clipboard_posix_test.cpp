#include "system/picture_clipboard.h"

#include <chrono>

#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::picture_clipboard_posix_test {
namespace {

namespace fs = std::filesystem;

/// A folder of programs that replace the desktop's.
class ProgramsFolder : public TemporaryFolder {
 public:
  fs::path add(const fs::path& name, const std::string& script) const {
    fs::path program = write(name, "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
    return program;
  }
};

TEST(PictureClipboard, IsTheDisplaysProgramThatIsInThePath) {
  const ProgramsFolder programs;
  const fs::path wl_copy = programs.add("w/wl-copy", ""), xclip = programs.add("x/xclip", "");
  const std::string w = (programs.path() / "w").string(), x = (programs.path() / "x").string();
  const auto found = [](std::map<std::string, std::string> variables) {
    const auto clipboard = picture_clipboard(environment(std::move(variables)));
    return clipboard ? clipboard->program : fs::path();
  };
  EXPECT_EQ(found({{"PATH", "/nowhere:" + x + ":" + w}, {"WAYLAND_DISPLAY", "w"}, {"DISPLAY", ":0"}}),
            wl_copy);
  EXPECT_EQ(found({{"PATH", w + ":" + x}, {"DISPLAY", ":0"}}), xclip);
  EXPECT_EQ(found({{"PATH", x}, {"WAYLAND_DISPLAY", "w"}, {"DISPLAY", ":0"}}), xclip);
  EXPECT_EQ(found({{"PATH", x}, {"WAYLAND_DISPLAY", "w"}}), "");
  EXPECT_EQ(found({{"PATH", w + ":" + x}}), "");
  EXPECT_EQ(found({{"PATH", ""}, {"DISPLAY", ":0"}}), "");
  EXPECT_EQ(found({{"DISPLAY", ":0"}}), "");
}

TEST(PictureClipboard, WhatCannotBeRunOrLiesWhereverWeAreIsPassedOver) {
  const ProgramsFolder programs;
  programs.write("a/xclip", "no program");
  fs::create_directories(programs.path() / "b/xclip");
  programs.add("here/xclip", "");
  const fs::path xclip = programs.add("c/xclip", "");
  const std::string root = programs.path().string();
  const std::string relative = fs::relative(programs.path() / "here").string();
  const auto clipboard = picture_clipboard(environment(
      {{"DISPLAY", ":0"}, {"PATH", "::" + relative + ":" + root + "/a:" + root + "/b:" + root + "/c:"}}));
  ASSERT_TRUE(clipboard);
  EXPECT_EQ(clipboard->program, xclip);
}

TEST(PictureClipboard, HandsOverTheTypeAndEveryByte) {
  const ProgramsFolder programs;
  std::string png = std::string("\x89PNG\r\n\0", 7);
  for (int i = 0; i < 400'000; ++i) png += static_cast<char>(i * 31 % 256);  // more than fits in a pipe
  for (const char* name : {"wl-copy", "xclip"}) {
    const std::string at = (programs.path() / name).string();
    programs.add(name, "printf '%s|' \"$@\" > " + at + ".arguments; cat > " + at + ".png; echo said\n");
    const auto clipboard =
        picture_clipboard(environment({{"DISPLAY", ":0"},
                                       {std::string(name) == "xclip" ? "X" : "WAYLAND_DISPLAY", "w"},
                                       {"PATH", programs.path().string()}}));
    ASSERT_TRUE(clipboard) << name;
    EXPECT_EQ(copy_picture(*clipboard, png), "") << name;
    EXPECT_EQ(bytes_of_file(at + ".png"), png) << name;
  }
  EXPECT_EQ(bytes_of_file(programs.path() / "wl-copy.arguments"), "--type|image/png|");
  EXPECT_EQ(bytes_of_file(programs.path() / "xclip.arguments"), "-selection|clipboard|-t|image/png|-i|");
}

TEST(PictureClipboard, ThePictureIsOpenOnceInTheProgram) {
  const ProgramsFolder programs;
  const std::string count = (programs.path() / "count").string();
  const std::string script = "ls -l /proc/$$/fd | grep -cF \"$(readlink /proc/$$/fd/0)\" > " + count + "\n";
  EXPECT_EQ(copy_picture({programs.add("tool", script), {}}, "x"), "");
  EXPECT_EQ(bytes_of_file(count), "1\n");
}

TEST(PictureClipboard, WhatStaysBehindToHandThePictureOutIsNotWaitedFor) {
  const ProgramsFolder programs;
  const auto clipboard = PictureClipboard{programs.add("tool", "cat > /dev/null; sleep 5 & exit 0\n"), {}};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(copy_picture(clipboard, "x"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST(PictureClipboard, AFailureIsOneSentence) {
  const ProgramsFolder programs;
  const auto sentence = [&](const fs::path& program) {
    return copy_picture({program, {}}, std::string(1 << 20, 'x'), std::chrono::milliseconds(200));
  };
  // The first does not even read, so that a writer would get a SIGPIPE.
  EXPECT_THAT(sentence(programs.add("tool", "exec <&-; exit 1\n")),
              AllOf(HasSubstr("was not copied: tool failed"), EndsWith("available.")));
  EXPECT_THAT(sentence(programs.add("killed", "kill -9 $$\n")), HasSubstr("killed failed"));
  EXPECT_THAT(sentence(programs.path() / "gone"), AllOf(HasSubstr("cannot be started"), EndsWith(").")));
  EXPECT_THAT(sentence(programs.write("unfit", "x")), HasSubstr("cannot be started"));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(sentence(programs.add("hanging", "exec sleep 30\n")), HasSubstr("hanging did not finish"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace headscope::system::picture_clipboard_posix_test
