#include <sched.h>

#include "model/files/file_io.h"
#include "model/kernels/thread_pool.h"
#include "system/machine.h"
#include "tests/support/matchers.h"

namespace headscope::model::linux_test {
namespace {

TEST(ReadFile, OfTheSystemHasNoSize) {
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // whose size is reported as 0
}

TEST(ThreadPool, HasNoMoreThreadsThanProcessorsThatItMayUse) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(system::available_processors(), 1);
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(system::available_processors(), CPU_COUNT(&before));
}

}  // namespace
}  // namespace headscope::model::linux_test
