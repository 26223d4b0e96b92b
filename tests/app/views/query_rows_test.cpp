// The difference of one query's attention: softmax and the score breakdown on the difference side.

#include "app/run/analyses/patterns.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::query_rows_test {
namespace {

constexpr int kLayer = 2, kHead = 1;

Scenario edited(const char* edits, Selection selection = {kLayer, kHead, 8, -1}) {
  return testing::edited(edits, selection);
}

ViewContext breakdown(Side side, const Scenario& scenario) {
  ViewContext c = on(side, "query", scenario, 1400, 900);
  set(c, "strips", "breakdown");
  return c;
}

Table breakdown_of(Side side, const Scenario& scenario) {
  return find_view("query")->table(breakdown(side, scenario));
}

TEST(SoftmaxDifference, ComparesKeysOfASecondPromptWithThoseThatStandForThem) {
  const Scenario s = of_two({kLayer, kHead, 5, -1});
  Scenario second("The very old king had daughter");
  const Table table = table_of(Side::difference, "softmax", s);
  const auto weights = numbers_of(table, "difference of weight"),
             scores = numbers_of(table, "difference of score");
  const std::vector<int> stands{0, 2, 3, 4, -1, 5};
  const auto after = s.ask(StagesOf{kLayer, kHead}), before = second.ask(StagesOf{kLayer, kHead});
  ASSERT_EQ(weights.size(), stands.size());
  for (int key = 0; key < 6; ++key) {
    const auto i = static_cast<std::size_t>(key);
    if (stands[i] < 0) {
      EXPECT_TRUE(is_no_number(weights[i]) && is_no_number(scores[i])) << "nothing stands for it";
      continue;
    }
    EXPECT_EQ(weights[i], decimal(s.weight(5, key) - second.weight(5, stands[i])));
    EXPECT_EQ(scores[i], decimal(after->matrix(Stage::scores).at(5, key) -
                                 before->matrix(Stage::scores).at(5, stands[i])));
  }
}

TEST(ScoreDifference, ComparesThePairWithTheOneThatStandsForIt) {
  const Scenario s = of_two({kLayer, kHead, 5, 3});
  Scenario second("The very old king had daughter");
  const Table difference = breakdown_of(Side::difference, s);
  EXPECT_EQ(fact_of(difference, "compared query"), 5);
  EXPECT_EQ(fact_of(difference, "compared key"), 4);
  EXPECT_NEAR(fact_of(difference, "difference of score through q") +
                  fact_of(difference, "difference of score through k"),
              fact_of(difference, "difference of score"), 5e-5);
  EXPECT_EQ(fact_of(difference, "difference of weight"), decimal(s.weight(5, 3) - second.weight(5, 4)));
  const auto k = s.run->run->k(kLayer, kHead, 3), k0 = second.run->run->k(kLayer, kHead, 4);
  for (std::size_t i = 0; i < k.size(); ++i)
    EXPECT_EQ(numbers_of(difference, "difference of k")[i], decimal(k[i] - k0[i]));
}

TEST(ScoreDifference, TakesTheKeyWithTheLargestDifference) {
  const Scenario s = edited("L1.mask=none"), clean(kRobot);
  int most = 0;
  const auto difference = [&](int key) { return std::abs(s.weight(8, key) - clean.weight(8, key)); };
  for (int key = 1; key < 9; ++key)
    if (difference(key) > difference(most)) most = key;
  EXPECT_EQ(fact_of(breakdown_of(Side::difference, s), "key"), most);
  // With two prompts, never a query without a counterpart.
  for (int query = 0; query < 6; ++query) {
    const Table table = breakdown_of(Side::difference, of_two({kLayer, kHead, query, -1}));
    EXPECT_EQ(table.empty(), query == 4);
    if (!table.empty()) {
      EXPECT_NE(fact_of(table, "key"), 4);
    }
  }
}

TEST(RowDifference, AKeyThatIsHiddenOnOneSideIsInfinitelyFar) {
  const Scenario s = edited("L2H1.scores[8,3]=null", {kLayer, kHead, 8, 3}), clean(kRobot);
  const float weight = -clean.weight(8, 3);
  const Table softmax = table_of(Side::difference, "softmax", s);
  EXPECT_TRUE(is_no_number(numbers_of(softmax, "difference of score")[3])) << "no number of its own";
  EXPECT_EQ(numbers_of(softmax, "difference of weight")[3], decimal(weight));
  const Table cell = breakdown_of(Side::difference, s);
  EXPECT_EQ(fact_of(cell, "difference of score"), 0);
  EXPECT_EQ(fact_of(cell, "difference of masked"), -INFINITY);
  EXPECT_EQ(fact_of(cell, "difference of weight"), decimal(weight));
}

TEST(RowDifference, WhereTheMaskIsLiftedLaterKeysHaveTheScoresThatTheyAlwaysHad) {
  const Scenario s = edited("L2H1.mask=none; L0.attn_out=0", {kLayer, kHead, 2, 6}), clean(kRobot);
  const auto after = s.ask(StagesOf{kLayer, kHead}), before = clean.ask(StagesOf{kLayer, kHead});
  const Table cell = breakdown_of(Side::difference, s);
  EXPECT_EQ(fact_of(cell, "difference of score"),
            decimal(after->matrix(Stage::scores).at(2, 6) - before->matrix(Stage::scores).at(2, 6)));
  EXPECT_EQ(fact_of(cell, "difference of masked"), INFINITY);
  EXPECT_EQ(fact_of(cell, "difference of weight"), decimal(s.weight(2, 6)));
  const Table softmax = table_of(Side::difference, "softmax", s);
  ASSERT_EQ(softmax.rows(), 9U);
  EXPECT_EQ(numbers_of(softmax, "difference of weight")[6], decimal(s.weight(2, 6)));
  EXPECT_EQ(numbers_of(softmax, "difference of weight")[1], decimal(s.weight(2, 1) - clean.weight(2, 1)));
}

TEST(RowDifference, WhatIsHiddenOnBothSidesDoesNotDiffer) {
  // Query 2 sees key 6, so its row includes the keys in between, which neither side sees.
  const Scenario s = edited("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, -1});
  const Table softmax = table_of(Side::difference, "softmax", s);
  ASSERT_EQ(softmax.rows(), 9U);
  for (const int key : {3, 4, 5, 8})
    for (const char* number : {"score", "weight"})
      EXPECT_EQ(numbers_of(softmax, std::string("difference of ") + number)[key], 0);
  const Table cell = breakdown_of(Side::difference, edited("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 6}));
  EXPECT_EQ(fact_of(cell, "difference of masked"), 0);
  EXPECT_EQ(fact_of(cell, "difference of weight"), 0.5);
}

}  // namespace
}  // namespace headscope::app::query_rows_test
