// What can be tested only with devices, pipes, limits and the processors of a process.

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/safetensors.h"
#include "model/kernels/thread_pool.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "system/machine.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/resource_limit.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::model::posix_test {
namespace {

namespace fs = std::filesystem;

TEST(ReadFile, EndsWhereADeviceHasNoEnd) {
  EXPECT_THAT(message_of<LoadError>([] { read_file("/dev/zero", 100'000); }), HasSubstr("found more"));
}

// A pipe has no end, and blocks until somebody writes to it, so it is rejected as a model's file.
TEST(HostileFolder, NoPipeIsWaitedFor) {
  const testing::Gpt2Shape shape;
  for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json"}) {
    const TemporaryFolder folder;
    if (std::string_view(name) != "config.json") folder.write("config.json", testing::gpt2_config(shape));
    ASSERT_EQ(::mkfifo((folder.path() / name).c_str(), 0600), 0);
    EXPECT_THAT(message_of<LoadError>([&] { Transformer::load(folder.path(), {}); }),
                HasSubstr("expected a regular file, found a device or a pipe"))
        << name;
  }
  for (const auto& [pipe, other] :
       {std::pair{"vocab.json", "merges.txt"}, {"merges.txt", "vocab.json"}, {"tokenizer.json", "unused"}}) {
    const TemporaryFolder folder;
    folder.write(other, "{}");
    ASSERT_EQ(::mkfifo((folder.path() / pipe).c_str(), 0600), 0);
    EXPECT_THAT(message_of<LoadError>([&] { Tokenizer::load(folder.path()); }),
                HasSubstr("expected a regular file, found a device or a pipe"))
        << pipe;
  }
}

TEST(HostileFolder, ALinkThatLeadsNowhereIsNoMissingFile) {
  const TemporaryFolder folder;
  fs::create_symlink("gone", folder.path() / "config.json");
  const std::string message = message_of<LoadError>([&] { Transformer::load(folder.path(), {}); });
  expect_load_sentence(message, "config.json", "a link to gone");
}

TEST(SafetensorsWriter, TellsOfAFullDiskBeforeTheWork) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "large";
  const ResourceLimit limit(RLIMIT_FSIZE, 1 << 20);
  const std::string message = message_of<std::runtime_error>([&] {
    SafetensorsWriter(path, {{"x", {1 << 20}}}, {});
  });
  EXPECT_TRUE(is_sentence(message)) << message;
  EXPECT_THAT(message, HasSubstr(path.string()));
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(ReadFile, OfTheSystemHasNoSize) {
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // whose size is reported as 0
}

TEST(ReadFile, ThatEndsBeforeItsSizeIsNotWhole) {
  const fs::path file = "/sys/devices/system/cpu/online";  // a line, with the size of a page
  if (!fs::exists(file)) GTEST_SKIP() << "/sys is not mounted";
  EXPECT_THAT(message_of<LoadError>([&] { read_file(file); }), HasSubstr("found only"));
}

/// The bytes of addresses that this process has taken.
rlim_t taken() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  }
  TemporaryFolder folder_;
};

// SECURITY.md: sizes declared by a file take no memory before the data is found.
TEST_F(Memory, LayersThatAreNotThereTakeNone) {
  write_gpt2(folder_, gpt2_config({.layers = 1 << 24}), gpt2_tensors({}));
  const ResourceLimit limit(RLIMIT_AS, taken() + (rlim_t{1} << 30));
  EXPECT_THAT(message_of<LoadError>([&] { Transformer::load(folder_.path()); }),
              HasSubstr("h.2.ln_1.weight"));
}

// A pattern or its derivatives would be T x T floats for each head.
TEST_F(Memory, GradientsHoldNothingOfTheSizeOfAPattern) {
  constexpr int kLength = 8192;
  write_gpt2(folder_, gpt2_config({.positions = kLength}), gpt2_tensors({.positions = kLength}));
  const auto transformer = Transformer::load(folder_.path());
  const std::vector<int> ids(kLength, 7);
  Workspace workspace(2);
  const auto run = transformer->forward(ids, workspace);
  Hooks hooks;
  bool called = false;
  for (const Site site : {Site::embed, Site::pattern, Site::attn_scores})
    hooks.watch({site}, [&](const ConstActivation2d&) { called = true; });
  GradientOptions options;
  options.hooks = &hooks;
  const ResourceLimit limit(RLIMIT_AS, taken() + rlim_t{sizeof(float)} * kLength * kLength);
  transformer->gradients(*run, PromptLoss{}, workspace, options);
  EXPECT_TRUE(called);
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
}  // namespace headscope::model::posix_test
