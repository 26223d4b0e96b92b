// What follows a token, at every position and by sampling: tables and colours compared with the reference;
// the logit lens: the table compared with the definition, the picture with the table.
#include "app/run/analyses/predictions.h"

#include "app/counted.h"
#include "app/views/parts/names.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::predictions_test {
namespace {

constexpr double kTolerance = 5e-5;  // between float32 and double, in bits

int row_of(const ViewFixture& shown, int position) {
  return shown.find(kPredictionRole, position);
}

/// The reference's prediction of the token after a position.
struct ExpectedPrediction {
  double probability = 0, loss = 0;
  int rank = 0;
};
ExpectedPrediction expected(const Scenario& s, int position) {
  const auto next = s.run->tokens.ids().at(static_cast<std::size_t>(position) + 1);
  const double p = reference(s).probabilities(position).at(static_cast<std::size_t>(next));
  return {p, -std::log2(p), reference(s).rank(position, next)};
}

TEST(Predictions, TheTableIsTheReferencesAtEveryPosition) {
  const Scenario s(kRobot);
  const Table table = table_of("predictions", s);
  double mean = 0;
  for (int i = 0; i < s.length(); ++i) {
    SCOPED_TRACE("position " + std::to_string(i));
    const auto number = [&](const std::string& column) { return numbers_of(table, column)[i]; };
    const auto probabilities = reference(s).probabilities(i);
    for (int g = 1; g <= 5; ++g) {
      const std::string guess = "guess " + std::to_string(g) + " ";
      const auto id = static_cast<int>(number(guess + "id"));
      EXPECT_EQ(reference(s).rank(i, id), g);
      EXPECT_NEAR(number(guess + "probability"), probabilities[id], kTolerance);
    }
    if (i + 1 == s.length()) continue;
    const ExpectedPrediction e = expected(s, i);
    EXPECT_EQ(number("rank"), e.rank);
    EXPECT_NEAR(number("probability"), e.probability, kTolerance);
    EXPECT_NEAR(number("loss"), e.loss, kTolerance);
    mean += e.loss / (s.length() - 1);
  }
  EXPECT_NEAR(fact_of(table, "mean loss"), mean, kTolerance);
  EXPECT_NEAR(fact_of(table, "perplexity"), std::exp2(mean), 1e-3 * std::exp2(mean));
}

TEST(Predictions, WhereOtherTokensFollowTheDifferenceDoesNotSayThatNoneDoes) {
  Scenario s("The king");
  s.compare(Prompt{"The dog", {}, false});
  EXPECT_THAT(ViewFixture("predictions", on(Side::difference, "predictions", s)).picture().subtitle,
              HasSubstr("the same token follows nowhere"));
}

TEST(Predictions, MostSurprisingFirstSortsByLossAndTheLastTokenComesLast) {
  const Scenario& s = scenario(40);
  const ViewFixture shown("predictions", s, 900, 2000, {{"surprising-first", "yes"}});
  const std::vector<int> order = ids_of_role(shown.picture(), kPredictionRole);
  ASSERT_EQ(std::ssize(order), s.length());
  for (std::size_t i = 1; i + 1 < order.size(); ++i)
    EXPECT_GE(expected(s, order[i - 1]).loss + kTolerance, expected(s, order[i]).loss);
  EXPECT_EQ(order.back(), s.length() - 1);
}

TEST(Predictions, TheMenuContinuesWithAGuess) {
  const Scenario s(kRobot);
  const ViewFixture shown("predictions", s, 1700, 700);
  const Table table = shown.table();
  for (const auto& [row, after] : {std::pair(2, "2"), {s.length() - 1, "-1"}}) {
    const std::string best = "Continue with “" + texts_of(table, "guess 1 token")[row] + "” " +
                             percent(numbers_of(table, "guess 1 probability")[row]);
    EXPECT_EQ(in_words(shown.choose(best, row_of(shown, row))),
              "append " + number_text(numbers_of(table, "guess 1 id")[row]) + " after " + after);
  }
}

TEST(Predictions, APartOfTheAnswerShowsWhatIsThere) {
  const Scenario& s = scenario(100);
  Statistics part = *s.ask(StatisticsOfTokens{});
  part.positions.resize(30);
  OneAnswer answers(StatisticsOfTokens{}, part, false);
  ViewContext c = s.context(900, 4000, answers);
  const Picture picture = find_view("predictions")->build(c);
  EXPECT_EQ(ids_of_role(picture, kPredictionRole).size(), 30U);
  EXPECT_EQ(ids_of_role(picture, kShadedRole).size(), 100U);
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("computing… 30 of 100 positions")));
}

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

