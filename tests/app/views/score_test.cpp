// The score breakdown of a cell: the written numbers add up, and are the model's.
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::score_test {
namespace {

constexpr double kTolerance = 5e-5;
constexpr int kStep = 1, kKey = 2;
constexpr int kQuery = 6;

Scenario robot(int key) {
  Scenario s(kRobot, {1, 2, kQuery, key});
  return s;
}

TEST(ScoreView, NumbersAreTheReferences) {
  const Scenario s = robot(3);
  const auto& head = reference_head(s);
  const Table table = ViewFixture("score", s, 900, 700).table();
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

/// The texts of one line, from left to right: name, expression, sign, result.
std::vector<std::string> step(const ViewFixture& shown, int index) {
  std::vector<std::string> line;
  auto page = shown.page();
  for (const auto& box : page.take(shown.region(shown.find(kStep, index)).rect)) line.push_back(box.text);
  return line;
}

/// A number as an integer of its last digit: "−1.2345" is −12345 with 4 decimals.
struct Written {
  long long digits = 0;
  int decimals = 0;
};
Written parse(std::string text) {
  Written w;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "−") == 0) {
      plain += '-', i += 2;
    } else if (text[i] == '.') {
      w.decimals = static_cast<int>(text.size() - i - 1);
    } else if (text[i] != ' ') {
      plain += text[i];
    }
  }
  w.digits = std::stoll(plain);
  return w;
}

// Adding the written numbers, digit by digit, gives the written result.
TEST(ScoreView, WhatIsWrittenAddsUp) {
  int checked = 0;
  for (int key = 0; key <= kQuery; ++key) {
    const Scenario s = robot(key);
    const ViewFixture shown("score", s, 900, 800);
    for (const int index : {0, 4, 6}) {  // positive and negative products, minus the maximum, row sum
      const std::vector<std::string> line = step(shown, index);
      ASSERT_EQ(line.size(), 4U) << index;
      SCOPED_TRACE(line[1] + " " + line[2] + " " + line[3]);
      if ((line[1] + line[3]).find('e') != std::string::npos) continue;  // too small to add by hand
      const std::size_t plus = line[1].find(" + "), minus = line[1].find(" − ");
      const std::size_t at = std::min(plus, minus);
      ASSERT_NE(at, std::string::npos);
      const Written a = parse(line[1].substr(0, at)), b = parse(line[1].substr(at + (at == plus ? 3 : 5))),
                    sum = parse(line[3]);
      if (a.decimals != b.decimals || a.decimals != sum.decimals) continue;
      EXPECT_LT(std::max(std::abs(a.digits), std::abs(b.digits)), 10'000'000) << "float32 has seven digits";
      EXPECT_EQ(a.digits + (at == plus ? b.digits : -b.digits), sum.digits);
      ++checked;
    }
  }
  EXPECT_GT(checked, 2 * kQuery);
}

TEST(ScoreView, TakesTheStrongestKeyWhereNoneIsChosen) {
  const Scenario s = robot(-1);
  const auto& weights = reference_head(s).weights[kQuery];
  const auto strongest = std::ranges::max_element(weights) - weights.begin();
  EXPECT_EQ(fact_of(ViewFixture("score", s, 900, 700).table(), "key"), strongest);
}

TEST(ScoreView, AClickOnTheRowChoosesTheKey) {
  const ViewFixture shown("score", robot(3), 900, 800);
  const int keys = shown.find(kKey, kQuery);
  ASSERT_GE(keys, 0);
  EXPECT_EQ(in_words(shown.click(keys, 0, 5)), "key 5");
  EXPECT_EQ(in_words(shown.click(keys, 0, 3)), "key -1");
  EXPECT_EQ(in_words(shown.press(Key::right, true)), "key 4");
}

}  // namespace
}  // namespace headscope::app::score_test
