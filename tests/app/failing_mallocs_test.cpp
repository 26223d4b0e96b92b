// Each malloc call of Eigen, stb, Dear ImGui and other code in the program fails once. The command then
// succeeds or fails with one sentence and leaves no partial file.
//
// Calls of system libraries are not counted: cairo ignores some failures, libstb aborts, and zlib has its own
// calls.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

#include "tests/app/one_failure.h"
#include "tests/support/freeing_delete.h"
#include "tests/support/temporary_folder.h"

namespace {

std::atomic<long> mallocs = 0;
std::atomic<long> failing = -1;  ///< number of the call that fails; -1: none

extern "C" const char __executable_start, etext;  // from the linker: the range of the program's own code

/// `caller`: the address that the call returns to.
bool fails(const void* caller) {
  if (caller < &__executable_start || caller > &etext) return false;
  if (mallocs.fetch_add(1, std::memory_order_relaxed) != failing.load(std::memory_order_relaxed))
    return false;
  errno = ENOMEM;
  return true;
}

void* allocated(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" {

// glibc's functions, for programs that replace malloc.
void* __libc_malloc(std::size_t size);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT

void* malloc(std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

}  // extern "C"

// C++ allocations never fail here.
void* operator new(std::size_t size) {
  return allocated(__libc_malloc(size));
}
void* operator new[](std::size_t size) {
  return allocated(__libc_malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated(__libc_memalign(static_cast<std::size_t>(alignment), size));
}

namespace headscope::app::failing_mallocs_test {
namespace {

using app::testing::Ran;
using headscope::testing::TemporaryFolder;

Ran run(const std::vector<std::string>& arguments, long fails = -1) {
  return app::testing::run(arguments, mallocs, failing, fails);
}

struct CommandCase {
  const char* name;
  std::vector<std::string> arguments;
  const char* file;
  friend void PrintTo(const CommandCase& asked, std::ostream* out) { *out << asked.name; }
};

class FailingMallocs : public ::testing::TestWithParam<CommandCase> {};

const std::string kPrompt = "The old king had a dog, and the old king";

INSTANTIATE_TEST_SUITE_P(
    Commands, FailingMallocs,
    ::testing::Values(
        CommandCase{"trace", {"trace", "--hooks", "*pattern", "--prompt", kPrompt}, "a.safetensors"},
        CommandCase{"heatmap", {"plot", "heatmap", "--prompt", kPrompt}, "a.png"},
        CommandCase{"lens", {"plot", "lens", "--prompt", kPrompt}, "a.svg"},
        CommandCase{"metrics", {"plot", "metrics", "--prompt", kPrompt}, "a.pdf"},
        CommandCase{"window", {"shot", "--prompt", kPrompt}, "a.png"}),
    [](const auto& test) { return test.param.name; });

TEST_P(FailingMallocs, LeaveASentenceAndNothingElse) {
  const TemporaryFolder folder;
  const auto file = folder.path() / GetParam().file;
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.insert(arguments.end(), {"--out", file.string()});
  run(arguments);  // creates caches, so that they are not counted
  const Ran whole = run(arguments);
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::string content = headscope::testing::bytes_of_file(file);
  std::mt19937 random(1);
  for (int i = 0; i < app::testing::failures(); ++i) {
    const double share = std::uniform_real_distribution<>(0, 1)(random);
    const long fails = static_cast<long>(share * static_cast<double>(whole.calls));
    SCOPED_TRACE("malloc " + std::to_string(fails) + " of " + std::to_string(whole.calls));
    std::filesystem::remove(file);
    const Ran ran = run(arguments, fails);
    if (ran.status == 0) {
      EXPECT_TRUE(headscope::testing::bytes_of_file(file) == content);
      continue;
    }
    app::testing::expect_refused_in_a_sentence(ran);
    EXPECT_EQ(folder.file_count(), 0U);
  }
}

}  // namespace
}  // namespace headscope::app::failing_mallocs_test
