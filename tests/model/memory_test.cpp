// The memory of weights and pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "model/kernels/arena.h"
#include "model/kernels/float_memory.h"
#include "model/kernels/page_memory.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::model::memory_test {
namespace {

constexpr std::size_t kFloats = 1000, kBytes = kFloats * sizeof(float);

TEST(Arena, HandsOutZeroedCacheLinesThatDoNotOverlap) {
  const std::vector<std::size_t> sizes = {1, 64, 65, 100000, 0, 3};
  std::size_t total = 0;
  for (const std::size_t size : sizes) total += Arena::room_for(size);
  Arena arena(total);
  EXPECT_EQ(arena.size(), total);
  std::vector<std::byte*> pieces;
  for (const std::size_t size : sizes) {
    std::byte* piece = arena.take(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % Arena::kAlignment, 0U);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(piece[i], std::byte{0});
    pieces.push_back(piece);
    std::fill_n(piece, size, static_cast<std::byte>(pieces.size()));
  }
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (std::size_t i = 0; i < sizes[p]; ++i) ASSERT_EQ(pieces[p][i], static_cast<std::byte>(p + 1));
  }
}

TEST(FloatMemory, BeginsALineAndAHugePageWhereItFillsOne) {
  constexpr std::size_t kHugePage = kHugePageBytes / sizeof(float);
  for (const std::size_t floats :
       {std::size_t{1}, std::size_t{1000}, kHugePage - 1, kHugePage, 3 * kHugePage + 5}) {
    const FloatMemory memory = allocate_floats(floats);
    const std::size_t alignment = floats < kHugePage ? kCacheLineBytes : kHugePageBytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment, 0U) << floats;
    std::fill_n(memory.get(), floats, 5.0F);  // all of it is usable
  }
  EXPECT_THROW(allocate_floats(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
}

TEST(Buffer, Grows) {
  Buffer buffer;
  float* small = buffer.reserve(10);
  std::fill_n(small, 10, 5.0F);
  EXPECT_EQ(buffer.reserve(7), small);
  constexpr std::size_t kMuch = 3U << 20;
  std::fill_n(buffer.reserve(kMuch), kMuch, 5.0F);
}

TEST(Workers, GiveEachThreadScratchOfItsOwn) {
  Workers workers(3);
  workers.reserve_scratch(100);
  workers.reserve_scratch(50);  // a smaller size keeps the memory
  std::vector<float*> of_thread(3, nullptr);
  workers.parallel_for_threads(300, [&](int block, int thread, float* scratch) {
    std::fill_n(scratch, 100, static_cast<float>(block));
    of_thread[thread] = scratch;
    ASSERT_EQ(std::count(scratch, scratch + 100, static_cast<float>(block)), 100);
  });
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < a; ++b) {
      const float *one = of_thread[a], *other = of_thread[b];
      if (one != nullptr && other != nullptr) {
        EXPECT_GE(std::abs(one - other), 100);
      }
    }
  }
}

TEST(PageMemory, GivesOutAgainWhatCameBack) {
  PageMemory memory;
  memory.keep_at_most(10 * kBytes);
  FloatMemory first = memory.take(kFloats);
  EXPECT_EQ(memory.bytes_in_use(), kBytes);
  EXPECT_EQ(memory.bytes_free(), 0U);
  const float* where = first.get();
  std::fill_n(first.get(), kFloats, 5.0F);  // all of it is usable
  memory.give_back(std::move(first), kFloats);
  EXPECT_EQ(memory.bytes_in_use(), 0U);
  EXPECT_EQ(memory.bytes_free(), kBytes);

  const FloatMemory second = memory.take(kFloats), third = memory.take(kFloats);
  EXPECT_EQ(second.get(), where);
  EXPECT_NE(third.get(), where);
  EXPECT_EQ(memory.bytes_in_use(), 2 * kBytes);
  EXPECT_EQ(memory.bytes_free(), 0U);
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

// A page of another model is useless, and is freed when the limit is reached.
TEST(PageMemory, GivesOnlyWhatIsOfTheRightSize) {
  PageMemory memory;
  memory.keep_at_most(3 * kBytes);
  FloatMemory one = memory.take(kFloats), two = memory.take(kFloats);
  const float* where = two.get();
  memory.give_back(std::move(one), kFloats);
  memory.give_back(std::move(two), kFloats);
  FloatMemory larger = memory.take(2 * kFloats);
  std::fill_n(larger.get(), 2 * kFloats, 5.0F);
  EXPECT_EQ(memory.bytes_in_use(), 2 * kBytes);
  EXPECT_EQ(memory.bytes_free(), kBytes);
  EXPECT_EQ(memory.take(kFloats).get(), where);  // the oldest was freed first
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
