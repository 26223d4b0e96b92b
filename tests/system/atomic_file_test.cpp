#include "system/atomic_file.h"

#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wine.h"

namespace headscope::system::atomic_file_test {
namespace {

namespace fs = std::filesystem;

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

TEST(AtomicFile, LeavesNothingWhenItCannotTakeItsPlace) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "picture.svg";
  const auto write = [&] {
    AtomicFile file(path);
    file.append("<svg/>");
    fs::create_directory(path);  // after the file was opened
    folder.write("picture.svg/inside", "");
    file.commit();
  };
  EXPECT_EQ(message_of<std::runtime_error>(write), "cannot write " + path.string() + ": Is a directory");
  EXPECT_EQ(folder.file_count(), 1) << "the folder alone";
}

TEST(AtomicFile, HasTheSizeItIsGivenWithZeros) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "goal");
  file.resize(6);
  file.write_at(2, std::as_bytes(std::span(std::string_view("ab"))));
  file.commit();
  EXPECT_EQ(bytes_of_file(folder.path() / "goal"), std::string("\0\0ab\0\0", 6));
}

}  // namespace
}  // namespace headscope::system::atomic_file_test
