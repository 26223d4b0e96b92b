#include "model/kernels/thread_pool.h"
#include "tests/support/matchers.h"

#include <ctime>

namespace headscope::model::thread_pool_test {
namespace {

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
