// The memory of pages.

#include "model/kernels/page_memory.h"
#include "tests/support/matchers.h"

namespace headscope::model::memory_test {
namespace {

constexpr std::size_t kFloats = 1000, kBytes = kFloats * sizeof(float);

TEST(PageMemory, GivesOutAgainWhatCameBack) {
  PageMemory memory;
  memory.keep_at_most(10 * kBytes);
  FloatMemory first = memory.take(kFloats);
  const float* where = first.get();
  memory.give_back(std::move(first), kFloats);
  const FloatMemory second = memory.take(kFloats), third = memory.take(kFloats);
  EXPECT_EQ(second.get(), where);
  EXPECT_NE(third.get(), where);
}

TEST(PageMemory, CountsWhatIsInUseAgainstTheBound) {
  PageMemory memory;
  memory.keep_at_most(3 * kBytes);
  std::vector<FloatMemory> pages;
  for (int i = 0; i < 5; ++i) pages.push_back(memory.take(kFloats));  // more may be in use than are kept
  EXPECT_EQ(memory.bytes_in_use(), 5 * kBytes);
  const auto give_back = [&] {
    memory.give_back(std::move(pages.back()), kFloats);
    pages.pop_back();
  };
  give_back();
  give_back();
  EXPECT_EQ(memory.bytes_free(), 0U);
  give_back();
  EXPECT_EQ(memory.bytes_in_use(), 2 * kBytes);
  EXPECT_EQ(memory.bytes_free(), kBytes);
  give_back();
  give_back();
  EXPECT_EQ(memory.bytes_free(), 3 * kBytes);

  memory.keep_at_most(2 * kBytes - 1);
  EXPECT_EQ(memory.bytes_free(), kBytes);
  memory.keep_at_most(0);
  EXPECT_EQ(memory.bytes_free(), 0U);
}

TEST(PageMemory, TakesBackFromAnyThread) {
  PageMemory memory;
  memory.keep_at_most(4 * kBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        FloatMemory mine = memory.take(kFloats);
        FloatMemory handed_over = memory.take(kFloats);
        std::fill_n(mine.get(), kFloats, static_cast<float>(i));
        std::thread([&] { memory.give_back(std::move(handed_over), kFloats); }).join();
        ASSERT_EQ(std::count(mine.get(), mine.get() + kFloats, static_cast<float>(i)), kFloats);
        memory.give_back(std::move(mine), kFloats);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_in_use(), 0U);
  EXPECT_LE(memory.bytes_free(), 4 * kBytes);
  EXPECT_GT(memory.bytes_free(), 0U);
}

}  // namespace
}  // namespace headscope::model::memory_test
