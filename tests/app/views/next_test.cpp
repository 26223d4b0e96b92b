// The next token: probabilities and logits read from the picture, compared with the table and the reference.

#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
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
    const auto rows = ids_of_role(shown.picture(), kGuessRole);
    EXPECT_EQ(std::to_string(rows.size()), std::to_string(std::stoi(count) + 1));
    EXPECT_THAT(shown.page().take(shown.region(shown.find(kGuessRole, rows.back())).rect).front().text,
                EndsWith(label_of(shown.context(), best)));
  }
  const ViewFixture all("next", s, 420, 3000, {{"count", "90"}});
  EXPECT_EQ(ids_of_role(all.picture(), kGuessRole).size(), 90U) << "not twice";
}

/// Reads everything that the view shows about the token after a position. Returns whether the token that
/// follows has its own bar, below the guesses.
bool expect_guesses(int query, const std::string& temperature) {
  SCOPED_TRACE("query " + std::to_string(query) + ", temperature " + temperature);
  Scenario s(kRobot, {0, 0, query});
  const ViewFixture shown("next", s, 520, 700, {{"count", "8"}, {"temperature", temperature}});
  const Table table = shown.table();
  const auto rows = text_rows(table);
  const std::vector<double>& logits = reference(s).logits[static_cast<std::size_t>(query)];
  const std::vector<double> probabilities = reference(s).probabilities(query, std::stod(temperature));
  DrawnPage page = shown.page();
  double listed = 0;
  EXPECT_EQ(rows.size(), 8U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int id = std::stoi(rows[i][1]);
    EXPECT_EQ(reference(s).rank(query, id), static_cast<int>(i) + 1);
    const auto drawn = page.take(shown.region(shown.find(kGuessRole, static_cast<int>(i))).rect);
    EXPECT_EQ(drawn.size(), 3U) << "label, probability, logit";
    EXPECT_TRUE(agree(drawn.at(1).text, rows[i][5], probabilities[id], 1e-4 * (1e-3 + probabilities[id])));
    EXPECT_TRUE(agree(drawn.at(2).text, rows[i][4], logits[id], 1e-4));
    listed += probabilities[id];
  }
  EXPECT_NEAR(fact_of(table, "probability of other tokens"), 1 - listed, 1e-5);
  const auto reads_as = [](const std::string& text, double value) {
    const auto number = read_number(text);
    return number && std::abs(number->value - value) <= number->rounding + 1e-5;
  };
  const int actual = s.run->tokens.tokens[static_cast<std::size_t>(query) + 1].id;
  const int rank = reference(s).rank(query, actual);
  EXPECT_EQ(fact_of(table, "following rank"), rank);
  EXPECT_NEAR(fact_of(table, "following probability"), probabilities[actual], 1e-5);
  EXPECT_NEAR(fact_of(table, "following logit"), logits[actual], 1e-4);
  if (rank > 8) {
    EXPECT_TRUE(
        reads_as(page.take(shown.region(shown.find(kGuessRole, 8)).rect).at(1).text, probabilities[actual]));
    listed += probabilities[actual];
  }
  const std::string others = with_commas(logits.size() - (rank > 8 ? 9 : 8)) + " others";
  const auto place = page.place_of(others);
  if (!place) return ADD_FAILURE() << others, false;
  EXPECT_TRUE(reads_as(page.take(viz::Rect{0, place->y - 3, shown.scene().width, place->h + 6}).at(1).text,
                       1 - listed));
  return rank > 8;
}

TEST(Next, NumbersAreThoseOfTheTableAndTheReference) {
  int below = 0;
  const int queries = Scenario(kRobot).length() - 1;
  for (int query = 0; query < queries; ++query) below += expect_guesses(query, "1");
  EXPECT_GT(below, 0);
  EXPECT_LT(below, queries);
  expect_guesses(5, "0.5");
  expect_guesses(5, "2");
}

TEST(Next, ABarContinuesFromThePositionThatIsShown) {
  Scenario s(kRobot, {1, 1, 4});
  const ViewFixture earlier("next", s, 420, 500);
  const std::string id = text_rows(earlier.table())[0][1];
  EXPECT_EQ(in_words(earlier.click(0)), "append " + id + " after 4");
  for (const auto& command : find_view("next")->commands)
    EXPECT_EQ(in_words(command.act(earlier.context(), 0)), "append " + id + " after 4");
  s.select({1, 1, s.length() - 1});
  const ViewFixture last("next", s, 420, 500);
  EXPECT_EQ(in_words(last.click(0)), "append " + text_rows(last.table())[0][1] + " after -1");
}

TEST(Next, WhereTheContextIsFullNoBarContinues) {
  const Scenario& full = scenario(256);
  ASSERT_EQ(full.length(), full.config().n_ctx);
  EXPECT_TRUE(ViewFixture("next", full, 420, 500).click(0).empty());
}

}  // namespace
}  // namespace headscope::app::next_test
