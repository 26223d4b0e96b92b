// One query's attention: its table, softmax and the score breakdown, compared with the reference, and their
// difference; the query-key space: positions of the marks, and the facts under the mouse.
#include "app/run/analyses/geometry.h"
#include "app/run/analyses/patterns.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::query_test {
namespace {

constexpr int kQuery = 6;

Scenario robot_with_query(int query) {
  return Scenario(kRobot, {1, 2, query});
}

constexpr double kTolerance = 5e-5;  // between float32 and double

TEST(Query, TheTableHasTheNumbersAndVectorsOfTheReference) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const auto rows = text_rows(table_of("query", s));
  const std::size_t d_head = head.z[kQuery].size();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(s.length()));
  ASSERT_EQ(rows[0].size(), 6 + 3 * d_head);
  for (std::size_t key = 0; key <= kQuery; ++key) {
    const std::vector<std::string>& row = rows[key];
    EXPECT_NEAR(std::stod(row[2]), head.scores[kQuery][key], kTolerance);
    EXPECT_NEAR(std::stod(row[3]), head.scaled[kQuery][key], kTolerance);
    for (std::size_t i = 0; i < d_head; ++i) {
      EXPECT_NEAR(std::stod(row[6 + i]), head.k[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + d_head + i]), head.v[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + 2 * d_head + i]), head.weights[kQuery][key] * head.v[key][i], kTolerance);
    }
  }
}

TEST(Query, ProductsOfTheComponentsAreTheReferences) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const ViewFixture shown("query", s, 1700, 700, {{"strips", "products"}});
  const auto rows = text_rows(shown.table());
  const std::size_t d_head = head.q[kQuery].size();
  for (std::size_t key = 0; key <= kQuery; ++key) {
    for (std::size_t i = 0; i < d_head; ++i)
      EXPECT_NEAR(std::stod(rows[key][6 + d_head + i]), head.q[kQuery][i] * head.k[key][i], kTolerance) << i;
    EXPECT_GE(shown.strip(Vector::product, static_cast<int>(key)), 0);
    EXPECT_EQ(shown.strip(Vector::value, static_cast<int>(key)), -1);
  }
}

std::vector<float> column(const Table& table, const std::string& name) {
  const std::vector<double> numbers = numbers_of(table, name);
  return {numbers.begin(), numbers.end()};
}

TEST(Query, HasTheScalesOfTheStripsThatAreDrawn) {
  const Scenario s = robot_with_query(kQuery);
  for (const auto& [width, is_drawn] : {std::pair(500.F, false), {1700.F, true}}) {
    const ViewFixture shown("query", s, width, 500);
    EXPECT_EQ(shown.fixed_strip(Vector::query) >= 0, is_drawn) << width;
    EXPECT_EQ(shown.page().take_starting("q, k") != "", is_drawn) << width;
  }
}

TEST(SoftmaxView, ThreeNumbersOfEverySize) {
  const Scenario s(kRobot);
  const auto weights = [&](const char* from) {
    return column(table_of("softmax", s, {{"scores-from", from}}), "weight");
  };
  const std::vector<float> one = weights("one"), ten = weights("ten"), hundred = weights("hundred");
  EXPECT_NEAR(one[0], 0.0900, 5e-5);
  EXPECT_NEAR(one[1], 0.2447, 5e-5);
  EXPECT_NEAR(one[2], 0.6652, 5e-5);
  EXPECT_NEAR(ten[0] / std::exp(-20.0), 1, 1e-3);
  EXPECT_NEAR(ten[1] / std::exp(-10.0), 1, 1e-3);
  // Far below the smallest normal number, and not flushed to zero.
  EXPECT_EQ(hundred[1], 3.7835e-44F);
  EXPECT_GT(hundred[1], 0);
  EXPECT_EQ(hundred[0], 0);
  EXPECT_EQ(hundred[2], 1);
  const Table kept = table_of("softmax", s, {{"scores-from", "one"}, {"strongest-first", "yes"}});
  EXPECT_EQ(column(kept, "weight"), one) << "they are no keys to be sorted";
}

