// The logit lens: the table compared with the definition in double precision, the picture with the table.

#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/next_token.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::lens_test {
namespace {

int places_of(const Scenario& s) {
  return 2 * s.config().n_layer + 1;
}

TEST(Lens, TheTableIsTheAnswerAtEveryPlace) {
  const Scenario s(kRobot);
  const Table table = ViewFixture("lens", s, 900, 600).table();
  const auto lens = s.ask(LensOf{0});
  const int places = places_of(s), n = s.length();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(n * places));
  for (int position = 0; position < n; ++position)
    for (int place = 0; place < places; ++place) {
      const auto& row = table.rows[position * places + place];
      SCOPED_TRACE(row[0] + " " + row[1] + " at " + row[2]);
      const auto& guesses = lens->at(position, place).guesses;
      for (std::size_t g = 0; g < 5; ++g) {
        EXPECT_EQ(std::stoi(row[3 + 3 * g]), guesses.top[g].id);
        EXPECT_EQ(row[5 + 3 * g], plain(guesses.top[g].probability));
      }
      EXPECT_EQ(std::stoi(row[18]), lens->answer(position));
      EXPECT_EQ(row[20], plain(guesses.next_probability));
      EXPECT_EQ(std::stoi(row[21]), guesses.next_rank + 1);
    }
}

/// The row of the table for a cell, with the end of the stream on top.
const std::vector<std::string>& row_of_cell(const Scenario& s, const Table& table, int row, int col,
                                            bool mid = true) {
  const int places = places_of(s), place = places - 1 - (mid ? row : 2 * row);
  return table.rows[col * places + place];
}

TEST(Lens, EachCellHasItsBestGuessAndColour) {
  const Scenario s(kRobot);
  constexpr std::array kColumns{5UL, 21UL, 22UL};  // indices in the table
  const std::array kNames{"probability", "rank", "kl"};
  for (std::size_t coloring = 0; coloring < 3; ++coloring) {
    for (const bool mid : {true, false}) {
      SCOPED_TRACE(std::string(kNames[coloring]) + (mid ? "" : ", between blocks"));
      const ViewFixture shown("lens", s, 1300, 700,
                              {{"lens-color", kNames[coloring]}, {"lens-mid", mid ? "yes" : "no"}},
                              mid ? light() : dark(), 8);
      const Table table = shown.table();
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
          const auto& numbers = row_of_cell(s, table, row, col, mid);
          SCOPED_TRACE(numbers[1] + " at " + numbers[2]);
          const auto drawn = page.take(grid.cell_rect(row, col));
          ASSERT_EQ(drawn.size(), 1U);
          const std::string whole = drawn[0].text;
          if (whole.ends_with("…")) {
            EXPECT_TRUE(numbers[4].starts_with(whole.substr(0, whole.size() - 3)));
          } else {
            EXPECT_EQ(whole, numbers[4]);
          }
          EXPECT_TRUE(
              reads(scale, shown.color_of(0, row, col), std::stod(numbers[kColumns[coloring]]), 0.03));
        }
      }
    }
  }
}

TEST(Lens, ScrollsSidewaysSoThatTheQueryIsInSight) {
  const Scenario& s = scenario(100);
  const auto shown_from = [&](const NamedOptions& options) {
    const ViewFixture shown("lens", s, 900, 600, options);
    return shown.region(0);
  };
  const viz::Region end = shown_from({});
  EXPECT_LT(end.cols, 20);
  EXPECT_EQ(end.first_col + end.cols, 100) << "the query is the last one";
  EXPECT_GE(end.rect.w / end.cols, 3.5 * 14) << "cells are wide enough for words";
  EXPECT_EQ(shown_from({{"first-column", "30"}}).first_col, 30);
  const viz::Region all = shown_from({{"lens-guesses", "no"}});
  EXPECT_EQ(all.cols, 100) << "without words all have room";
  const ViewFixture part("lens", s, 900, 600, {{"first-column", "30"}});
  const int last = 29 + static_cast<int>(part.region(0).cols);
  EXPECT_THAT(texts(part.scene()), Contains("positions 30 to " + std::to_string(last) + " of 100"));
  EXPECT_EQ(in_words(part.click(0, 2, 33)), "query 33, first-column 30") << "nothing moves under the mouse";
}

/// Whether each column of the grid is painted, from the first one on.
std::string painted(const Picture& picture) {
  const viz::Region& grid = picture.regions.at(0);
  std::string columns;
  for (int col = static_cast<int>(grid.first_col); col < grid.first_col + grid.cols; ++col)
    columns += image_color_at(picture.scene, grid.cell_rect(2, col).center()) ? '#' : '.';
  return columns;
}

TEST(Lens, ShowsBlocksWhereverTheyAre) {
  const Scenario& s = scenario(100);
  OneAnswer third(LensOf{2}, *s.ask(LensOf{2}));
  const ViewFixture shown("lens", s.context(1300, 600, third), {{"lens-guesses", "no"}});
  EXPECT_EQ(painted(shown.picture()), std::string(64, '.') + std::string(32, '#') + "....");
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("computing… 32 of 100 positions")));
  EXPECT_THAT(shown.tooltip(0, 2, 63), Contains("computing…"));
  EXPECT_THAT(shown.tooltip(0, 2, 64), Not(Contains("computing…")));
  // The colours are the same as when everything is known: the scale does not depend on single cells.
  const ViewFixture all("lens", s, 1300, 600, {{"lens-guesses", "no"}});
  EXPECT_EQ(shown.color_of(0, 2, 70), all.color_of(0, 2, 70));
}

/// Records the questions and answers none.
class RecordingAnswers final : public Answers {
 public:
  std::shared_ptr<const Answer> ask(const Question& question) override {
    if (!contains(questions, question)) questions.push_back(question);
    return nullptr;
  }
  std::vector<Question> questions;
};

TEST(Lens, AsksForWhatShowsTheQueryFirst) {
  Scenario s = Scenario::of_length(200);
  const View& view = *find_view("lens");
  const auto asked = [&](int query, const NamedOptions& options) {
    s.select({0, 0, query, -1});
    ViewContext c = s.context(900, 600);
    for (const auto& [name, value] : options) set(c, name, value);
    RecordingAnswers answers;
    c.answers = &answers;
    static_cast<void>(view.build(c));
    return answers.questions;
  };
  EXPECT_EQ(asked(199, {}), (std::vector<Question>{LensOf{6}, LensOf{5}})) << "about 15 columns show";
  EXPECT_EQ(asked(199, {{"first-column", "40"}}), (std::vector<Question>{LensOf{1}}));
  EXPECT_EQ(
      asked(70, {{"lens-guesses", "no"}}),
      (std::vector<Question>{LensOf{2}, LensOf{1}, LensOf{3}, LensOf{0}, LensOf{4}, LensOf{5}, LensOf{6}}));
}

}  // namespace
}  // namespace headscope::app::lens_test
