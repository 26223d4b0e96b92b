// The next token: probabilities and logits read from the picture, compared with the table and the reference.

#include "app/run/analyses/predictions.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"
#include "viz/charts/number_axis.h"

namespace headscope::app::next_test {
namespace {

TEST(Next, TheBestGuessOfTheUneditedRunKeepsABar) {
  constexpr const char* kKing = "The king gave Mr. Pellinor a horse. Then the king gave Mr.";
  const Scenario s = edited("L1H6.z=0; L1H1.z=0; L2H5.z=0", {1, 6, -1}, kKing);
  const NextToken before = *s.context(1, 1).ask_on(Side::baseline, NextAfter{-1});
  const auto best = static_cast<int>(std::ranges::max_element(before.logits) - before.logits.begin());
  for (const char* count : {"3", "10"}) {
    const ViewFixture shown("next", s, 420, 700, {{"count", count}});
    const auto ids = ids_of_role(shown.picture(), kGuessRole);
    EXPECT_EQ(std::to_string(ids.size()), std::to_string(std::stoi(count) + 1));
    EXPECT_EQ(ids.back(), best);
  }
  const ViewFixture all("next", s, 420, 3000, {{"count", "90"}});
  EXPECT_EQ(ids_of_role(all.picture(), kGuessRole).size(), 90U) << "not twice";
}

/// Reads everything that the view shows about the token after a position. `below`: whether the actual next
/// token has its own bar, below the guesses.
void expect_guesses(int query, double temperature, const std::string& spelled, bool& below) {
  Scenario s(kRobot, {0, 0, query});
  const auto at = static_cast<std::size_t>(query);
  const ViewFixture shown("next", s, 520, 700, {{"count", "8"}, {"temperature", spelled}});
  const Table table = shown.table();
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), 8U);
  const std::vector<double>& logits = reference(s).logits[at];
  const std::vector<double> probabilities = reference(s).probabilities(query, temperature);
  DrawnPage page = shown.page();
  double listed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE("guess " + std::to_string(i + 1));
    const std::vector<std::string>& row = rows[i];
    const int id = std::stoi(row[1]);
    EXPECT_EQ(reference(s).rank(query, id), static_cast<int>(i) + 1);
    const auto drawn = page.take(shown.region(shown.bar(id)).rect);
    ASSERT_EQ(drawn.size(), 3U) << "label, probability, logit";
    EXPECT_TRUE(agree(drawn[1].text, row[5], probabilities[id], 1e-4 * (1e-3 + probabilities[id])));
    EXPECT_TRUE(agree(drawn[2].text, row[4], logits[id], 1e-4));
    listed += probabilities[id];
  }
  EXPECT_NEAR(fact_of(table, "probability of other tokens"), 1 - listed, 1e-5);
  // The actual next token has its own bar if it is not among the shown guesses.
  const int actual = s.run->tokens.tokens[at + 1].id, rank = reference(s).rank(query, actual);
  EXPECT_EQ(fact_of(table, "following rank"), rank);
  EXPECT_NEAR(fact_of(table, "following probability"), probabilities[actual], 1e-5);
  EXPECT_NEAR(fact_of(table, "following logit"), logits[actual], 1e-4);
  below = rank > 8;
  if (below) {
    const auto drawn = page.take(shown.region(shown.bar(actual)).rect);
    ASSERT_EQ(drawn.size(), 3U);
    const auto number = read_number(drawn[1].text);
    ASSERT_TRUE(number);
    EXPECT_NEAR(number->value, probabilities[actual], number->rounding + 1e-5);
    listed += probabilities[actual];
  }
  const std::string others = with_commas(logits.size() - (below ? 9 : 8)) + " others";
  const auto place = page.place_of(others);
  ASSERT_TRUE(place) << others;
  const auto rest = page.take(viz::Rect{0, place->y - 3, shown.scene().width, place->h + 6});
  ASSERT_EQ(rest.size(), 2U);
  const auto number = read_number(rest[1].text);
  ASSERT_TRUE(number);
  EXPECT_NEAR(number->value, 1 - listed, number->rounding + 1e-5);
}

TEST(Next, NumbersAreThoseOfTheTableAndTheReference) {
  int below = 0, among = 0;
  for (int query = 0; query + 1 < Scenario(kRobot).length(); ++query) {
    SCOPED_TRACE("query " + std::to_string(query));
    bool is_below = false;
    expect_guesses(query, 1, "1", is_below);
    ++(is_below ? below : among);
  }
  EXPECT_GT(below, 0);
  EXPECT_GT(among, 0);
}

TEST(Next, NumbersAreThoseOfTheTemperature) {
  bool is_below = false;
  expect_guesses(5, 0.5, "0.5", is_below);
  expect_guesses(5, 2, "2", is_below);
}

TEST(Next, ABarContinuesFromThePositionThatIsShown) {
  Scenario s(kRobot, {1, 1, 4});
  const ViewFixture earlier("next", s, 420, 500);
  const std::string id = std::to_string(earlier.region(0).id);
  EXPECT_EQ(in_words(earlier.click(0)), "append " + id + " after 4");
  for (const auto& command : find_view("next")->commands)
    EXPECT_EQ(in_words(command.act(earlier.context(), 0)), "append " + id + " after 4");
  s.select({1, 1, s.length() - 1});
  const ViewFixture last("next", s, 420, 500);
  EXPECT_EQ(in_words(last.click(0)), "append " + std::to_string(last.region(0).id) + " after -1");
}

TEST(Next, WhereTheContextIsFullNoBarContinues) {
  const Scenario& full = scenario(256);
  ASSERT_EQ(full.length(), full.config().n_ctx);
  EXPECT_TRUE(ViewFixture("next", full, 420, 500).click(0).empty());
}

}  // namespace
}  // namespace headscope::app::next_test
