// Heads: metrics computed by hand, exact for any division of the texts, and compared with the reference on
// repeated random tokens; value-weighted attention and rollout, compared with the definitions in double
// precision.
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "tests/app/run/parts.h"
#include "tests/app/view_fixture.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/textbook.h"

namespace headscope::app::heads_test {
namespace {

HeadMetrics metrics_of(const std::vector<std::vector<float>>& rows, std::span<const int> tokens) {
  HeadMetrics metrics;
  const std::vector<int> earlier = earlier_occurrences(tokens);
  for (int query = 1; query < static_cast<int>(rows.size()); ++query)
    metrics.add(query, rows[query], earlier);
  return metrics;
}

TEST(HeadMetrics, AreThoseWorkedOutByHand) {
  // Tokens a b a a: query 2's token occurred at 0, query 3's at 2 and 0.
  const std::vector<int> tokens{7, 8, 7, 7};
  EXPECT_THAT(earlier_occurrences(tokens), ElementsAre(-1, -1, 0, 2));
  const HeadMetrics f =
      metrics_of({{1}, {0.5F, 0.5F}, {0.25F, 0.5F, 0.25F}, {0.625F, 0.125F, 0.125F, 0.125F}}, tokens);
  EXPECT_DOUBLE_EQ(f[HeadMetric::first], (0.5 + 0.25 + 0.625) / 3);
  EXPECT_DOUBLE_EQ(f[HeadMetric::previous], (0.5 + 0.5 + 0.125) / 3);
  EXPECT_DOUBLE_EQ(f[HeadMetric::self], (0.5 + 0.25 + 0.125) / 3);
  EXPECT_NEAR(f[HeadMetric::entropy], (1 + 1.5 + (0.625 * std::log2(1.6) + 0.375 * 3)) / 3, 1e-6);
  EXPECT_NEAR(f[HeadMetric::distance], (0.5 + 1 + (0.625 * 3 + 0.125 * 3)) / 3, 1e-6);
  EXPECT_DOUBLE_EQ(f[HeadMetric::duplicate], (0.25 + 0.75) / 2);
  // Position 1 follows the first a; the position after the a at 2 is query 3 itself.
  EXPECT_DOUBLE_EQ(f[HeadMetric::induction], (0.5 + 0.125) / 2);
  EXPECT_EQ(f.queries(HeadMetric::first), 3);
  EXPECT_EQ(f.queries(HeadMetric::duplicate), 2);
  EXPECT_EQ(f.queries(HeadMetric::induction), 2) << "after the 7 at 0, for both";
  EXPECT_DOUBLE_EQ(f[HeadMetric::sink], 1 / 3.0) << "query 3 alone gives more than half";
  EXPECT_TRUE(std::isnan(HeadMetrics()[HeadMetric::first])) << "of no query";
}

TEST(HeadMetrics, WhatIsNotFiniteIsSaidNotHidden) {
  const float nan = std::nanf("");
  HeadMetrics metrics = metrics_of({{1}, {nan, 0.5F}}, std::vector{1, 2});
  for (const HeadMetric metric :
       {HeadMetric::first, HeadMetric::previous, HeadMetric::sink, HeadMetric::entropy})
    EXPECT_TRUE(std::isnan(metrics[metric]));
  EXPECT_EQ(metrics[HeadMetric::self], 0.5);
  metrics += metrics_of({{1}, {0.5F, 0.5F}}, std::vector{1, 2});
  EXPECT_TRUE(std::isnan(metrics[HeadMetric::first]));
}

TEST(HeadMetrics, LeaveOutAQueryWithoutAnyWeightAndCountIt) {
  const std::vector<int> tokens{7, 8, 7, 7};
  const HeadMetrics masked = metrics_of({{1}, {0.5F, 0.5F}, {0, 0, 0}, {0.625F, 0, 0, 0.375F}}, tokens);
  EXPECT_EQ(masked.left_out(), 1);
  EXPECT_DOUBLE_EQ(masked[HeadMetric::first], (0.5 + 0.625) / 2);
  EXPECT_DOUBLE_EQ(masked[HeadMetric::distance], (0.5 + 0.625 * 3) / 2);
  EXPECT_DOUBLE_EQ(masked[HeadMetric::sink], 0.5);
  EXPECT_DOUBLE_EQ(masked[HeadMetric::duplicate], 0.625);
  HeadMetrics twice = masked;
  twice += masked;
  EXPECT_EQ(twice.left_out(), 2);
}

TEST(RepeatedTokens, AreRandomTokensTwiceAfterTheStartToken) {
  const RepeatedTokens texts{20, 3, 7};
  const std::vector<int> tokens = texts.sequence(1, 30, 29);
  ASSERT_EQ(tokens.size(), 41U);
  EXPECT_EQ(tokens[0], 29);
  const auto once = std::span(tokens).subspan(1, 20), again = std::span(tokens).subspan(21);
  EXPECT_TRUE(std::ranges::equal(once, again));
  EXPECT_EQ(tokens, (RepeatedTokens{20, 900, 7}).sequence(1, 30, 29))
      << "of nothing but its number and the seed";
  EXPECT_NE(tokens, texts.sequence(2, 30, 29));
  EXPECT_NE(tokens, (RepeatedTokens{20, 3, 8}).sequence(1, 30, 29));
  EXPECT_EQ(texts.sequence(1, 30, std::nullopt).size(), 40U);
  // Every id except the start token is drawn, whatever the start token's id.
  for (const int start : {0, 3, 4}) {
    std::vector<int> drawn = (RepeatedTokens{200, 1, 0}).sequence(0, 5, start);
    drawn.erase(drawn.begin());
    EXPECT_THAT(drawn, Each(Not(start)));
    std::ranges::sort(drawn);
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    EXPECT_EQ(drawn.size(), 4U);
  }
}

/// Sums of the reference's weights, with the metrics as defined in their descriptions.
std::vector<double> by_the_reference(const RepeatedTokens& texts, int layer, int head, int vocabulary,
                                     int start) {
  double induction = 0, previous = 0, entropy = 0, distance = 0;
  int inducing = 0, queries = 0;
  for (int number = 0; number < texts.sequences; ++number) {
    const std::vector<int> tokens = texts.sequence(number, vocabulary, start);
    static std::map<std::vector<int>, ReferenceGpt2::Result> known;
    if (!known.contains(tokens)) known.emplace(tokens, reference_model().run(tokens));
    const auto& w = known.at(tokens).heads[layer][head].weights;
    for (std::size_t q = 1; q < tokens.size(); ++q) {
      ++queries;
      previous += w[q][q - 1];
      bool induces = false;
      for (std::size_t k = 0; k <= q; ++k) {
        entropy -= w[q][k] > 0 ? w[q][k] * std::log2(w[q][k]) : 0;
        distance += w[q][k] * static_cast<double>(q - k);
        if (k > 0 && k < q && tokens[k - 1] == tokens[q]) induces = true, induction += w[q][k];
      }
      inducing += induces;
    }
  }
  return {induction / inducing, previous / queries, entropy / queries, distance / queries};
}

TEST(MetricsOnRepeated, AreTheReferencesForEveryHead) {
  const Scenario s("A robot must");
  const RepeatedTokens texts{12, 2, 3};
  const auto answer = s.ask(MetricsOnRepeated{texts});
  const model::Config& config = s.config();
  ASSERT_EQ(answer->heads.size(), static_cast<std::size_t>(config.n_layer * config.n_head));
  EXPECT_EQ(answer->heads[0].queries(HeadMetric::first), 2 * 24);
  for (int i = 0; i < config.n_layer * config.n_head; ++i) {
    SCOPED_TRACE("L" + std::to_string(i / config.n_head) + " H" + std::to_string(i % config.n_head));
    const HeadMetrics& f = answer->heads[i];
    const std::vector<double> expected = by_the_reference(texts, i / config.n_head, i % config.n_head,
                                                          config.vocab_size, config.vocab_size - 1);
    EXPECT_NEAR(f[HeadMetric::induction], expected[0], 1e-5);
    EXPECT_NEAR(f[HeadMetric::previous], expected[1], 1e-5);
    EXPECT_NEAR(f[HeadMetric::entropy], expected[2], 1e-4);
    EXPECT_NEAR(f[HeadMetric::distance], expected[3], 1e-4);
  }
}

using Head = ReferenceGpt2::Head;

TEST(WeightedValuesOf, AreTheNormsOfWhatIsWritten) {
  const Scenario& s = scenario(30);
  for (const auto& [layer, head] : {std::pair{0, 3}, {4, 7}}) {
    const Head& of = reference_head(s, layer, head);
    const auto answer = s.ask(WeightedValuesOf{layer, head});
    EXPECT_TRUE(answer->masked.causal());
    for (std::size_t k = 0; k < 30; ++k) {
      const double written = norm(head_output(reference_model(), layer, head, of.v[k]));
      for (std::size_t q = 0; q < 30; ++q)
        EXPECT_NEAR(static_cast<double>(answer->values[q * 30 + k]), of.weights[q][k] * written,
                    1e-4 * written);
    }
  }
}

/// The rollout through layers 0 to `layer`.
std::vector<std::vector<double>> rollout(const ReferenceGpt2::Result& result, int layer) {
  const std::size_t n = result.heads[0][0].weights.size();
  std::vector<std::vector<double>> all(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) all[i][i] = 1;
  for (int l = 0; l <= layer; ++l) {
    std::vector<std::vector<double>> next(n, std::vector<double>(n));
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t k = 0; k < n; ++k) {
        double step = q == k ? 0.5 : 0;
        for (const Head& head : result.heads[l])
          step += 0.5 * head.weights[q][k] / static_cast<double>(result.heads[0].size());
        for (std::size_t j = 0; j < n; ++j) next[q][j] += step * all[k][j];
      }
    }
    all = next;
  }
  return all;
}

TEST(RolloutOf, IsTheProductOfTheLayersUnderTheMaskThatTheRunHad) {
  for (const bool edited : {false, true}) {
    const Scenario s = edited ? with_edits("L1H2.mask=none") : Scenario::of_length(30);
    const auto reference =
        reference_model().run(s.run->tokens.ids(), model::by_hand(s.run->prompt.edits, {}));
    const auto n = static_cast<std::size_t>(s.length());
    for (const int layer : {0, 1, 5}) {
      const auto expected = rollout(reference, layer);
      const auto answer = s.ask(RolloutOf{layer});
      EXPECT_EQ(answer->masked.causal(), !edited || layer < 1);
      for (std::size_t q = 0; q < n; ++q)
        for (std::size_t k = 0; k < n; ++k)
          EXPECT_NEAR(static_cast<double>(answer->values[q * n + k]), expected[q][k], 1e-5);
    }
  }
}

}  // namespace
}  // namespace headscope::app::heads_test
