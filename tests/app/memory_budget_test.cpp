// Started by tests/model/reference/small_shape_check.py, which says in HEADSCOPE_SMALL_SHAPE where a model of
// GPT-2 small's shape is.
#include "app/memory_budget.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "app/worker.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1e6;

/// The whole context, of tokens that begin with `first`.
std::vector<int> longest_prompt(const model::Config& config, int first) {
  std::vector<int> ids(static_cast<std::size_t>(config.n_ctx));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = (first + static_cast<int>(i) * 37) % 1000;
  return ids;
}

TEST(Memory, OfGpt2SmallWithTwoOfTheLongestRunsIsWithinTheBudget) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  const char* folder = std::getenv("HEADSCOPE_SMALL_SHAPE");
  ASSERT_NE(folder, nullptr) << "HEADSCOPE_SMALL_SHAPE is not set";
  for (const char* file : {"vocab.json", "merges.txt"}) {  // any tokenizer with no more ids
    fs::copy_file(fs::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales" / file, fs::path(folder) / file,
                  fs::copy_options::overwrite_existing);
  }
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  Worker worker({.threads = threads, .wake = nullptr});
  Wanted want;
  want.model = folder;
  want.load_request = 1;
  worker.want(want);
  const auto loaded = worker.settle();
  ASSERT_EQ(loaded->error, "");
  const model::Transformer& transformer = *loaded->model->transformer;
  const MemoryBudget budget = memory_budget(transformer, threads);

  for (const int first : {1, 2, 3}) {
    want.prompt.ids = longest_prompt(transformer.config(), first);
    worker.want(want);
    const auto settled = worker.settle();
    ASSERT_EQ(settled->error, "");
    EXPECT_EQ(settled->run->run->computed_positions, transformer.config().n_ctx);
    EXPECT_LE(settled->cache_bytes, budget.runs);
  }
  for (const int head : {3, 7}) {
    want.selection.head = head;
    worker.want(want);
    worker.settle();
  }
  EXPECT_LE(peak_memory_bytes(), static_cast<double>(budget.total()));
  if (threads <= 4) {  // each takes scratch memory
    EXPECT_LE(static_cast<double>(budget.total() - budget.weights), 350 * kMegabyte);
  }
}

}  // namespace
}  // namespace headscope::app
