// Properties of a pass besides its numbers: reuse, chunks, threads, hooks, stops.

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::forward_test {
namespace {

constexpr double kTolerance = 1e-4;

class Forward : public SmallModel {
 protected:
  /// `length` tokens; those from `changed` on depend on the seed.
  static std::vector<int> tokens(int length, int seed = 0, int changed = 0) {
    std::vector<int> out;
    for (int i = 0; i < length; ++i)
      out.push_back((i * i * 31 + i * 7 + (i >= changed ? seed * (i + 1) : 0)) % 90);
    return out;
  }

  std::shared_ptr<const model::Run> run(std::span<const int> ids, const model::Run* base = nullptr,
                                        int chunk = 256, const Hooks* hooks = nullptr, int hooked_from = 0) {
    ForwardOptions options;
    options.base = base;
    options.chunk = chunk;
    options.hooks = hooks;
    options.hooked_from = hooked_from;
    return transformer_->forward(ids, workspace_, options);
  }

  /// Options for a run in chunks of 20 that is stopped at that fraction of the work; `partial` receives the
  /// completed chunks.
  static ForwardOptions stopped_at(double fraction, std::shared_ptr<const model::Run>& partial,
                                   const model::Run* base = nullptr) {
    const auto source = std::make_shared<std::stop_source>();
    ForwardOptions options;
    options.base = base;
    options.chunk = 20;
    options.stop = source->get_token();
    options.partial = &partial;
    options.progress = [=](double done, const char*) {
      if (done >= fraction) source->request_stop();
    };
    return options;
  }

  void expect_same_results(const model::Run& expected, const model::Run& found) {
    ASSERT_EQ(expected.tokens, found.tokens);
    EXPECT_LE(largest_difference(all_logits(*transformer_, expected, workspace_),
                                 all_logits(*transformer_, found, workspace_)),
              kTolerance);
  }
};

/// Appends the values at a point, row by row.
void watch_rows(Hooks& hooks, HookPoint point, std::vector<float>& into) {
  hooks.watch(point, [&into](const ConstActivation2d& piece) {
    for (int i = 0; i < piece.rows; ++i) into.insert(into.end(), piece.row(i).begin(), piece.row(i).end());
  });
}

TEST_F(Forward, WhatIsAskedOfAPositionBehindTheRunIsRefused) {
  const auto three = run(tokens(3));
  for (const std::function<void()>& ask : std::vector<std::function<void()>>{
           [&] { transformer_->attention_row(*three, 0, 0, 3); },
           [&] { transformer_->attention_input(*three, 0, 3, workspace_); },
           [&] { transformer_->attention_output(*three, 0, 3, workspace_); }, [&] { three->resid(0, 3); },
           [&] { three->q(0, 0, 3); }, [&] { three->k(0, 0, 3); }, [&] { three->v(0, 0, 3); }})
    EXPECT_EQ(message_of<RunError>(ask), "there is no position 3; the run has positions 0 to 2");
}

// --- chunks, caches, threads ---

TEST_F(Forward, TokenAfterTokenGivesTheLogitsOfOnePass) {
  const std::vector<int> ids = tokens(140);
  std::shared_ptr<const model::Run> last;
  for (std::size_t length = 1; length <= ids.size(); ++length) {
    last = run(std::span(ids).first(length), last.get());
    ASSERT_EQ(last->computed_positions, 1);
  }
  EXPECT_EQ(last->pages.size(), 3U);
  expect_same_results(*run(ids), *last);
}

TEST_F(Forward, IsTheSameToTheBitForAnyNumberOfThreads) {
  for (const int length : {1, 5, 140}) {
    const std::vector<int> ids = tokens(length);
    std::vector<float> values, logits;
    for (const int threads : {1, 2, 3}) {
      Workspace workspace(threads);
      const auto found = transformer_->forward(ids, workspace);
      if (threads == 1) {
        values = kept_values(*found);
        logits = all_logits(*transformer_, *found, workspace);
      }
      EXPECT_TRUE(same_bits(values, kept_values(*found)));
      EXPECT_TRUE(same_bits(logits, all_logits(*transformer_, *found, workspace)));
    }
  }
}

TEST_F(Forward, AWorkspaceServesModelsAndLengthsInAnyOrder) {
  const auto other = Transformer::load(testing::model_folder("wide"));
  const std::vector<int> ids = tokens(100);
  const std::vector<float> expected = kept_values(*run(ids));
  const std::vector<int> few = {1, 2, 3};
  other->forward(few, workspace_);
  run(few);
  EXPECT_TRUE(same_bits(expected, kept_values(*run(ids))));
}

/// As views show a row step by step: the sum is the pass's own.
TEST_F(Forward, PowersOfARowOverTheirSumAreItsWeightsToTheBit) {
  const auto found = run(tokens(140));
  for (const int query : {0, 15, 16, 63, 64, 139}) {
    const AttentionRow row = transformer_->attention_row(*found, 1, 2, query);
    ASSERT_EQ(row.weights.size(), static_cast<std::size_t>(query) + 1);
    const float share = 1.0F / row.sum;
    for (std::size_t key = 0; key < row.weights.size(); ++key)
      EXPECT_EQ(row.powers[key] * share, row.weights[key]) << query << ", " << key;
    EXPECT_EQ(row.powers[row.largest_key], 1);
  }
}

// --- reuse ---

TEST_F(Forward, AChangedTokenComputesThePositionsFromItOn) {
  for (const int changed : {0, 1, 63, 64, 65, 100, 149}) {
    SCOPED_TRACE(changed);
    const std::vector<int> before = tokens(150), after = tokens(150, 1, changed);
    const auto base = run(before);
    const std::vector<float> base_values = kept_values(*base);
    const auto found = run(after, base.get());
    EXPECT_EQ(found->computed_positions, 150 - changed);
    for (std::size_t page = 0; page < 3; ++page) {
      EXPECT_EQ(found->pages[page] == base->pages[page],
                static_cast<int>(page + 1) * Page::kPositions <= changed);
    }
    // Equal to a complete recomputation.
    EXPECT_TRUE(same_bits(kept_values(*run(after)), kept_values(*found)));
    EXPECT_TRUE(same_bits(base_values, kept_values(*base)));  // runs held by others never change
    const std::size_t reused = base_values.size() / 150 * static_cast<std::size_t>(changed);
    const std::vector<float> found_values = kept_values(*found);
    EXPECT_TRUE(same_bits(std::span(base_values).first(reused), std::span(found_values).first(reused)));
  }
}

TEST_F(Forward, OnlyOneOfTwoRunsGoesOnInTheBasesPage) {
  const auto base = run(tokens(10));
  const std::vector<float> base_values = kept_values(*base);
  const std::vector<int> one = tokens(20), two = tokens(20, 1, 10);
  const auto first = run(one, base.get());
  const std::vector<float> first_values = kept_values(*first);
  const auto second = run(two, base.get());
  EXPECT_EQ(first->pages[0], base->pages[0]);
  EXPECT_NE(second->pages[0], base->pages[0]);
  EXPECT_EQ(second->computed_positions, 10);
  expect_same_results(*run(one), *first);
  expect_same_results(*run(two), *second);
  EXPECT_TRUE(same_bits(base_values, kept_values(*base)));
  EXPECT_TRUE(same_bits(first_values, kept_values(*first)));
}

TEST_F(Forward, ABaseOfOtherWeightsIsPassedOver) {
  const std::vector<int> ids = tokens(30);
  const auto theirs = Transformer::load(folder_->path())->forward(ids, workspace_);
  EXPECT_EQ(run(ids, theirs.get())->computed_positions, 30);
}

TEST_F(Forward, HooksFromAPositionOnTakeWhatIsBeforeItFromTheBase) {
  const std::vector<int> ids = tokens(150);
  const auto base = run(ids);
  const std::vector<float> base_values = kept_values(*base);
  for (const int from : {0, 1, 63, 64, 100, 149}) {
    SCOPED_TRACE(from);
    std::vector<float> watched;
    Hooks hooks;
    watch_rows(hooks, {Site::resid_post, 1}, watched);
    const auto found = run(ids, base.get(), 128, &hooks, from);
    EXPECT_EQ(found->computed_positions, 150 - from);
    EXPECT_TRUE(same_bits(base_values, kept_values(*found)));
    std::vector<float> expected;
    for (int pos = from; pos < 150; ++pos) {
      const auto row = base->resid(2, pos);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    EXPECT_TRUE(same_bits(expected, watched));
    EXPECT_TRUE(same_bits(base_values, kept_values(*base)));
  }
}

// --- stops and progress ---

TEST_F(Forward, AStoppedRunLeavesItsFinishedChunks) {
  const std::vector<int> ids = tokens(150);
  std::shared_ptr<const model::Run> partial;
  const ForwardOptions options = stopped_at(0.59, partial);  // in the middle of the chunk from 80 to 100
  EXPECT_THROW(transformer_->forward(ids, workspace_, options), Stopped);
  ASSERT_NE(partial, nullptr);
  EXPECT_EQ(partial->length(), 80);
  EXPECT_EQ(partial->computed_positions, 80);
  expect_same_results(*run(std::span(ids).first(80)), *partial);

  const auto rest = run(ids, partial.get());
  EXPECT_EQ(rest->computed_positions, 70);
  expect_same_results(*run(ids), *rest);
}

/// Nothing is new: the base has all of it.
TEST_F(Forward, AStopWithinTheFirstChunkBehindABaseLeavesNothing) {
  const std::vector<int> ids = tokens(150);
  const auto base = run(std::span(ids).first(100));
  std::shared_ptr<const model::Run> partial;
  EXPECT_THROW(transformer_->forward(ids, workspace_, stopped_at(0, partial, base.get())), Stopped);
  EXPECT_EQ(partial, nullptr);

  const ForwardOptions second_chunk = stopped_at(0.4, partial, base.get());  // at its beginning
  EXPECT_THROW(transformer_->forward(ids, workspace_, second_chunk), Stopped);
  ASSERT_NE(partial, nullptr);
  EXPECT_EQ(partial->length(), 120);
  EXPECT_EQ(partial->computed_positions, 20);
}

// Within each layer: a stop during attention is noticed before the MLP ends.
TEST_F(Forward, AStopIsSeenBetweenAttentionAndMlp) {
  std::stop_source source;
  Hooks hooks;
  bool reached = false;
  hooks.watch({Site::z, 1}, [&](const ConstActivation2d&) { source.request_stop(); });
  hooks.watch({Site::mlp_pre, 1}, [&](const ConstActivation2d&) { reached = true; });
  ForwardOptions options;
  options.stop = source.get_token();
  options.hooks = &hooks;
  const std::vector<int> ids = tokens(5);
  EXPECT_THROW(transformer_->forward(ids, workspace_, options), Stopped);
  EXPECT_FALSE(reached);
}

TEST_F(Forward, ProgressGoesFromNothingToAll) {
  std::vector<double> fractions;
  ForwardOptions options;
  options.chunk = 16;
  options.progress = [&](double fraction, const char*) { fractions.push_back(fraction); };
  const std::vector<int> ids = tokens(100);
  const auto base = run(std::span(ids).first(30));
  options.base = base.get();
  transformer_->forward(ids, workspace_, options);
  EXPECT_EQ(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
}

TEST_F(Forward, WrongRequestsAreOneSentence) {
  const auto error = [&](const std::vector<int>& ids) {
    const std::string message = message_of<RunError>([&] { transformer_->forward(ids, workspace_); });
    EXPECT_TRUE(testing::is_sentence(message)) << message;
    return message;
  };
  error({});
  EXPECT_THAT(error(std::vector<int>(201, 0)),
              ::testing::HasSubstr("201 tokens, but the model takes at most 200"));
  EXPECT_THAT(error({0, 90}), ::testing::HasSubstr("token 1 has the id 90"));
  EXPECT_THAT(error({-1}), ::testing::HasSubstr("-1"));

  const auto found = run(tokens(4));
  std::vector<float> room(1000);
  for (const auto& [first, count] : {std::pair{0, 5}, {4, 1}, {-1, 2}, {2, -1}}) {
    EXPECT_THROW(transformer_->logits(*found, first, count, workspace_, room), RunError);
    EXPECT_THROW(transformer_->statistics(*found, first, count, 1, workspace_), RunError);
  }
  for (const auto& [layer, head] : {std::pair{kLayers, 0}, {0, kHeads}, {-1, 0}, {0, -1}}) {
    EXPECT_THROW(transformer_->attention(*found, layer, head), RunError);
    EXPECT_THROW(transformer_->pattern(*found, layer, head, room), RunError);
  }
}

// --- hooks ---

TEST_F(Forward, HooksThatOnlyLookChangeNoBit) {
  const std::vector<int> ids = tokens(130);
  Hooks hooks;
  int calls = 0;
  for (const HookPoint& point : all_hook_points(transformer_->config())) {  // hook_result among them
    hooks.watch(point, [&](const ConstActivation2d&) { ++calls; });
  }
  const auto hooked = run(ids, nullptr, 50, &hooks);
  EXPECT_GT(calls, 100);
  EXPECT_TRUE(same_bits(kept_values(*run(ids, nullptr, 50)), kept_values(*hooked)));

  // So its run is as good a base as any; but watching hooks are called at every position.
  EXPECT_EQ(run(ids, hooked.get())->computed_positions, 0);
  EXPECT_EQ(run(ids, hooked.get(), 50, &hooks)->computed_positions, 130);
}

/// Scores and patterns alternate, head by head.
TEST_F(Forward, HooksComeInTheOrderOfThePassHeadByHead) {
  Hooks hooks;
  std::vector<std::string> called, expected;
  int cells = 0;
  for (const HookPoint& point : all_hook_points(transformer_->config())) {
    hooks.watch(point, [&](const ConstActivation2d& piece) {
      EXPECT_EQ(std::pair(piece.rows, piece.first_pos), std::pair(4, 0));
      if (has_cells(piece.point.site)) return void(++cells);
      called.push_back(hook_name(piece.point) + " " + std::to_string(piece.head));
    });
    for (int head = 0; head < (point.site == Site::result ? kHeads : 1) && !has_cells(point.site); ++head)
      expected.push_back(hook_name(point) + " " + std::to_string(head));
  }
  run(tokens(4), nullptr, 128, &hooks);
  EXPECT_EQ(called, expected);
  EXPECT_EQ(cells, 2 * kLayers * kHeads);
}

}  // namespace
}  // namespace headscope::model::forward_test
