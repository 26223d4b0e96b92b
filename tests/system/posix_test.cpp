// Bodies of system/ that only POSIX has.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>

#include "system/atomic_file.h"
#include "system/console.h"
#include "system/file.h"
#include "system/folders.h"
#include "system/interrupt.h"
#include "system/machine.h"
#include "system/picture_clipboard.h"
#include "system/shared_library.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/resource_limit.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::posix_test {
namespace {

namespace fs = std::filesystem;

TEST(File, IsNoLinkWhereThatIsAsked) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  fs::create_symlink("file", folder.path() / "link");
  EXPECT_EQ(error_of([&] { File(folder.path() / "link", Open::change_no_link); }),
            std::errc::too_many_symbolic_link_levels);
}

TEST(File, OfAPipeIsOpenedWithoutItsWriter) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(File(pipe, Open::read_at_once).status().kind, FileKind::other);
}

TEST(File, TakesAllBytesOfAWriteThatThePipeTakesInParts) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::string received;
  std::thread reader([&] {
    const File from = File::owned(ends[0]);
    std::string part(5000, '\0');
    while (const std::size_t got = from.read(part)) received.append(part, 0, got);
  });
  std::string sent;
  for (int i = 0; i < 300'000; ++i) sent += static_cast<char>(i * 31 % 256);
  File::owned(ends[1]).write(sent);
  reader.join();
  EXPECT_TRUE(received == sent);
}

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

/// Starts to replace a file in another process, and kills that before it has done so. Returns whether it went
/// so.
bool killed_while_writing(const std::filesystem::path& goal) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(goal);
    file.resize(1 << 20);
    file.append("half");
    ::raise(SIGKILL);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

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

TEST(AtomicFile, KeepsLinksAndPermissions) {
  const TemporaryFolder folder;
  const fs::path real = folder.write("real", "old");
  fs::permissions(real, fs::perms(0640));
  fs::create_symlink("real", folder.path() / "link");
  write_file_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(bytes_of_file(real), "new");
  EXPECT_EQ(fs::status(real).permissions(), fs::perms(0640));
  EXPECT_EQ(folder.file_count(), 2);
}

TEST(AtomicFile, WritesDevicesDirectly) {
  write_file_atomically("/dev/null", "anything");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no device that is always full";
  const std::string message =
      message_of<std::runtime_error>([] { write_file_atomically("/dev/full", "anything"); });
  EXPECT_EQ(message, "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(AtomicFile, SaysWhyItCannotBeWritten) {
  const TemporaryFolder folder;
  const auto write = [](const fs::path& path) {
    return message_of<std::runtime_error>([&] { write_file_atomically(path, std::string(1 << 20, 'x')); });
  };
  EXPECT_EQ(write(folder.path()), "cannot write " + folder.path().string() + ": Is a directory");
  const fs::path lost = folder.path() / "no folder" / "x";
  EXPECT_EQ(write(lost), "cannot write " + lost.string() + ": No such file or directory");
  const fs::path file = folder.write("file", "whole");
  EXPECT_EQ(write(file / "x"), "cannot write " + (file / "x").string() + ": Not a directory");
  EXPECT_EQ(write(""), "cannot write : No such file or directory");
  {
    const ResourceLimit limit(RLIMIT_FSIZE, 1 << 16);
    EXPECT_EQ(write(file), "cannot write " + file.string() + ": File too large");
  }
  EXPECT_EQ(bytes_of_file(file), "whole");
  EXPECT_EQ(folder.file_count(), 1);
}

TEST(Console, IsATerminalAndNoFileAndNoPipe) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_terminal(File(folder.path() / "x", Open::change)));
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(is_terminal(File::owned(ends[0])));
  EXPECT_FALSE(is_terminal(File::owned(ends[1])));
  EXPECT_GT(terminal_columns(), 1U);
  if (const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY); terminal >= 0) {
    EXPECT_TRUE(is_terminal(File::owned(terminal)));
  }
}

TEST(Console, ALastMessageEndsTheProgram) {
  EXPECT_EXIT(end_with_message(3, {"headscope: ", "no memory", "\n"}), ::testing::ExitedWithCode(3),
              "headscope: no memory");
}

TEST(Interrupts, AreRememberedOnceAndThenObeyed) {
  {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.interrupted());
    guard.check();
    std::raise(SIGTERM);
    EXPECT_TRUE(guard.interrupted());
    EXPECT_THROW(guard.check(), Interrupted);
    EXPECT_EXIT(std::raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
  }
  EXPECT_FALSE(InterruptGuard().interrupted());
  EXPECT_EXIT(end_by_signal({SIGINT}), ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupts, ThatNobodyAskedAboutAreFollowedAfterTheWork) {
  const auto work = [] {
    const InterruptGuard guard;
    std::raise(SIGINT);
  };
  EXPECT_EXIT(work(), ::testing::KilledBySignal(SIGINT), "");
}

TEST(LibraryFunction, IsThereIfItsLibraryIs) {
  const auto toupper = reinterpret_cast<int (*)(int)>(library_function("libc.so.6", "toupper"));
  ASSERT_NE(toupper, nullptr);
  EXPECT_EQ(toupper('a'), 'A');
  EXPECT_EQ(library_function("libc.so.6", "no_such_function"), nullptr);
  EXPECT_EQ(library_function("libthatisnothere.so.9", "toupper"), nullptr);
}

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
}  // namespace headscope::system::posix_test