TEST(Next, TheTableIsTheReferencesAtEveryTemperature) {
  int below = 0;
  for (const auto& [query, temperature] :
       {std::pair(0, "1"), {1, "1"}, {3, "1"}, {5, "0.5"}, {5, "2"}, {7, "1"}}) {
    SCOPED_TRACE("query " + std::to_string(query) + ", temperature " + temperature);
    const Scenario s(kRobot, {0, 0, query});
    const Table table = table_of("next", s, {{"count", "8"}, {"temperature", temperature}});
    const auto ids = numbers_of(table, "id"), logits = numbers_of(table, "logit"),
               shown = numbers_of(table, "probability");
    const std::vector<double> probabilities = reference(s).probabilities(query, std::stod(temperature));
    ASSERT_EQ(ids.size(), 8U);
    double listed = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto id = static_cast<int>(ids[i]);
      EXPECT_EQ(reference(s).rank(query, id), static_cast<int>(i) + 1);
      EXPECT_NEAR(shown[i], probabilities[id], 1e-4 * (1e-3 + probabilities[id]));
      EXPECT_NEAR(logits[i], reference(s).logits[query][id], 1e-4);
      listed += probabilities[id];
    }
    EXPECT_NEAR(fact_of(table, "probability of other tokens"), 1 - listed, 1e-5);
    const int actual = s.run->tokens.ids()[static_cast<std::size_t>(query) + 1],
              rank = reference(s).rank(query, actual);
    EXPECT_EQ(fact_of(table, "following rank"), rank);
    EXPECT_NEAR(fact_of(table, "following probability"), probabilities[actual], 1e-5);
    EXPECT_NEAR(fact_of(table, "following logit"), reference(s).logits[query][actual], 1e-4);
    below += rank > 8;
  }
  EXPECT_GT(below, 0);
}

