#include "system/atomic_file.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/file_size_limit.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::atomic_file_posix_test {
namespace {

namespace fs = std::filesystem;

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
    const FileSizeLimit limit(1 << 16);
    EXPECT_EQ(write(file), "cannot write " + file.string() + ": File too large");
  }
  EXPECT_EQ(bytes_of_file(file), "whole");
  EXPECT_EQ(folder.file_count(), 1);
}

}  // namespace
}  // namespace headscope::system::atomic_file_posix_test
