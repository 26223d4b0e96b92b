// The predictions at every position: numbers read from the picture, compared with the table and the
// reference.

#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
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

TEST(Predictions, NumbersInTheRowsAreThoseOfTheTableAndTheReference) {
  const Scenario s(kRobot);
  const ViewFixture shown("predictions", s, 1700, 700);
  const Table table = shown.table();
  const auto cell = [&table](const std::string& column, int position) {
    return number_text(numbers_of(table, column).at(static_cast<std::size_t>(position)));
  };
  DrawnPage page = shown.page();
  for (int i = 0; i + 1 < s.length(); ++i) {
    SCOPED_TRACE("position " + std::to_string(i));
    const auto position = static_cast<std::size_t>(i);
    const ExpectedPrediction e = expected(s, i);
    const auto drawn = page.take(shown.region(row_of(shown, i)).rect);
    ASSERT_EQ(drawn.size(), 6 + 2 * 5U) << "six columns, and a token and its probability for each guess";
    EXPECT_EQ(drawn[0].text, std::to_string(i));
    EXPECT_EQ(drawn[1].text, s.run->tokens.labels[position]);
    EXPECT_EQ(drawn[2].text, s.run->tokens.labels[position + 1]);
    EXPECT_EQ(drawn[3].text, std::to_string(e.rank));
    EXPECT_EQ(cell("rank", i), std::to_string(e.rank));
    EXPECT_TRUE(agree(drawn[4].text, cell("probability", i), e.probability, kTolerance));
    EXPECT_TRUE(agree(drawn[5].text, cell("loss", i), e.loss, kTolerance));
    const auto probabilities = reference(s).probabilities(i);
    for (std::size_t g = 0; g < 5; ++g) {
      const std::string guess = "guess " + std::to_string(g + 1) + " ";
      const int id = std::stoi(cell(guess + "id", i));
      EXPECT_EQ(reference(s).rank(i, id), static_cast<int>(g) + 1);
      EXPECT_EQ(drawn[6 + 2 * g].text, texts_of(table, guess + "token")[position]);
      EXPECT_TRUE(
          agree(drawn[7 + 2 * g].text, cell(guess + "probability", i), probabilities[id], kTolerance));
    }
  }
  const auto last = page.take(shown.region(row_of(shown, s.length() - 1)).rect);
  EXPECT_EQ(last.size(), 2 + 2 * 5U) << "nothing follows the last token";
}

TEST(Predictions, ThePerplexityIsTwoToTheMeanLoss) {
  const Scenario s(kRobot);
  double mean = 0;
  for (int i = 0; i + 1 < s.length(); ++i) mean += expected(s, i).loss / (s.length() - 1);
  const ViewFixture shown("predictions", s, 1700, 700);
  const auto title = viz::testing::number_after(shown.page().take_starting("Perplexity "), "Perplexity ");
  ASSERT_TRUE(title);
  EXPECT_NEAR(title->value, std::exp2(mean), title->rounding + 1e-3);
  EXPECT_NEAR(fact_of(shown.table(), "mean loss"), mean, kTolerance);
}

TEST(Predictions, WhoLooksUpAChipInTheLegendReadsItsLoss) {
  const Scenario s(kRobot);
  const ViewFixture shown("predictions", s, 1700, 700, {}, dark(), 8);
  DrawnPage page = shown.page();
  const auto bars = items_of<viz::Image>(shown.scene());
  ASSERT_EQ(bars.size(), 1U);
  const DrawnScale scale(page, bars[0]);
  EXPECT_EQ(scale.low(), 0);
  const auto fill_of = [&](int position) {
    const viz::Rect chip = shown.region(shown.find(kShadedRole, position)).rect;
    for (const auto& fill : items_of<viz::FillRect>(shown.scene()))
      if (fill.rect == chip) return fill.color;
    return viz::Color{};
  };
  EXPECT_EQ(fill_of(0), dark().surface) << "nothing guesses the first";
  for (int i = 1; i < s.length(); ++i)
    EXPECT_TRUE(reads(scale, fill_of(i), expected(s, i - 1).loss)) << "token " << i;
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

}  // namespace
}  // namespace headscope::app::predictions_test