TEST(Next, OthersHaveTheirOwnSumWhereOneTokenHasNearlyAll) {
  const Scenario s(kRobot);
  const ViewFixture shown("next", s, 520, 700, {{"temperature", "0.05"}});
  std::vector<double> probabilities = reference(s).probabilities(s.length() - 1, 0.05);
  for (const double id : numbers_of(shown.table(), "id")) probabilities[static_cast<std::size_t>(id)] = 0;
  double others = 0;
  for (const double p : probabilities) others += p;
  EXPECT_NEAR(fact_of(shown.table(), "probability of other tokens") / others, 1, 0.05);
  EXPECT_THAT(shown.picture().subtitle, HasSubstr("temperature 0.05"));
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

constexpr int kRowRole = 0;

double number(const std::string& text) {
  return std::stod(text);
}

TEST(Sampling, TheTableIsTheReferencesDistributionStepByStep) {
  const Scenario s(kRobot);
  const ViewFixture shown("sampling", s, 1000, 700,
                          {{"temperature", "0.8"}, {"top-k", "40"}, {"top-p", "0.6"}});
  const auto table = text_rows(shown.table());
  const std::vector<double> p = reference(s).probabilities(s.length() - 1, 0.8);
  double together = 0, mass = 0;
  int kept = 0;
  std::vector<double> sorted = p;
  std::ranges::sort(sorted, std::ranges::greater{});
  const double left = std::accumulate(sorted.begin(), sorted.begin() + 40, 0.0);
  while (kept < 40 && mass < 0.6 * left) mass += sorted[kept++];
  ASSERT_GT(kept, 2);
  ASSERT_LT(kept, 40) << "both steps remove something";
  int drawn = 0;
  for (std::size_t row = 0; row < 100; ++row) {
    SCOPED_TRACE(row);
    const std::vector<std::string>& cells = table.at(row);
    const double expected = p.at(static_cast<std::size_t>(std::stoi(cells[1])));
    together += expected;
    EXPECT_NEAR(number(cells[5]), expected, 2e-6);
    EXPECT_NEAR(number(cells[6]), together, 1e-5);
    const int rank = static_cast<int>(row);
    EXPECT_EQ(cells[7], rank < kept ? "" : rank < 40 ? "top-p" : "top-k");
    if (rank < kept) {
      EXPECT_NEAR(number(cells[8]), expected / mass, 2e-5);
    } else {
      EXPECT_EQ(cells[8], "");
    }
    drawn += cells[9] == "yes";
  }
  EXPECT_EQ(drawn, 1);
}

TEST(Sampling, DrawGoesOnWithTheTokenThatIsMarked) {
  const ViewFixture shown("sampling", Scenario(kRobot), 1000, 700, {{"seed", "7"}});
  const auto table = text_rows(shown.table());
  const auto drawn = std::ranges::find_if(table, [](const auto& row) { return row.at(9) == "yes"; });
  ASSERT_NE(drawn, table.end());
  const ViewActions actions = find_view("sampling")->commands.front().act(shown.context(), 0);
  ASSERT_EQ(actions.size(), 1U);
  const auto& append = std::get<AppendToken>(actions.front());
  EXPECT_EQ(std::to_string(append.id), (*drawn)[1]);
  EXPECT_NEAR(append.probability, number((*drawn)[5]), 1e-7) << "at temperature 1 both are the same";
}

TEST(Sampling, ADrawnTokenBeyondTheRowsHasItsOwn) {
  const Scenario s(kRobot);
  for (int seed = 0; seed < 24; ++seed) {
    const ViewFixture shown("sampling", s, 1000, 1500, {{"seed", std::to_string(seed)}});
    const auto table = text_rows(shown.table());
    const auto drawn = std::ranges::find_if(table, [](const auto& row) { return row.at(9) == "yes"; });
    const auto rows = std::ssize(ids_of_role(shown.picture(), kRowRole));
    EXPECT_EQ(rows, drawn - table.begin() < 30 ? 30 : 31) << "seed " << seed;
  }
}

TEST(Sampling, AClickOnARowOrAPartGoesOnWithIt) {
  const ViewFixture shown("sampling", Scenario(kRobot), 1000, 700, {{"top-k", "5"}});
  const auto table = text_rows(shown.table());
  std::array<int, 2> count{};
  for (std::size_t i = 0; i < shown.picture().regions.size(); ++i) {
    const viz::Region& region = shown.picture().regions[i];
    const ViewActions actions = shown.click(static_cast<int>(i));
    ASSERT_EQ(actions.size(), 1U);
    const int id = std::get<AppendToken>(actions.front()).id;
    EXPECT_EQ(id, region.role == kRowRole ? std::stoi(table.at(region.id)[1]) : region.id);
    ++count.at(region.role);
  }
  EXPECT_THAT(count, ::testing::Each(::testing::Ge(5)));
  const int seen = count[kRowRole] - 1;
  EXPECT_THAT(texts(shown.picture().scene), Contains(viz::fixed_number(1 - number(table[seen][6]), 4)));
}

int places_of(const Scenario& s) {
  return 2 * s.config().n_layer + 1;
}

TEST(Lens, TheTableIsTheAnswerAtEveryPlace) {
  const Scenario s(kRobot);
  const auto lens = s.ask(LensOf{0});
  const int places = places_of(s), n = s.length();
  for (const bool of_query : {false, true}) {
    const Table table = table_of("lens", s, {{"lens-at", of_query ? "query" : "all"}});
    ASSERT_EQ(std::ssize(text_rows(table)), places * (of_query ? 1 : n));
    EXPECT_EQ(table.columns.front().used_as(), of_query ? Column::Use::note : Column::Use::key);
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const int position = static_cast<int>(row) / places + (of_query ? n - 1 : 0),
                place = static_cast<int>(row) % places;
      SCOPED_TRACE(std::to_string(position) + " at " + texts_of(table, "hook")[row]);
      const model::LensReading& reading = lens->at(position, place);
      const auto number = [&](const char* column) { return numbers_of(table, column)[row]; };
      EXPECT_EQ(number("position"), position);
      EXPECT_EQ(number("answer id"), lens->answer(position));
      EXPECT_EQ(number("probability"), reading.guesses.next_probability);
      EXPECT_EQ(number("rank"), reading.guesses.next_rank + 1);
      EXPECT_EQ(number("KL"), bits(reading.divergence));
      EXPECT_EQ(number("guess 3 id"), reading.guesses.top[2].id);
      EXPECT_EQ(static_cast<float>(number("guess 3 logit")), reading.guesses.top[2].logit);
    }
  }
}

TEST(Lens, EachCellHasTheColourOfItsNumber) {
  const Scenario s(kRobot);
  for (const auto& [coloring, column] :
       {std::pair("probability", "guess 1 probability"), {"rank", "rank"}, {"kl", "KL"}}) {
    for (const bool mid : {true, false}) {
      SCOPED_TRACE(std::string(coloring) + (mid ? "" : ", between blocks"));
      ViewContext c = s.context(1300, 700);
      c.device_scale = 8;
      const ViewFixture shown("lens", c, {{"lens-color", coloring}, {"lens-mid", mid ? "yes" : "no"}});
      const auto values = numbers_of(shown.table(), column);
      DrawnPage page = shown.page();
      const DrawnScale scale(
          page, lying_bars(shown.scene()).at(0),
          column == std::string("rank") ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      const viz::Region& grid = shown.region(0);
      ASSERT_EQ(grid.row_count, mid ? places_of(s) : s.config().n_layer + 1);
      for (int row = 0; row < grid.row_count; ++row)
        for (int col = 0; col < s.length(); ++col) {
          const int at = (col + 1) * places_of(s) - 1 - (mid ? row : 2 * row);  // the end is on top
          EXPECT_TRUE(reads(scale, shown.color_of(0, row, col), values[at], 0.03)) << row << " " << col;
        }
    }
  }
}

}  // namespace
}  // namespace headscope::app::predictions_test
