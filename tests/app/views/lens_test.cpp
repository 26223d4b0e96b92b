// The logit lens: the table compared with the definition in double precision, the picture with the table.

#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::lens_test {
namespace {

int places_of(const Scenario& s) {
  return 2 * s.config().n_layer + 1;
}

TEST(Lens, TheTableIsTheAnswerAtEveryPlace) {
  const Scenario s(kRobot);
  const auto lens = s.ask(LensOf{0});
  const int places = places_of(s), n = s.length();
  for (const bool of_query : {false, true}) {
    const Table table = ViewFixture("lens", s, 900, 600, {{"lens-at", of_query ? "query" : "all"}}).table();
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

TEST(Lens, EachCellHasItsBestGuessAndColour) {
  const Scenario s(kRobot);
  constexpr std::array kColumns{"guess 1 probability", "rank", "KL"};
  const std::array kNames{"probability", "rank", "kl"};
  for (std::size_t coloring = 0; coloring < 3; ++coloring) {
    for (const bool mid : {true, false}) {
      SCOPED_TRACE(std::string(kNames[coloring]) + (mid ? "" : ", between blocks"));
      const ViewFixture shown("lens", s, 1300, 700,
                              {{"lens-color", kNames[coloring]}, {"lens-mid", mid ? "yes" : "no"}},
                              mid ? light() : dark(), 8);
      const Table table = shown.table();
      const auto guesses = texts_of(table, "guess 1 token");
      const auto values = numbers_of(table, kColumns[coloring]);
      DrawnPage page = shown.page();
      const std::vector<viz::Image> bars = lying_bars(shown.scene());
      ASSERT_EQ(bars.size(), 1U);
      const DrawnScale scale(page, bars[0],
                             coloring == 1 ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      const viz::Region& grid = shown.region(0);
      ASSERT_EQ(grid.row_count, mid ? places_of(s) : s.config().n_layer + 1);
      ASSERT_EQ(grid.cols, s.length());
      for (int row = 0; row < grid.row_count; ++row) {
        for (int col = 0; col < s.length(); ++col) {
          SCOPED_TRACE(std::to_string(row) + " " + std::to_string(col));
          const int at = (col + 1) * places_of(s) - 1 - (mid ? row : 2 * row);  // the end is on top
          const auto drawn = page.take(grid.cell_rect(row, col));
          ASSERT_EQ(drawn.size(), 1U);
          const std::string whole = drawn[0].text;
          if (whole.ends_with("…")) {
            EXPECT_TRUE(guesses[at].starts_with(whole.substr(0, whole.size() - 3)));
          } else {
            EXPECT_EQ(whole, guesses[at]);
          }
          EXPECT_TRUE(reads(scale, shown.color_of(0, row, col), values[at], 0.03));
        }
      }
    }
  }
}

TEST(Lens, ShowsBlocksWhereverTheyAre) {
  const Scenario& s = scenario(100);
  OneAnswer third(LensOf{2}, *s.ask(LensOf{2}));
  const ViewFixture shown("lens", s.context(1300, 600, third), {{"lens-guesses", "no"}});
  for (const int position : {0, 63, 64, 95, 96, 99}) {
    const bool is_known = position >= 64 && position < 96;
    EXPECT_EQ(std::ranges::count(shown.tooltip(0, 2, position), "computing…"), is_known ? 0 : 1) << position;
  }
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("computing… 32 of 100 positions")));
  // The colours are the same as when everything is known: the scale does not depend on single cells.
  const ViewFixture all("lens", s, 1300, 600, {{"lens-guesses", "no"}});
  EXPECT_EQ(shown.color_of(0, 2, 70), all.color_of(0, 2, 70));
}

}  // namespace
}  // namespace headscope::app::lens_test
