// The memory of pages.

#include <thread>

#include "model/kernels/float_memory.h"
#include "tests/support/matchers.h"

namespace headscope::model::memory_test {
namespace {

constexpr std::size_t kFloats = 1000, kBytes = kFloats * sizeof(float);

TEST(PageMemory, CountsWhatIsInUseAgainstTheBound) {
  PageMemory memory;
  memory.keep_at_most(2 * kBytes);
  std::vector<FloatMemory> pages;
  for (int i = 0; i < 3; ++i) pages.push_back(memory.take(kFloats));  // more may be in use than are kept
  std::vector<const float*> places;
  for (FloatMemory& page : pages) {
    places.push_back(page.get());
    memory.give_back(std::move(page), kFloats);
  }
  const FloatMemory second = memory.take(kFloats);  // the first one was freed beside two in use
  EXPECT_EQ(second.get(), places[1]);
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
}

}  // namespace
}  // namespace headscope::model::memory_test
