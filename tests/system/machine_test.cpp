// What the machine has, and files that are mapped into memory.
#include "system/machine.h"
#include "system/memory.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::machine_test {
namespace {

TEST(Machine, IsThisOne) {
  EXPECT_GE(available_processors(), 1);
  const MemoryFacts memory = memory_here();
  EXPECT_GT(memory.free, 0U);
  EXPECT_LE(memory.free, memory.all);
  EXPECT_TRUE(std::filesystem::is_regular_file(executable()));
}

TEST(Processors, OfAQuota) {
  EXPECT_EQ(processors_of_quota("150000 100000\n"), 1.5);
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  for (const char* text : {"max 100000\n", "-1\n 100000\n", "", "100000 0"})
    EXPECT_EQ(processors_of_quota(text), kNoLimit) << text;
}

using Bytes = std::pair<std::uint64_t, std::uint64_t>;

TEST(Memory, IsTheMachinesOrWhatIsLeftOfTheLimit) {
  const std::string meminfo = "MemTotal:       1000 kB\nMemFree:    1 kB\nMemAvailable:    500 kB\n";
  const auto facts = [&](const char* limit, const char* used) {
    const MemoryFacts found = memory_facts(meminfo, limit, used);
    return Bytes(found.all, found.free);
  };
  EXPECT_EQ(facts("max\n", "0\n"), Bytes(1024000, 512000));
  EXPECT_EQ(facts("", ""), Bytes(1024000, 512000));
  EXPECT_EQ(facts("99999999\n", "5\n"), Bytes(1024000, 512000));
  EXPECT_EQ(facts("100000\n", "30000\n"), Bytes(100000, 70000));
  EXPECT_EQ(facts("900000\n", "30000\n"), Bytes(900000, 512000));
  EXPECT_EQ(facts("1000\n", "2000\n"), Bytes(1000, 0));
  EXPECT_EQ(memory_facts("nonsense", "x", "y").all, 0U);
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
}  // namespace headscope::system::machine_test
