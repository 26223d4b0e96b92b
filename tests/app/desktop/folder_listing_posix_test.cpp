// Folders with what POSIX's file systems have: names of any bytes, and rights.
#include <unistd.h>

#include "tests/app/desktop/listed_folders.h"

namespace headscope::app::folder_listing_posix_test {
namespace {

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
    expect_problem(folder.path() / "shut", "No permission to read the folder");
    expect_problem(folder.path() / "shut/below", "No permission to read the folder");
    EXPECT_THAT(list_folder(folder.path()).entries,
                ElementsAre(FolderEntry{"open", FolderEntry::Kind::model}, FolderEntry{"shut"}));
  }
  fs::permissions(folder.path() / "shut", fs::perms::owner_all);
}

}  // namespace
}  // namespace headscope::app::folder_listing_posix_test
