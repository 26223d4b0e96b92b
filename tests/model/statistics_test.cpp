#include "model/statistics.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/error.h"
#include "tests/model/golden.h"

namespace headscope::model {
namespace {

using ::testing::ElementsAre;

std::vector<int> ids_of(const std::vector<Guess>& guesses) {
  std::vector<int> ids;
  for (const Guess& guess : guesses) ids.push_back(guess.id);
  return ids;
}

TEST(LogSumExp, IsThatOfDoublesForAnyLengthAndSize) {
  for (const std::size_t n : {1U, 15U, 16U, 1000U, 50257U}) {
    for (const float offset : {0.0F, 1000.0F, -1000.0F, 1e6F}) {
      std::vector<float> logits(n);
      for (std::size_t i = 0; i < n; ++i) logits[i] = offset + 5 * std::sin(static_cast<float>(i) * 1.7F);
      double sum = 0;
      for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - offset);
      EXPECT_NEAR(log_sum_exp(logits), offset + std::log(sum), 3e-7) << n << " " << offset;
    }
  }
}

TEST(LargestLogits, ComeBestFirstAndTiesByTheSmallerId) {
  const std::vector<float> logits = {1, 5, 3, 5, -2, 5, 4};
  EXPECT_THAT(ids_of(largest_logits(logits, 1)), ElementsAre(1));
  EXPECT_THAT(ids_of(largest_logits(logits, 4)), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(ids_of(largest_logits(logits, 100)), ElementsAre(1, 3, 5, 6, 2, 0, 4));
  EXPECT_TRUE(largest_logits(logits, 0).empty());
  EXPECT_TRUE(largest_logits(logits, -3).empty());
  for (int id = 0; id < 7; ++id) {
    const std::vector<int> order = ids_of(largest_logits(logits, 7));
    EXPECT_EQ(rank_of(logits, id), std::find(order.begin(), order.end(), id) - order.begin());
  }
}

TEST(Statistics, AreThoseOfTheWholeVocabulary) {
  const auto transformer = Transformer::load(testing::golden_folder("plain"));
  const testing::Golden golden = testing::read_golden(testing::golden_folder("plain"));
  const std::vector<float>& expected = golden.activations.at("logits").values;
  const auto vocabulary = static_cast<std::size_t>(transformer->config().vocab_size);
  Workspace workspace(2);
  const auto run = transformer->forward(golden.tokens, workspace);
  const int length = run->length();
  constexpr int kTop = 12;
  const std::vector<PositionStatistics> statistics =
      transformer->statistics(*run, 0, length, kTop, workspace);
  ASSERT_EQ(statistics.size(), static_cast<std::size_t>(length));

  for (int pos = 0; pos < length; ++pos) {
    const std::span<const float> logits =
        std::span(expected).subspan(static_cast<std::size_t>(pos) * vocabulary, vocabulary);
    const PositionStatistics& found = statistics[static_cast<std::size_t>(pos)];
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    const auto probability = [&](int id) {
      return std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)])) / sum;
    };
    EXPECT_NEAR(found.log_sum_exp, std::log(sum), 1e-4);

    ASSERT_EQ(found.top.size(), static_cast<std::size_t>(kTop));
    std::vector<float> sorted(logits.begin(), logits.end());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (std::size_t i = 0; i < found.top.size(); ++i) {
      EXPECT_NEAR(found.top[i].logit, sorted[i], 1e-4);
      EXPECT_NEAR(found.top[i].logit, logits[static_cast<std::size_t>(found.top[i].id)], 1e-4);
      EXPECT_NEAR(found.top[i].probability, probability(found.top[i].id), 1e-5);
    }
    if (pos + 1 == length) {
      EXPECT_TRUE(std::isnan(found.next_logit));
      EXPECT_TRUE(std::isnan(found.next_probability));
      EXPECT_EQ(found.next_rank, -1);
    } else {
      const int next = golden.tokens[static_cast<std::size_t>(pos + 1)];
      const float logit = logits[static_cast<std::size_t>(next)];
      EXPECT_NEAR(found.next_logit, logit, 1e-4);
      EXPECT_NEAR(found.next_probability, probability(next), 1e-5);
      const auto above = [&](float margin) {
        return std::count_if(logits.begin(), logits.end(),
                             [&](float other) { return other > logit + margin; });
      };
      EXPECT_LE(found.next_rank, above(-1e-4F));
      EXPECT_GE(found.next_rank, above(1e-4F));
    }
  }

  // A part of the positions gives that part.
  const auto some = transformer->statistics(*run, 60, 7, 1, workspace);
  ASSERT_EQ(some.size(), 7U);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_NEAR(some[i].log_sum_exp, statistics[60 + i].log_sum_exp, 1e-5);
    EXPECT_EQ(some[i].next_rank, statistics[60 + i].next_rank);
    EXPECT_THAT(ids_of(some[i].top), ElementsAre(statistics[60 + i].top[0].id));
  }
}

TEST(Statistics, CanBeStopped) {
  const auto transformer = Transformer::load(testing::golden_folder("full_context"));
  Workspace workspace(1);
  const std::vector<int> ids = {1, 2, 3};
  const auto run = transformer->forward(ids, workspace);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(transformer->statistics(*run, 0, 3, 1, workspace, source.get_token()), Stopped);
  EXPECT_TRUE(transformer->statistics(*run, 0, 0, 1, workspace).empty());
}

}  // namespace
}  // namespace headscope::model
