#pragma once
#include "app/desktop/folder_listing.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {

inline constexpr const char* kModel = R"({"model_type": "gpt2"})";

/// Checks for one helpful sentence that names the folder, without C++ messages.
inline void expect_problem(const std::filesystem::path& folder, const std::string& part) {
  const FolderListing listing = list_folder(folder);
  EXPECT_EQ(listing.folder, folder);
  EXPECT_THAT(listing.entries, IsEmpty());
  EXPECT_THAT(listing.problem, AllOf(HasSubstr(part), EndsWith("."), Not(HasSubstr("filesystem")),
                                     Not(HasSubstr("directory iterator"))));
}

}  // namespace headscope::app
