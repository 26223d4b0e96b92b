// The score breakdown of a query's key: the written numbers are the model's.
#include <regex>

#include "tests/app/view_fixture.h"

namespace headscope::app::score_test {
namespace {

constexpr double kTolerance = 5e-5;
constexpr int kStep = 3;
constexpr int kQuery = 6;

ViewFixture breakdown(int key) {
  return {"query", Scenario(kRobot, {1, 2, kQuery, key}), 1400, 900, {{"strips", "breakdown"}}};
}

TEST(ScoreBreakdown, NumbersAreTheReferences) {
  const auto& head = reference_head(Scenario(kRobot, {1, 2}));
  const Table table = breakdown(3).table();
  const auto number = [&](const std::string& name) { return fact_of(table, name); };
  const auto &q = head.q[kQuery], &k = head.k[3];
  double dot = 0, qq = 0, kk = 0, largest = -1e300, sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    dot += q[i] * k[i], qq += q[i] * q[i], kk += k[i] * k[i];
    EXPECT_NEAR(numbers_of(table, "q")[i], q[i], kTolerance);
    EXPECT_NEAR(numbers_of(table, "k")[i], k[i], kTolerance);
    EXPECT_NEAR(numbers_of(table, "q*k")[i], q[i] * k[i], kTolerance);
  }
  for (std::size_t key = 0; key <= kQuery; ++key) largest = std::max(largest, head.scaled[kQuery][key]);
  for (std::size_t key = 0; key <= kQuery; ++key) sum += std::exp(head.scaled[kQuery][key] - largest);
  EXPECT_NEAR(number("norm of q"), std::sqrt(qq), kTolerance);
  EXPECT_NEAR(number("norm of k"), std::sqrt(kk), kTolerance);
  EXPECT_NEAR(number("cosine"), dot / std::sqrt(qq * kk), kTolerance);
  EXPECT_NEAR(number("score"), dot, kTolerance);
  EXPECT_NEAR(number("scaled"), dot / std::sqrt(static_cast<double>(q.size())), kTolerance);
  EXPECT_NEAR(number("largest"), largest, kTolerance);
  EXPECT_NEAR(number("exponential"), std::exp(head.scaled[kQuery][3] - largest), kTolerance);
  EXPECT_NEAR(number("row sum"), sum, kTolerance);
  EXPECT_NEAR(number("weight"), head.weights[kQuery][3], kTolerance);
}

// The numbers of a step give its result, but for the rounding of each.
TEST(ScoreBreakdown, WhatIsWrittenAddsUp) {
  const std::regex sum(R"((\S+) (\+|−) (\S+) (?:=|≈) (\S+))");
  const ViewFixture shown = breakdown(3);
  DrawnPage page = shown.page();
  for (const int index : {0, 4, 6}) {  // positive and negative products, minus the maximum, row sum
    const auto line = page.take(shown.region(shown.find(kStep, index)).rect);
    ASSERT_EQ(line.size(), 3U) << index;  // name, computation, result
    const std::string words = line[1].text + " " + line[2].text;
    std::smatch found;
    ASSERT_TRUE(std::regex_match(words, found, sum)) << words;
    const auto number = [&](std::size_t i) {
      return std::stod(std::regex_replace(found[i].str(), std::regex("−"), "-"));
    };
    EXPECT_NEAR(number(1) + (found[2] == "+" ? 1 : -1) * number(3), number(4), 2e-4) << words;
  }
}

TEST(ScoreBreakdown, TakesTheStrongestKeyWhereNoneIsChosen) {
  const auto& weights = reference_head(Scenario(kRobot, {1, 2})).weights[kQuery];
  EXPECT_EQ(fact_of(breakdown(-1).table(), "key"), std::ranges::max_element(weights) - weights.begin());
}

}  // namespace
}  // namespace headscope::app::score_test