TEST(SoftmaxView, TheRowIsTheReferencesAtAnyScale) {
  const Scenario s(kRobot, {1, 2, kQuery});
  const auto& head = reference_head(s);
  const double factor = 2.5 / std::sqrt(static_cast<double>(s.config().d_head()));
  double sum = 0, plain_sum = 0;
  for (std::size_t k = 0; k <= kQuery; ++k) {
    sum += std::exp(factor * head.scores[kQuery][k]);
    plain_sum += std::exp(head.scores[kQuery][k]);
  }
  const Table scaled = table_of("softmax", s, {{"softmax-scale", "2.5"}});
  for (std::size_t k = 0; k <= kQuery; ++k) {
    EXPECT_NEAR(column(scaled, "weight")[k], std::exp(factor * head.scores[kQuery][k]) / sum, 2e-4);
    EXPECT_NEAR(column(scaled, "unscaled")[k], std::exp(head.scores[kQuery][k]) / plain_sum, 2e-4);
  }
}

ViewContext breakdown(Side side, const Scenario& scenario) {
  ViewContext c = on(side, "query", scenario, 1400, 900);
  set(c, "strips", "breakdown");
  return c;
}

ViewFixture breakdown_at(int key) {
  return {"query", Scenario(kRobot, {1, 2, kQuery, key}), 1400, 900, {{"strips", "breakdown"}}};
}

