// Counts allocations with operator new while a run is continued by one token.
//
// Includes everything that C++ code allocates, on any thread, but not Eigen's packing, which uses malloc. A
// step allocates only what it returns: the Run (one object, its list of tokens, its list of pages) and, every
// 64 tokens, a page (the object and its values).
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace {
std::atomic<int> allocations = 0;
std::atomic<std::size_t> largest = 0;  // bytes in one allocation

void* counted(std::size_t size) {
  ++allocations;
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
  ++allocations;
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

constexpr int kOfTheRun = 3;
constexpr int kOfAPage = 2;

void expect_steps_that_allocate_only_their_run(const std::filesystem::path& folder, Precision precision) {
  LoadOptions load;
  load.precision = precision;
  const auto transformer = Transformer::load(folder, load);
  const std::vector<int> ids(static_cast<std::size_t>(transformer->config().n_ctx), 7);
  std::vector<float> logits(static_cast<std::size_t>(transformer->config().vocab_size));
  Workspace workspace(2);
  constexpr std::size_t kWarm = 2;
  auto last = transformer->forward(std::span(ids).first(kWarm), workspace);
  transformer->logits(*last, 0, 1, workspace, logits);

  for (std::size_t length = kWarm + 1; length <= ids.size(); ++length) {
    ForwardOptions options;
    options.base = last.get();
    const int before = allocations;
    auto next = transformer->forward(std::span(ids).first(length), workspace, options);
    transformer->logits(*next, static_cast<int>(length) - 1, 1, workspace, logits);
    const int made = allocations - before;
    const bool begins_a_page = (length - 1) % Page::kPositions == 0;
    ASSERT_EQ(made, kOfTheRun + (begins_a_page ? kOfAPage : 0)) << "token " << length;
    last = std::move(next);
  }
}

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

TEST(Allocation, AStepOfOneTokenAllocatesOnlyTheRunItGives) {
  const testing::TemporaryFolder folder;
  const testing::Gpt2Shape shape{.positions = 200};
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  for (const Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) {
    expect_steps_that_allocate_only_their_run(folder.path(), precision);
  }
  // A model with more columns, rows and heads than a block of work.
  expect_steps_that_allocate_only_their_run(testing::model_folder("plain"), Precision::f32);
  expect_steps_that_allocate_only_their_run(testing::model_folder("wide"), Precision::f16);
  expect_steps_that_allocate_only_their_run(testing::model_folder("unscaled"), Precision::bf16);
}

}  // namespace
}  // namespace headscope::model::allocation_test
