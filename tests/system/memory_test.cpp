#include "system/memory.h"

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::memory_test {
namespace {

TEST(MappedFile, HasTheBytesOfAFileOrNone) {
  const TemporaryFolder folder;
  const std::string bytes = "a\0b\r\n" + std::string(10'000, 'x');
  MappedFile file(folder.write("file", bytes));
  const MappedFile moved(std::move(file));
  EXPECT_TRUE(file.bytes().empty());
  EXPECT_TRUE(std::ranges::equal(moved.bytes(), bytes,
                                 [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); }));
  EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
  EXPECT_TRUE(MappedFile(folder.path()).bytes().empty());
  EXPECT_TRUE(MappedFile(folder.path() / "none").bytes().empty());
}

}  // namespace
}  // namespace headscope::system::memory_test
