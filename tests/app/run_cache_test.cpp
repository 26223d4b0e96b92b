#include "app/run_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>

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
  std::vector<int> other = count_from(0, 130);
  other[80] = 999;
  cache.remember(make_run(other, first.get(), 1));
  EXPECT_EQ(cache.bytes(), 4 * kPage);
  cache.remember(make_run(count_from(0, 100)));  // the same tokens again: the former run goes
  EXPECT_EQ(cache.size(), 2U);
}

TEST(RunCache, ForgetsTheLongestUnusedButNeverTheNewest) {
  RunCache cache;
  for (int i = 0; i < 5; ++i) cache.remember(make_run({i, 7}));
  cache.remember_part(make_run({40, 41}));
  cache.make_room_for({99}, small_config(), 4 * kPage);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_NE(cache.best_base({4}), nullptr);   // the newest
  EXPECT_NE(cache.best_base({40}), nullptr);  // what was given up comes behind it
  EXPECT_NE(cache.best_base({3}), nullptr);
  EXPECT_EQ(cache.best_base({2}), nullptr);
  cache.make_room_for({99}, small_config(), kPage);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_NE(cache.best_base({4}), nullptr);
}

TEST(RunCache, ABaseIsTheLastToGoButTheNewest) {
  RunCache cache;
  cache.remember(make_run({1, 2, 3}));
  for (int i = 10; i < 14; ++i) cache.remember(make_run({i}));
  const auto base = cache.make_room_for({1, 2, 3, 4}, small_config(), 3 * kPage);
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(base->tokens, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.best_base({1}), base);
  EXPECT_NE(cache.best_base({13}), nullptr);
}

/// Bytes of the pages of the cache, of the base that was handed out, and of a pass over the tokens.
std::size_t bytes_of_a_pass(const RunCache& cache, const model::Run* base, const std::vector<int>& tokens) {
  std::size_t bytes = cache.bytes() + new_page_bytes(small_config(), base, tokens);
  if (base == nullptr) return bytes;
  const auto kept = cache.best_base(base->tokens);
  for (const auto& page : base->pages) {
    if (kept == nullptr || std::ranges::find(kept->pages, page) == kept->pages.end()) bytes += page->bytes();
  }
  return bytes;
}

TEST(RunCache, TheBaseNeverTakesMoreThanTheBudgetLeavesIt) {
  constexpr int kLength = 200;  // four pages, the last not full
  const std::vector<int> base_tokens = count_from(0, kLength);
  for (int shared = 0; shared <= kLength; ++shared) {
    RunCache cache;
    cache.remember(make_run(base_tokens));
    cache.remember(make_run(count_from(1000, kLength)));  // shown
    std::vector<int> tokens = base_tokens;
    std::ranges::fill(tokens.begin() + shared, tokens.end(), 777);
    const auto base = cache.make_room_for(tokens, small_config(), 8 * kPage);
    EXPECT_LE(bytes_of_a_pass(cache, base.get(), tokens), 8 * kPage) << shared;
    EXPECT_NE(cache.best_base({1000}), nullptr) << "what is shown stays";
    const int whole_pages = shared / model::Page::kPositions;
    EXPECT_GE(base == nullptr ? 0 : base->length(), whole_pages * model::Page::kPositions) << shared;
    if (base == nullptr) continue;
    EXPECT_TRUE(std::ranges::equal(base->tokens, std::span(base_tokens).first(base->tokens.size())));
    EXPECT_EQ(base->pages.size(), static_cast<std::size_t>(model::Page::count_for(base->length())));
  }
}

TEST(RunCache, ARunIsKeptInPlaceOfThoseItGoesOnFrom) {
  RunCache cache;
  cache.remember(make_run({1, 2}));
  cache.remember(make_run({1, 9}));
  cache.remember(make_run({1, 2, 3}));
  EXPECT_EQ(cache.size(), 2U);
  cache.remember(make_run({1, 2}));  // back to a shorter one: what is newer does not take the longer's place
  EXPECT_EQ(cache.size(), 3U);
}

TEST(RunCache, APartWithNothingNewChangesNothing) {
  for (const int length : {2, 3}) {
    RunCache cache;
    cache.remember(make_run({9, 8, 7}));
    const auto shown = make_run({1, 2, 3});
    cache.remember(shown);
    cache.remember_part(make_run(count_from(1, length)));
    EXPECT_EQ(cache.size(), 2U);
    cache.make_room_for({50}, small_config(), kPage);
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.best_base({1}), shown) << length;
  }
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

}  // namespace
}  // namespace headscope::app
