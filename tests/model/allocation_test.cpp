// How large the allocations with operator new are, on any thread; Eigen's packing uses malloc.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace {
std::atomic<std::size_t> largest = 0;  // bytes in one allocation

void* counted(std::size_t size) {
  if (size > largest) largest = size;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (size > largest) largest = size;
  void* memory = nullptr;
  if (::posix_memalign(&memory, static_cast<std::size_t>(alignment), size) == 0) return memory;
  throw std::bad_alloc();
}

#ifdef __GNUC__  // GCC reports a free() of memory from its own inlined operator new as mismatched
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace headscope::model::allocation_test {
namespace {

// SECURITY.md: sizes declared by a file take no memory before the data is found.
TEST(Allocation, LayersThatAreNotThereTakeNoMemory) {
  const headscope::testing::TemporaryFolder folder;
  const headscope::testing::Gpt2Shape shape;
  headscope::testing::Gpt2Shape promised = shape;
  promised.layers = 2'000'000;
  write_gpt2(folder, gpt2_config(promised), gpt2_tensors(shape));
  largest = 0;
  EXPECT_THAT(testing::message_of<LoadError>([&] { Transformer::load(folder.path(), {}); }),
              ::testing::HasSubstr("h.2.ln_1.weight"));
  EXPECT_LT(largest, std::size_t{1} << 20);
}

// A pattern or its derivatives would be T x T floats for each head.
TEST(Allocation, GradientsHoldNothingOfTheSizeOfAPattern) {
  const testing::TemporaryFolder folder;
  constexpr int kLength = 1024;
  const testing::Gpt2Shape shape{.positions = kLength};
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  const auto transformer = Transformer::load(folder.path());
  const std::vector<int> ids(kLength, 7);
  Workspace workspace(2);
  const auto run = transformer->forward(ids, workspace);
  Hooks hooks;
  bool called = false;
  for (const Site site : {Site::embed, Site::pattern, Site::attn_scores})
    hooks.watch({site}, [&](const ConstActivation2d&) { called = true; });
  GradientOptions options;
  options.hooks = &hooks;
  largest = 0;
  transformer->gradients(*run, PromptLoss{}, workspace, options);
  EXPECT_TRUE(called);
  EXPECT_LT(largest, sizeof(float) * kLength * kLength);
}

}  // namespace
}  // namespace headscope::model::allocation_test
