#include "model/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <ctime>
#include <stdexcept>

namespace headscope::model::thread_pool_test {
namespace {

TEST(ThreadPool, CallsEveryBlockOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int blocks : {0, 1, 2, 3, 100}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::atomic<int>> calls(static_cast<std::size_t>(blocks));
        pool.parallel_for(blocks, [&](int block, int thread) {
          EXPECT_TRUE(thread >= 0 && thread < threads);
          ++calls[block];
        });
        for (const auto& count : calls) ASSERT_EQ(count, 1);
      }
    }
  }
}

TEST(ThreadPool, NoTwoBodiesHaveTheSameThreadAtATime) {
  ThreadPool pool(3);
  std::vector<std::atomic<bool>> busy(3);
  pool.parallel_for(300, [&](int, int thread) {
    EXPECT_FALSE(busy[thread].exchange(true));
    std::this_thread::yield();
    busy[thread] = false;
  });
}

TEST(ThreadPool, AnExceptionComesOutAndThePoolGoesOn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      EXPECT_THROW(pool.parallel_for(50,
                                     [](int block, int) {
                                       if (block == 7) throw std::runtime_error("block 7");
                                     }),
                   std::runtime_error);
      std::atomic<int> sum = 0;
      pool.parallel_for(10, [&](int block, int) { sum += block; });
      EXPECT_EQ(sum, 45);
    }
  }
}

}  // namespace
}  // namespace headscope::model::thread_pool_test
