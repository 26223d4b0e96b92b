// Files and folders, names in text, and files that are replaced as a whole.
#include "system/file.h"
#include "system/atomic_file.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wine.h"

namespace headscope::system::file_test {
namespace {

namespace fs = std::filesystem;

std::string read_at(const File& file, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  text.resize(file.read_at(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(File, IsReadAndWrittenAtAnyPlace) {
  const TemporaryFolder folder;
  const File file(folder.path() / "x", Open::change);
  file.write("one two");
  file.write_at(4, std::as_bytes(std::span(std::string_view("TWO!"))));
  EXPECT_EQ(read_at(file, 0, 100), "one TWO!");
  EXPECT_EQ(read_at(file, 6, 1), "O");
  EXPECT_EQ(read_at(file, 8, 1), "");
  file.resize(10);
  EXPECT_EQ(read_at(file, 0, 100), std::string("one TWO!\0\0", 10));
  file.reserve(100);
  EXPECT_EQ(file.status().kind, FileKind::regular);
  file.resize(3);
  EXPECT_EQ(file.status().size, 3U);
  file.sync();
  std::string all(10, ' ');
  const File again(folder.path() / "x", Open::read);
  EXPECT_EQ(again.read(all), 3U);
  EXPECT_EQ(again.read(all), 0U);
}

TEST(File, ThatCannotBeOpenedHasItsReason) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "x");
  EXPECT_EQ(error_of([&] { File(folder.path() / "none", Open::read); }),
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of([&] { File(folder.path() / "none", Open::write); }),
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of([&] { File(file, Open::create); }), std::errc::file_exists);
  EXPECT_EQ(error_of([&] {
              char byte[1];
              File(folder.path(), Open::read).read(byte);
            }),
            std::errc::is_a_directory);
  EXPECT_EQ(bytes_of_file(file), "x");
}

TEST(File, ChangesHandsAndIsClosedOnce) {
  const TemporaryFolder folder;
  File first(folder.path() / "x", Open::change);
  const File::Handle handle = first.handle();
  { const File borrowed = File::borrowed(handle); }
  File second = std::move(first);
  EXPECT_FALSE(first.is_open());
  EXPECT_EQ(second.handle(), handle);
  second.write("open");
  second.close();
  EXPECT_FALSE(second.is_open());
  EXPECT_EQ(error_of([&] { File::borrowed(handle).write("closed"); }), std::errc::bad_file_descriptor);
}

TEST(File, KnowsWhetherAPathLeadsToIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  const File file(path, Open::change);
  EXPECT_TRUE(file.is_at(path));
  if (is_wine()) GTEST_SKIP() << "under Wine 8 the name of a deleted file stays until it is closed";
  remove_file(path);
  EXPECT_FALSE(file.is_at(path));
  folder.write("x", "another");
  EXPECT_FALSE(file.is_at(path));
}

TEST(File, IsLockedForOne) {
  const TemporaryFolder folder;
  const File second(folder.path() / "x", Open::change);
  {
    const File first(folder.path() / "x", Open::change);
    EXPECT_TRUE(first.try_lock());
    EXPECT_FALSE(second.try_lock());
  }
  EXPECT_TRUE(second.try_lock());
}

TEST(RenameOver, ReplacesAnOpenFile) {
  if (is_wine()) GTEST_SKIP() << "Wine 8 has no renames over open files";
  const TemporaryFolder folder;
  const fs::path goal = folder.write("goal", "old");
  const File open(goal, Open::read);
  rename_over(folder.write("next", "new"), goal);
  EXPECT_EQ(bytes_of_file(goal), "new");
  EXPECT_EQ(read_at(open, 0, 10), "old");
  EXPECT_EQ(error_of([&] { rename_over(folder.path() / "none", goal); }),
            std::errc::no_such_file_or_directory);
}

TEST(MakeLink, LeadsToItsTarget) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "blobs");
  fs::create_directories(folder.path() / "snapshots");
  folder.write("blobs/x", "content");
  const fs::path link = folder.path() / "snapshots/y";
  make_link("../blobs/x", link);
  EXPECT_EQ(bytes_of_file(link), "content");
  EXPECT_EQ(error_of([&] { make_link("../blobs/x", link); }), std::errc::file_exists);
}

TEST(KindAt, IsThatOfWhatAPathLeadsTo) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "x"), link = folder.path() / "link";
  EXPECT_TRUE(is_file(file));
  EXPECT_TRUE(is_folder(folder.path()));
  EXPECT_FALSE(is_file(folder.path()));
  EXPECT_FALSE(is_folder(file));
  for (const fs::path& nothing : {fs::path(), folder.path() / "missing", file / "below a file"}) {
    EXPECT_EQ(kind_at(nothing), std::nullopt) << nothing;
    EXPECT_EQ(link_target(nothing), std::nullopt) << nothing;
  }
  make_link("file", link);
  EXPECT_TRUE(is_file(link));
  EXPECT_EQ(link_target(file), std::nullopt);
  EXPECT_EQ(link_target(folder.path()), std::nullopt);
  if (is_windows()) return;  // where links may be second names
  const fs::path further = folder.path() / "further", nowhere = folder.path() / "nowhere";
  make_link("link", further);
  EXPECT_EQ(link_target(further), fs::canonical(file)) << "where it ends";
  make_link("missing", nowhere);
  EXPECT_EQ(link_target(nowhere), std::nullopt);
  EXPECT_FALSE(is_there(nowhere));
}

TEST(KindAt, KnowsDevices) {
  EXPECT_EQ(kind_at(is_windows() ? "NUL" : "/dev/null"), FileKind::other);
}

TEST(PathText, IsThePathsNameInEveryScript) {
  for (const std::string& name :
       std::vector<std::string>{"", "a.txt", "Zo\u00eb", "\u4e2d\u6587", "\U0001f600.png"})
    EXPECT_EQ(text_of(path_of(name)), name);
  EXPECT_EQ(path_of("a") / path_of("\u00e9"), fs::path("a") / fs::path(u8"\u00e9"));
}

TEST(FileName, HasNoFolder) {
  for (const std::string& name : std::vector<std::string>{"a", "a.safetensors", ".a", "Zo\u00eb"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const std::string& name : std::vector<std::string>{"", ".", "..", "a/b", "/a", "../a", {"a\0b", 3}})
    EXPECT_FALSE(is_file_name(name)) << name;
}

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
}  // namespace headscope::system::file_test