TEST(ScoreBreakdown, NumbersAreTheReferences) {
  const auto& head = reference_head(Scenario(kRobot, {1, 2}));
  const Table table = breakdown_at(3).table();
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

TEST(ScoreBreakdown, AStepSaysWhatItComputes) {
  const ViewFixture shown = breakdown_at(3);
  const auto& scores = reference_head(Scenario(kRobot, {1, 2})).scaled[kQuery];
  const auto largest = std::ranges::max_element(scores.begin(), scores.begin() + kQuery + 1) - scores.begin();
  constexpr int kStepRole = 3;
  std::string said;
  for (const int step : shown.all_of(kStepRole))
    for (const std::string& line : shown.tooltip(step)) said += line + "\n";
  EXPECT_THAT(said, HasSubstr("minus maximum: minus the query's largest scaled score, that of key " +
                              std::to_string(largest) + " “"));
  EXPECT_THAT(said, HasSubstr("those of the other " + std::to_string(kQuery) + " keys"));
}

TEST(ScoreBreakdown, LeavesRoomForKeysInALowPane) {
  const Scenario s(kRobot, {1, 2, kQuery, 3});
  ViewContext c = breakdown(Side::run, s);
  c.width = 690, c.height = 480, c.in_pane = true;
  EXPECT_THAT(find_view("query")->build(c).subtitle, Not(HasSubstr("no room for")));
}

TEST(ScoreDifference, A0IsSubtractedToo) {
  const auto steps = [](const Scenario& s) {
    std::string said;
    const ViewFixture shown("query", breakdown(Side::difference, s));
    for (const int step : shown.all_of(3))
      for (const std::string& line : shown.tooltip(step)) said += line + "\n";
    return said;
  };
  const auto& weights = reference_head(Scenario(kRobot, {1, 2})).weights[kQuery];
  const auto strongest = static_cast<int>(std::ranges::max_element(weights) - weights.begin());
  EXPECT_THAT(steps(testing::edited("L5H7.z=0", {1, 2, kQuery, strongest})),
              HasSubstr("minus maximum: 0.0000 − 0.0000"));
}

TEST(ScoreBreakdown, TakesTheStrongestKeyWhereNoneIsChosen) {
  const auto& weights = reference_head(Scenario(kRobot, {1, 2})).weights[kQuery];
  EXPECT_EQ(fact_of(breakdown_at(-1).table(), "key"), std::ranges::max_element(weights) - weights.begin());
}

constexpr int kLayer = 2, kHead = 1;

Scenario edited(const char* edits, Selection selection = {kLayer, kHead, 8, -1}) {
  return testing::edited(edits, selection);
}

Table breakdown_of(Side side, const Scenario& scenario) {
  return find_view("query")->table(breakdown(side, scenario));
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
  const auto weights = numbers_of(table_of(Side::difference, "softmax", s), "difference of weight");
  EXPECT_EQ(weights[3], decimal(s.weight(5, 3) - second.weight(5, 4)));
  EXPECT_TRUE(is_no_number(weights[4])) << "nothing stands for it";
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
  const Scenario clean(kRobot);
  for (const auto& [edits, query, key, masked] :
       {std::tuple{"L2H1.scores[8,3]=null", 8, 3, -INFINITY},
        {"L2H1.mask=none; L0.attn_out=0", 2, 6, INFINITY},
        {"L2H1.pattern[2,6]=0.5", 2, 6, 0.F}}) {  // hidden on both sides, and set after the softmax
    SCOPED_TRACE(edits);
    const Scenario s = edited(edits, {kLayer, kHead, query, key});
    const Table cell = breakdown_of(Side::difference, s);
    const double weight = decimal(s.weight(query, key) - clean.weight(query, key));
    EXPECT_EQ(fact_of(cell, "difference of masked"), masked);
    EXPECT_EQ(fact_of(cell, "difference of weight"), weight);
    EXPECT_EQ(numbers_of(table_of(Side::difference, "softmax", s), "difference of weight")[key],
              masked == 0 ? 0 : weight);
  }
}

TEST(RowDifference, AKeyWithoutAScoreOfItsOwnHasNoDifferenceOfScores) {
  const Table softmax = table_of(Side::difference, "softmax", edited("L2H1.scores[8,3]=null"));
  EXPECT_TRUE(is_no_number(numbers_of(softmax, "difference of score")[3]));
}

TEST(RowDifference, WhatIsHiddenOnBothSidesDoesNotDiffer) {
  // Query 2 sees key 6, so its row includes the keys in between, which neither side sees.
  const Scenario s = edited("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, -1});
  const Table softmax = table_of(Side::difference, "softmax", s);
  ASSERT_EQ(softmax.rows(), 9U);
  for (const int key : {3, 4, 5, 8})
    for (const char* number : {"difference of score", "difference of weight"})
      EXPECT_EQ(numbers_of(softmax, number)[key], 0);
}

TEST(QueryKeySpaceView, TellsScoreAndWeightOfTheMarkUnderTheMouse) {
  Scenario s("The king and his sons", {2, 1, 4, 1});
  const auto stages = s.ask(StagesOf{2, 1});
  const ViewFixture shown("query_key_space", s, 900, 700);
  const auto name = [&](int position) { return token_name(s.run->tokens, position); };
  std::map<std::string, std::pair<std::vector<std::string>, std::string>>
      said;  // by mark: facts, and a click
  const viz::Region& space = shown.region(0);
  for (int row = 0; row < space.row_count; row += 8)
    for (int col = 0; col < space.col_count; col += 8) {
      const auto lines = shown.tooltip(0, row, col);
      if (!lines.empty()) said[lines[0]] = {lines, in_words(shown.click(0, row, col))};
    }
  EXPECT_EQ(said.size(), 10U);
  for (const bool key : {false, true}) {
    for (int position = 0; position < s.length(); ++position) {
      const std::string mark = (key ? "key " : "query ") + name(position);
      SCOPED_TRACE(mark);
      const int q = key ? 4 : position, k = key ? position : 1;
      const bool masked = k > q;
      EXPECT_THAT(
          said[mark].first,
          ElementsAre(mark, "with " + (key ? "query " + name(4) : "key " + name(1)),
                      "score " + exact(stages->matrix(Stage::scaled).at(q, k)),
                      masked ? "masked" : "weight " + exact(stages->matrix(Stage::pattern).at(q, k))));
      EXPECT_EQ(said[mark].second, !key            ? "query " + std::to_string(position)
                                   : position == 1 ? "key -1"
                                                   : "key " + std::to_string(position));
    }
  }
}

TEST(QueryKeySpaceView, TheTableHasTheQueriesThenTheKeys) {
  const Scenario& s = scenario(40);
  const auto space = s.ask(QueryKeySpaceOf{s.selection.layer, s.selection.head});
  const ViewFixture shown("query_key_space", s, 900, 700);
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 80U);
  EXPECT_EQ(rows[45][0], "key");
  EXPECT_EQ(rows[45][1], "5");
  EXPECT_EQ(rows[45][3], plain(space->at(true, 5)[0]));
}

TEST(QueryKeySpaceView, SaysWhenItIsNotFinite) {
  const Scenario s(
      Prompt{"The king and his", {}, false, parse_edits("L2H1.q*=1e38; L2H1.q*=1e38", *bundled())});
  EXPECT_THAT(texts(ViewFixture("query_key_space", s, 900, 700).scene()),
              Contains("this head has non-finite queries or keys"));
}

}  // namespace
}  // namespace headscope::app::query_test
