// The score breakdown of a query's key: the written numbers add up, and are the model's.
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

/// A number as an integer of its last digit: "−1.2345" is −12345 with 4 decimals.
struct Written {
  long long digits = 0;
  int decimals = 0;
};
Written parse(std::string text) {
  text = std::regex_replace(text, std::regex("−"), "-");
  const std::size_t point = text.find('.');
  Written w;
  if (point != std::string::npos)
    w.decimals = static_cast<int>(text.size() - point - 1), text.erase(point, 1);
  w.digits = std::stoll(text);
  return w;
}

// Adding the written numbers, digit by digit, gives the written result.
TEST(ScoreBreakdown, WhatIsWrittenAddsUp) {
  int checked = 0;
  const std::regex sum(R"((\S+) (\+|−) (\S+) (=|≈) (\S+))");
  for (int key = 0; key <= kQuery; ++key) {
    const ViewFixture shown = breakdown(key);
    DrawnPage page = shown.page();
    for (const int index : {0, 4, 6}) {  // positive and negative products, minus the maximum, row sum
      const auto line = page.take(shown.region(shown.find(kStep, index)).rect);
      ASSERT_EQ(line.size(), 3U) << index;  // name, computation, result
      const std::string words = line[1].text + " " + line[2].text;
      SCOPED_TRACE(words);
      std::smatch found;
      ASSERT_TRUE(std::regex_match(words, found, sum));
      if (words.find('e') != std::string::npos) continue;  // too small to add by hand
      const Written a = parse(found[1]), b = parse(found[3]), result = parse(found[5]);
      if (a.decimals != b.decimals || a.decimals != result.decimals) continue;
      EXPECT_LT(std::max(std::abs(a.digits), std::abs(b.digits)), 10'000'000) << "float32 has seven digits";
      EXPECT_EQ(a.digits + (found[2] == "+" ? b.digits : -b.digits), result.digits);
      ++checked;
    }
  }
  EXPECT_GT(checked, 2 * kQuery);
}

TEST(ScoreBreakdown, TakesTheStrongestKeyWhereNoneIsChosen) {
  const auto& weights = reference_head(Scenario(kRobot, {1, 2})).weights[kQuery];
  EXPECT_EQ(fact_of(breakdown(-1).table(), "key"), std::ranges::max_element(weights) - weights.begin());
}

}  // namespace
}  // namespace headscope::app::score_test
