#include "model/files/file_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/temporary_folder.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

TEST(AtomicFile, IsThereWhenItIsWholeAndNotBefore) {
  const TemporaryFolder folder;
  const fs::path goal = folder.path() / "goal";
  {
    AtomicFile file(goal);
    file.append("whole");
    EXPECT_FALSE(fs::exists(goal));
    file.commit();
  }
  EXPECT_EQ(bytes_of_file(goal), "whole");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(AtomicFile, TakesThePlaceOfTheOldOneWithItsPermissions) {
  const TemporaryFolder folder;
  const fs::path goal = folder.path() / "goal";
  folder.write("goal", "old");
  fs::permissions(goal, fs::perms::owner_read | fs::perms::owner_write);
  AtomicFile file(goal);
  file.append("new");
  EXPECT_EQ(bytes_of_file(goal), "old");
  file.commit();
  EXPECT_EQ(bytes_of_file(goal), "new");
  EXPECT_EQ(fs::status(goal).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(AtomicFile, ThatIsGivenUpLeavesNothing) {
  const TemporaryFolder folder;
  { AtomicFile(folder.path() / "goal").append("half"); }
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(AtomicFile, HasANameWhereTheFolderIsTheCurrentOne) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("goal", "whole");
  fs::current_path(before);
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), "whole");
}

TEST(AtomicFile, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  EXPECT_THAT(
      [&] { AtomicFile(folder.path() / "none/goal"); },
      ::testing::ThrowsMessage<std::runtime_error>(::testing::HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { AtomicFile{folder.path()}; },
              ::testing::ThrowsMessage<std::runtime_error>(::testing::HasSubstr("Is a directory")));
}

TEST(AtomicFile, OfAProcessThatIsKilledLeavesNothing) {
  const TemporaryFolder folder;
  const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  ::close(nameless);
  folder.write("goal", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.path() / "goal");
    file.resize(1 << 20);
    file.append("half");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), "old");
  EXPECT_EQ(folder.file_count(), 1U);
}

}  // namespace
}  // namespace headscope::model
