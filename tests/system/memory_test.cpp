#include "system/memory.h"

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::memory_test {
namespace {

TEST(Pages, AreZeroedAndCanBeWritten) {
  constexpr std::size_t kBytes = std::size_t{5} << 20;
  auto* const memory = static_cast<unsigned char*>(allocate_pages(kBytes));
  prefer_huge_pages(memory, kBytes);
  EXPECT_TRUE(std::all_of(memory, memory + kBytes, [](unsigned char byte) { return byte == 0; }));
  std::fill(memory, memory + kBytes, 1);
  free_pages(memory, kBytes);
  EXPECT_THROW(allocate_pages(std::size_t{1} << 62), std::bad_alloc);
}

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
