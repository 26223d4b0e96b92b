// Each allocation fails once. The command then succeeds or fails with one sentence, leaves no partial file,
// and works the next time.
//
// Counts allocations of C++ code on any thread, but not malloc calls of Eigen, FreeType and other C
// libraries.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

#include "app/cli/program.h"
#include "tests/app/one_failure.h"
#include "tests/support/freeing_delete.h"
#include "tests/support/temporary_folder.h"

namespace {

std::atomic<long> allocations = 0;
std::atomic<long> failing = -1;  ///< number of the allocation that fails; -1: none

void* allocated(std::size_t size, std::size_t alignment) {
  if (allocations.fetch_add(1, std::memory_order_relaxed) == failing.load(std::memory_order_relaxed))
    throw std::bad_alloc();
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) == 0)
    return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return allocated(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new[](std::size_t size) {
  return allocated(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated(size, static_cast<std::size_t>(alignment));
}

namespace headscope::app::failing_allocations_test {
namespace {

using app::testing::Ran;
using headscope::testing::TemporaryFolder;

Ran run(const std::vector<std::string>& arguments, long fails = -1) {
  return app::testing::run(arguments, allocations, failing, fails);
}

/// Runs in its own process, because it may end in a destructor; its messages are read from its descriptor.
Ran run_apart(const std::vector<std::string>& arguments, long fails) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return folder.path() / name; };
  const pid_t child = ::fork();
  if (child == 0) {
    const int said = ::open(file("said").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(said, STDERR_FILENO);
    report_out_of_memory();
    const Ran ran = run(arguments, fails);
    folder.write("out", ran.out);
    folder.write("err", ran.err);
    ::_exit(ran.status);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "by signal " << WTERMSIG(status);
  const auto text = [&](const char* name) {
    return std::filesystem::exists(file(name)) ? headscope::testing::bytes_of_file(file(name)) : "";
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err") + text("said"), 0};
}

struct CommandCase {
  const char* name;
  std::vector<std::string> arguments;
  bool writes = false;  ///< a file "out.EXTENSION"
  const char* extension = "";
  friend void PrintTo(const CommandCase& asked, std::ostream* out) { *out << asked.name; }
};

class FailingAllocations : public ::testing::TestWithParam<CommandCase> {};

const std::string kPrompt = "The old king had a dog, and the old king";

INSTANTIATE_TEST_SUITE_P(
    Commands, FailingAllocations,
    ::testing::Values(
        CommandCase{"info", {"info", "--json"}},
        CommandCase{"predict", {"predict", "--json", "--prompt", kPrompt}},
        CommandCase{"edited", {"predict", "--json", "--edit", "L1H6.z=0", "--prompt", kPrompt}},
        CommandCase{"sweep", {"sweep", "--json", "--prompt", "The old king"}},
        CommandCase{"trace", {"trace", "--hooks", "*pattern", "--prompt", kPrompt}, true, ".safetensors"},
        CommandCase{"gradients",
                    {"trace", "--hooks", "*pattern", "--gradients", "loss", "--prompt", kPrompt},
                    true,
                    ".safetensors"},
        CommandCase{"heatmap", {"plot", "heatmap", "--prompt", kPrompt}, true, ".png"},
        CommandCase{"lens", {"plot", "lens", "--prompt", kPrompt}, true, ".svg"},
        CommandCase{"attribution", {"plot", "attribution", "--prompt", kPrompt}, true, ".pdf"},
        CommandCase{"window", {"shot", "--prompt", kPrompt}, true, ".png"}),
    [](const auto& test) { return test.param.name; });

TEST_P(FailingAllocations, LeaveASentenceAndNothingElse) {
  const TemporaryFolder folder;
  const auto file = folder.path() / (std::string("out") + GetParam().extension);
  std::vector<std::string> arguments = GetParam().arguments;
  if (GetParam().writes) arguments.insert(arguments.end(), {"--out", file.string()});
  run(arguments);  // creates caches, so that they are not counted
  const Ran whole = run(arguments);
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::string content = GetParam().writes ? headscope::testing::bytes_of_file(file) : "";
  std::mt19937 random(1);
  for (int i = 0; i < app::testing::failures(); ++i) {
    // More samples near the start and the end, which are more varied than the loops in between.
    const double share = std::uniform_real_distribution<>(0, 1)(random);
    const long from_an_end = static_cast<long>(std::pow(static_cast<double>(whole.calls), share)) - 1;
    const long fails = i % 3 == 0   ? static_cast<long>(share * static_cast<double>(whole.calls))
                       : i % 3 == 1 ? from_an_end
                                    : whole.calls - 1 - from_an_end;
    SCOPED_TRACE("allocation " + std::to_string(fails) + " of " + std::to_string(whole.calls));
    std::filesystem::remove(file);
    const Ran ran = run_apart(arguments, fails);
    if (ran.status == 0) {
      EXPECT_EQ(ran.out, whole.out);
      if (GetParam().writes) {
        EXPECT_TRUE(headscope::testing::bytes_of_file(file) == content);
      }
      continue;
    }
    app::testing::expect_refused_in_a_sentence(ran);
    const bool whole_file =
        std::filesystem::exists(file) && headscope::testing::bytes_of_file(file) == content;
    EXPECT_EQ(folder.file_count(), whole_file ? 1U : 0U) << "nothing half written";
  }
  const Ran after = run(arguments);
  EXPECT_EQ(after.status, 0) << after.err;
  EXPECT_EQ(after.out, whole.out);
}

}  // namespace
}  // namespace headscope::app::failing_allocations_test
