// The memory of pages.

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

}  // namespace
}  // namespace headscope::model::memory_test
