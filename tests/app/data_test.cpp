// From a prompt to what the views show.
#include "app/run/prompt_run.h"

#include <random>

#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "tests/app/view_fixture.h"
#include "tests/support/temporary_folder.h"
#include "viz/scene/scale.h"

namespace headscope::app::data_test {
namespace {

namespace fs = std::filesystem;

TEST(Tokenize, RangesCoverThePromptAndLabelsAreVisible) {
  const std::string text = "The king \xE2\x82 laughed.\n";
  const PromptTokens tokens = tokenize(*bundled(), {text, {}, false});
  std::size_t end = 0;
  for (const model::Token& token : tokens.tokens) {
    EXPECT_EQ(token.start, end);
    end = token.end;
  }
  EXPECT_EQ(end, text.size());
  EXPECT_EQ(tokens.labels.size(), tokens.tokens.size());
  EXPECT_EQ(tokens.labels.back(), "↵");
  EXPECT_EQ(tokens.run_length, tokens.length());
  EXPECT_FALSE(tokens.was_empty);
}

TEST(Tokenize, TheEmptyPromptIsTheStartToken) {
  const PromptTokens tokens = tokenize(*bundled(), {});
  ASSERT_EQ(tokens.length(), 1);
  EXPECT_TRUE(tokens.was_empty);
  EXPECT_EQ(tokens.tokens[0].id, *bundled()->tokenizer->end_of_text());
  EXPECT_EQ(tokenize(*bundled(), {"", {}, true}).length(), 1);
}

TEST(Tokenize, TheStartTokenStandsForNoBytes) {
  const PromptTokens plain = tokenize(*bundled(), {"a king", {}, false}),
                     started = tokenize(*bundled(), {"a king", {}, true});
  ASSERT_EQ(started.length(), plain.length() + 1);
  EXPECT_EQ(started.tokens[0], (model::Token{*bundled()->tokenizer->end_of_text(), 0, 0}));
  EXPECT_EQ(started.tokens[1], plain.tokens[0]);
}

TEST(Tokenize, IdsStandInPlaceOfText) {
  const PromptTokens tokens = tokenize(*bundled(), {"ignored", {5, 6, 5}, false});
  EXPECT_EQ(tokens.ids(), (std::vector<int>{5, 6, 5}));
  EXPECT_EQ(tokens.tokens[2].start, tokens.tokens[1].end);
  EXPECT_THROW(tokenize(*bundled(), {"", {bundled()->tokenizer->size()}, false}), model::RunError);
  EXPECT_THROW(tokenize(*bundled(), {"", {3, -1}, false}), model::RunError);
}

TEST(Tokenize, WhatLiesBeyondTheContextIsNotRun) {
  const PromptTokens tokens = tokenize(*bundled(), {long_text(), {}, false});
  const int n_ctx = bundled()->transformer->config().n_ctx;
  ASSERT_GT(tokens.length(), n_ctx);
  EXPECT_EQ(tokens.run_length, n_ctx);
  EXPECT_EQ(tokens.ids().size(), static_cast<std::size_t>(n_ctx));
}

std::vector<float> random_pattern(int length) {
  std::mt19937 random(7);
  std::vector<float> pattern(static_cast<std::size_t>(length * length), 0.F);
  for (int q = 0; q < length; ++q) {
    float sum = 0;
    for (int k = 0; k <= q; ++k) sum += pattern[q * length + k] = static_cast<float>(random() % 1000 + 1);
    for (int k = 0; k <= q; ++k) pattern[q * length + k] /= sum;
  }
  return pattern;
}

/// The thumbnail of a complete pattern, passed in blocks like the model's.
Thumbnail make_thumbnail(const std::vector<float>& pattern, int length) {
  constexpr int kBlock = 64;
  ThumbnailMaker maker(length, length, true, {});
  const model::ConstFloatRows all{pattern.data(), length, length, length};
  for (int first = 0; first < length; first += kBlock)
    maker.add(first, all.middle_rows(first, std::min(kBlock, length - first)));
  return std::move(maker).finish();
}

TEST(Thumbnails, SmallOnesAreThePatternItself) {
  const std::vector<float> pattern = random_pattern(20);
  const Thumbnail t = make_thumbnail(pattern, 20);
  EXPECT_EQ(t.rows, 20);
  EXPECT_EQ(t.cols, 20);
  EXPECT_EQ(t.values, pattern);
  EXPECT_TRUE(t.first_column_without_key0.empty());
}

TEST(Thumbnails, LargeOnesKeepEveryCellsLargestWeight) {
  for (const int length : {65, 100, 257}) {
    const std::vector<float> pattern = random_pattern(length);
    const Thumbnail t = make_thumbnail(pattern, length);
    ASSERT_EQ(t.rows, 64);
    ASSERT_EQ(t.cols, 64);
    std::vector<float> expected(64 * 64, 0.F), without(64, 0.F);
    for (int q = 0; q < length; ++q) {
      for (int k = 0; k <= q; ++k) {
        const float v = pattern[q * length + k];
        const auto row = static_cast<std::size_t>(q * 64 / length),
                   col = static_cast<std::size_t>(k * 64 / length);
        expected[row * 64 + col] = std::max(expected[row * 64 + col], v);
        if (col == 0 && k > 0) without[row] = std::max(without[row], v);
      }
    }
    EXPECT_EQ(t.values, expected);
    EXPECT_EQ(t.first_column_without_key0, without);
  }
}

TEST(Questions, AgreeWithTheModelAndWithOneAnother) {
  const Scenario s("Once upon a time there was a");
  const int length = s.length();
  EXPECT_EQ(s.ask(PatternOf{1, 3})->values, s.ask(StagesOf{1, 3})->values.pattern);
  for (const int beyond : {-1, length, length + 9}) {
    EXPECT_EQ(s.ask(NextAfter{beyond})->position, length - 1) << beyond;
    EXPECT_EQ(s.ask(NextAfter{beyond})->logits, s.ask(NextAfter{length - 1})->logits) << beyond;
  }
  EXPECT_EQ(s.ask(NextAfter{-1})->not_finite, "");
  EXPECT_THROW(s.ask(PatternOf{s.config().n_layer, 0}), model::RunError);
  EXPECT_THROW(s.ask(StagesOf{0, s.config().n_head}), model::RunError);
}

TEST(Thumbnails, KnowTheRangeOfWhatTheyShow) {
  for (const int length : {1, 20, 90}) {
    const Thumbnail t = make_thumbnail(random_pattern(length), length);
    std::vector<float> values = t.values;
    const auto range = [&](int without) {
      return viz::value_range(viz::Matrix::row_major(values, t.rows, t.cols), {true, without});
    };
    const viz::ValueRange all = range(-1);
    EXPECT_EQ(t.range.high, all.high);
    EXPECT_EQ(t.range.smallest_positive, all.smallest_positive);
    for (int row = 0; length == 90 && row < t.rows; ++row)
      values[row * t.cols] = t.first_column_without_key0[row];
    const viz::ValueRange without = range(length == 20 ? 0 : -1);
    EXPECT_EQ(t.range_without_key0.high, without.high) << length;
    EXPECT_EQ(t.range_without_key0.smallest_positive, without.smallest_positive) << length;
  }
}

}  // namespace
}  // namespace headscope::app::data_test
