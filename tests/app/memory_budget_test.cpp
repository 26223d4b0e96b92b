// Started by tests/model/reference/small_shape_check.py, which sets HEADSCOPE_SMALL_SHAPE to the path of a
// model with GPT-2 small's shape.
#include "app/run/memo.h"

#include <malloc.h>

#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/worker.h"
#include "app/window/core.h"
#include "system/memory.h"
#include "tests/support/matchers.h"
#include "tests/support/null_screen.h"
#include "tests/support/source_folders.h"

namespace headscope::app::memory_budget_test {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1e6;

/// A prompt as long as the context, starting with the token `first`.
std::vector<int> longest_prompt(const model::Config& config, int first) {
  std::vector<int> ids(config.n_ctx);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = (first + static_cast<int>(i) * 37) % 1000;
  return ids;
}

/// What Linux adds where it gives huge pages unasked, as Debian's kernel does: to stacks and the heap's
/// blocks.
std::size_t rounded_to_huge_pages() {
  std::string chosen;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), chosen);
  return chosen.starts_with("[always]") ? std::size_t{32} << 20 : 0;
}

/// The most memory this process ever had in use; getrusage tells of the program that started it, too.
double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  double kibibytes = 0;
  for (std::string word; word != "VmHWM:" && status >> word;) continue;
  status >> kibibytes;
  return kibibytes * 1024;
}

/// A worker with a model of GPT-2 small's shape, and its memory limit.
class MemoryOfGpt2Small : public ::testing::Test {
 protected:
  void SetUp() override {
    system::keep_little_freed_memory();  // as the window does
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
    const char* folder = std::getenv("HEADSCOPE_SMALL_SHAPE");
    ASSERT_NE(folder, nullptr) << "HEADSCOPE_SMALL_SHAPE is not set";
    for (const char* file : {"vocab.json", "merges.txt"}) {  // any tokenizer with no larger ids
      fs::copy_file(headscope::testing::source_dir() / "assets/models/tales" / file, fs::path(folder) / file,
                    fs::copy_options::overwrite_existing);
    }
    want_.model = folder;
    want_.load_request = 1;
    ask_about(0);
  }

  /// Asks all questions that the window asks when it shows a head's stages.
  void ask_about(int head) {
    want_.questions = {StagesOf{0, head}, PatternOf{0, head}, NextAfter{-1}, ThumbnailsOfHeads{},
                       StatisticsOfTokens{}};
  }

  const Snapshot& settled() {
    worker_->want(want_);
    shown_ = worker_->settle();
    EXPECT_EQ(shown_->error, "");
    return *shown_;
  }

  const Snapshot& show(std::vector<int> ids) {
    want_.prompt.ids = std::move(ids);
    return settled();
  }

  void expect_within_budget() const {
    const model::Transformer& transformer = *shown_->model->transformer;
    const std::size_t budget = memory_budget(transformer, kThreads);
    EXPECT_GT(peak_memory_bytes(), 0);
    EXPECT_LE(peak_memory_bytes(), static_cast<double>(budget + rounded_to_huge_pages()));
    if (kThreads <= 4) {  // each thread needs scratch memory
      EXPECT_LE(static_cast<double>(budget - transformer.report().bytes), 435 * kMegabyte);
    }
  }

  /// Ends the worker, so that the next one has the process to itself.
  void forget_model() {
    shown_.reset();
    worker_.reset();
    ::malloc_trim(0);  // memory of earlier tests
  }

  const int kThreads = static_cast<int>(std::thread::hardware_concurrency());
  WorkerRequest want_;
  std::shared_ptr<const Snapshot> shown_;
  std::unique_ptr<Worker> worker_ =
      std::make_unique<Worker>(WorkerOptions{.threads = kThreads, .wake = nullptr});
};

TEST_F(MemoryOfGpt2Small, HoldsTwoOfTheLongestRuns) {
  const model::Config config = settled().model->transformer->config();
  for (const int first : {1, 2, 3}) {
    EXPECT_EQ(show(longest_prompt(config, first)).run->run->computed_positions, config.n_ctx);
  }
  for (const int head : {3, 7}) {
    ask_about(head);
    settled();
  }
  expect_within_budget();
}

TEST_F(MemoryOfGpt2Small, HoldsTheWindowWithEveryView) {
  CoreOptions options;
  options.window.model = want_.model;
  options.window.threads = kThreads;
  options.window.prompt = Prompt{"", longest_prompt(settled().model->transformer->config(), 1), false};
  options.fonts = viz::Fonts::load();
  headscope::testing::NullScreen screen;
  options.screen = &screen;
  const std::size_t budget = memory_budget(*shown_->model->transformer, kThreads);
  forget_model();
  Core core(std::move(options));
  WindowFrame frame;
  frame.device_scale = 2;
  const auto draw = [&] {
    core.settle();
    core.draw(frame);
  };
  draw();
  core.apply(TypeInField{Field::prompt, MoveTo{0}});
  for (const char* view : {"query", "positions", "scores"}) {  // earlier views must not keep their run
    core.apply(ShowView{view});
    draw();
    core.handle(TextTyped{"x"});
    draw();
  }
  EXPECT_EQ(core.snapshot().run->run->length(), core.snapshot().run->run->config.n_ctx);
  EXPECT_LE(peak_memory_bytes(), static_cast<double>(budget + rounded_to_huge_pages()));
}

}  // namespace
}  // namespace headscope::app::memory_budget_test
