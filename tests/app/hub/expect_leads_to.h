#pragma once
#include "system/machine.h"
#include "tests/support/matchers.h"

namespace headscope::app {

/// Checks that a file of a snapshot is a blob: a relative link, as Hugging Face's library writes it, or on
/// Windows another name of the same file, since links take a right there.
inline void expect_leads_to(const std::filesystem::path& file, const std::filesystem::path& target) {
  if (system::is_windows()) {
    EXPECT_TRUE(std::filesystem::equivalent(file, file.parent_path() / target)) << file;
  } else {
    EXPECT_EQ(std::filesystem::read_symlink(file), target);
  }
}

}  // namespace headscope::app
