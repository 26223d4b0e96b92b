#include "app/run_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "app/worker.h"

namespace headscope::app {
namespace {

model::Config small_config() {
  model::Config config;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_embd = 8;
  config.n_ctx = 200;
  return config;
}

/// A run of the tokens that shares `shared` pages with `base`.
std::shared_ptr<const model::Run> make_run(std::vector<int> tokens, const model::Run* base = nullptr,
                                           std::size_t shared = 0) {
  auto run = std::make_shared<model::Run>();
  run->config = small_config();
  run->tokens = std::move(tokens);
  for (int first = 0; first < run->length(); first += model::Page::kPositions) {
    const std::size_t page = run->pages.size();
    if (page < shared) {
      run->pages.push_back(base->pages[page]);
    } else {
      run->pages.push_back(std::make_shared<model::Page>(run->config, first));
    }
  }
  return run;
}

std::vector<int> count_from(int first, int n) {
  std::vector<int> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

const std::size_t kPage = model::Page::bytes(small_config());

TEST(RunCache, TheBaseIsTheRunThatSharesMost) {
  RunCache cache;
  EXPECT_EQ(cache.best_base({1, 2}), nullptr);
  cache.remember(make_run({1, 2, 3, 4}));
  cache.remember(make_run({1, 2, 9}));
  EXPECT_EQ(cache.best_base({1, 2, 3, 5})->tokens, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(cache.best_base({1, 2})->tokens, (std::vector<int>{1, 2, 9}));  // as good, and newer
  EXPECT_EQ(cache.best_base({7}), nullptr);
  cache.clear();
  EXPECT_EQ(cache.best_base({1, 2}), nullptr);
}

TEST(RunCache, CountsEveryPageOnce) {
  RunCache cache;
  const auto first = make_run(count_from(0, 100));
  cache.remember(first);
  EXPECT_EQ(cache.bytes(), 2 * kPage);
  cache.remember(make_run(count_from(0, 130), first.get(), 1));
  EXPECT_EQ(cache.bytes(), 4 * kPage);
  cache.remember(make_run(count_from(0, 100)));  // the same tokens again: the former run goes
  EXPECT_EQ(cache.size(), 2U);
}

TEST(RunCache, ForgetsTheLongestUnusedButNeverTheNewest) {
  RunCache cache;
  for (int i = 0; i < 5; ++i) cache.remember(make_run({i, 7}));
  cache.remember_part(make_run({40, 41}));
  cache.make_room(kPage, 4 * kPage);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_NE(cache.best_base({4}), nullptr);   // the newest
  EXPECT_NE(cache.best_base({40}), nullptr);  // what was given up comes behind it
  EXPECT_NE(cache.best_base({3}), nullptr);
  EXPECT_EQ(cache.best_base({2}), nullptr);
  cache.make_room(100 * kPage, 4 * kPage);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_NE(cache.best_base({4}), nullptr);
}

TEST(RunCache, ABaseStaysWhileItIsUsed) {
  RunCache cache;
  cache.remember(make_run({1, 2, 3}));
  cache.remember(make_run({9}));
  const auto base = cache.best_base({1, 2});
  cache.make_room(100 * kPage, kPage);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(base->tokens.size(), 3U);
}

TEST(RunCache, TheBudgetIsTwoOfTheLongestRuns) {
  model::Config config = small_config();
  EXPECT_EQ(RunCache::budget(config), std::size_t{64} << 20);
  config.n_layer = 12, config.n_head = 12, config.n_embd = 768, config.n_ctx = 1024;
  // 16 pages of 64 positions: q, k, v and the residual stream of each layer, and its end.
  EXPECT_EQ(RunCache::budget(config), 2ULL * 16 * 64 * (4 * 12 + 1) * 768 * sizeof(float));
}

TEST(NewPageBytes, AreThoseThatTheBaseCannotGive) {
  const auto base = make_run(count_from(0, 150));
  EXPECT_EQ(new_page_bytes(small_config(), nullptr, count_from(0, 65)), 2 * kPage);
  EXPECT_EQ(new_page_bytes(small_config(), base.get(), count_from(0, 65)), kPage);
  EXPECT_EQ(new_page_bytes(small_config(), base.get(), count_from(0, 128)), 0U);
  EXPECT_EQ(new_page_bytes(small_config(), base.get(), count_from(5, 128)), 2 * kPage);
}

/// The worker with the model that comes with the program; work is counted in positions.
class WorkerOfTales : public ::testing::Test {
 protected:
  WorkerOfTales() {
    want_.model = std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets" / "models" / "tales";
    want_.load_request = 1;
  }

  std::shared_ptr<const Snapshot> show(const std::string& text) {
    want_.prompt.text = text;
    worker_.want(want_);
    return worker_.settle();
  }

  Worker worker_{{.threads = 2, .wake = nullptr}};
  Wanted want_;
};

TEST_F(WorkerOfTales, AnEditComputesWhatComesAfterItAndAFormerPromptNothing) {
  const std::string text = "Once upon a time there was a king who had three sons";
  const auto first = show(text);
  const int length = first->run->run->length();
  EXPECT_EQ(first->run->run->computed_positions, length);

  const auto longer = show(text + ", and");
  EXPECT_EQ(longer->run->run->computed_positions, longer->run->run->length() - length);

  const auto other = show("Twice" + text.substr(4));
  EXPECT_GT(other->run->run->computed_positions, length / 2);

  for (const auto& [prompt, expected] : {std::pair{text + ", and", longer}, {text, first}}) {
    const auto again = show(prompt);
    EXPECT_EQ(again->run->run->computed_positions, 0) << prompt;
    EXPECT_EQ(again->head->stages.pattern, expected->head->stages.pattern);
    EXPECT_EQ(again->next->logits, expected->next->logits);
  }
  EXPECT_LE(other->cache_bytes, other->cache_budget);
}

TEST_F(WorkerOfTales, StatisticsGoOnFromTheFormerPromptToTheBit) {
  const auto before = show("Once upon a time there was a king");
  const auto after = show("Once upon a time there was a queen who lived by the sea");
  Worker fresh({.threads = 1, .wake = nullptr});
  fresh.want(want_);
  const auto expected = fresh.settle();
  ASSERT_EQ(after->statistics->positions.size(), expected->statistics->positions.size());
  ASSERT_EQ(after->statistics->tokens, after->run->run->tokens);
  for (std::size_t i = 0; i < expected->statistics->positions.size(); ++i) {
    const auto& found = after->statistics->positions[i];
    const auto& wanted = expected->statistics->positions[i];
    EXPECT_EQ(found.log_sum_exp, wanted.log_sum_exp) << i;
    EXPECT_EQ(found.next_rank, wanted.next_rank) << i;
    if (found.next_rank >= 0) {
      EXPECT_EQ(found.next_logit, wanted.next_logit) << i;
    }
    ASSERT_EQ(found.top.size(), wanted.top.size());
    for (std::size_t k = 0; k < found.top.size(); ++k) EXPECT_EQ(found.top[k].id, wanted.top[k].id);
  }
}

}  // namespace
}  // namespace headscope::app
