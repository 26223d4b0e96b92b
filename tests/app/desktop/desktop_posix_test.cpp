// What only POSIX has: pipes with names among files, names of any bytes, rights, and limits of memory.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include "app/desktop/background.h"
#include "app/run/sources/model_discovery.h"
#include "app/tour/tour.h"
#include "tests/app/desktop/listed_folders.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::desktop_posix_test {
namespace {

TEST(ModelDiscovery, APipeIsNoModelAndIsNotWaitedFor) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "pipe");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe" / "config.json").c_str(), 0600), 0);
  EXPECT_FALSE(is_gpt2(folder.path() / "pipe"));
}

TEST(Tours, AreFilesAndNothingElse) {
  const TemporaryFolder folder;
  folder.write("a.md", "# T\n\nAbout.\n\n## S\n- prompt: The old king\n\nWords.\n");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.md").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path() / "sub.md");
  LoadedTours loaded = load_tours({folder.path()});
  EXPECT_EQ(loaded.tours.size(), 1);
  EXPECT_THAT(loaded.problem, HasSubstr("pipe.md: expected a file"));
  EXPECT_THROW(find_tour(loaded, (folder.path() / "pipe.md").string()), std::runtime_error);
}

namespace fs = std::filesystem;

/// Drops root's rights, because root may read everything.
class WithoutRootsRights {
 public:
  WithoutRootsRights() {
    if (root_ && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot give up root's rights";
  }
  ~WithoutRootsRights() {
    if (root_ && ::seteuid(0) != 0) ADD_FAILURE() << "cannot take root's rights back";
  }
  WithoutRootsRights(const WithoutRootsRights&) = delete;
  WithoutRootsRights& operator=(const WithoutRootsRights&) = delete;

 private:
  bool root_ = ::geteuid() == 0;
};

TEST(FolderListing, NamesMayHaveAnyBytes) {
  const TemporaryFolder folder;
  const std::string name = "\xff\xfe \n\x01 \xf0\x9f\x98\x80";
  folder.write(fs::path(name) / "config.json", kModel);
  EXPECT_THAT(list_folder(folder.path()).entries, ElementsAre(FolderEntry{name, FolderEntry::Kind::model}));
  EXPECT_TRUE(list_folder(folder.path() / name).is_model);
}

TEST(FolderListing, WhatMayNotBeReadIsSaidOfTheFolderAndPassedOverInside) {
  const TemporaryFolder folder;
  folder.write("open/config.json", kModel);
  folder.write("shut/config.json", kModel);
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder.path() / "shut", fs::perms::none);
  {
    const WithoutRootsRights somebody;
    expect_problem(folder.path() / "shut", "cannot be read");
    expect_problem(folder.path() / "shut/below", "cannot be read");
    EXPECT_THAT(list_folder(folder.path()).entries,
                ElementsAre(FolderEntry{"open", FolderEntry::Kind::model}, FolderEntry{"shut"}));
  }
  fs::permissions(folder.path() / "shut", fs::perms::owner_all);
}

using namespace std::chrono_literals;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Runs in its own process, without room for another thread's stack. Exits with 3 if everything is as
/// expected.
[[noreturn]] void start_without_room() {
  const rlimit none{1 << 20, 1 << 20};
  ::setrlimit(RLIMIT_AS, &none);
  Background<int> background([] {});
  background.run_in_order("b", [] { return 1; });
  background.run("a", [] { return 2; });
  std::_Exit(running_tasks == 0 && background.take() == std::vector{1, 2} ? 3 : 4);
}

TEST(Background, WithoutThreadsWorksRunAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process without stacks of ended threads
  EXPECT_EXIT(start_without_room(), ::testing::ExitedWithCode(3), "");
}
#endif

}  // namespace
}  // namespace headscope::app::desktop_posix_test
