#include "system/picture_clipboard.h"

#include <chrono>

#include "tests/support/matchers.h"
#include "tests/system/programs_folder.h"

namespace headscope::system::picture_clipboard_posix_test {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

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
