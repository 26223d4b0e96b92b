// Exceptions from a C library's callbacks are rethrown after the library returns.
#include "app/window/deferred_error.h"

#include "tests/support/matchers.h"

namespace headscope::app::deferred_error_test {
namespace {

TEST(DeferredError, IsThrownOnOnceTheFirstOfSeveral) {
  DeferredError error;
  error.rethrow();  // nothing was thrown
  int calls = 0;
  error.run([&] { ++calls; });
  error.rethrow();
  for (const char* words : {"first", "second"})
    error.run([&] {
      ++calls;
      throw std::runtime_error(words);
    });
  EXPECT_EQ(calls, 3);
  try {
    error.rethrow();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), "first");
  }
  error.rethrow();  // once
}

}  // namespace
}  // namespace headscope::app::deferred_error_test
