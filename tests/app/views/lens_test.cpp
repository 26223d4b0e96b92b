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

/// The reference's stream at a place, in the order of the pass.
const std::vector<double>& stream_at(const Scenario& s, int place, int position) {
  const auto& blocks = reference(s).blocks;
  const auto layer = static_cast<std::size_t>(place / 2), at = static_cast<std::size_t>(position);
  if (layer == blocks.size()) return blocks.back().resid_post[at];
  return place % 2 == 0 ? blocks[layer].resid_pre[at] : blocks[layer].resid_mid[at];
}

/// softmax(ln_f(x) · wte): the textbook definition.
std::vector<double> lens_of(const Scenario& s, const std::vector<double>& x) {
  const auto& gain = reference_model().parameter("ln_f.weight");
  const auto& bias = reference_model().parameter("ln_f.bias");
  const auto& wte = reference_model().parameter("wte.weight");
  const auto d = static_cast<double>(x.size());
  double mean = 0, variance = 0, sum = 0;
  for (const double v : x) mean += v / d;
  for (const double v : x) variance += (v - mean) * (v - mean) / d;
  std::vector<double> p(s.config().vocab_size);
  for (std::size_t id = 0; id < p.size(); ++id) {
    for (std::size_t i = 0; i < x.size(); ++i)
      p[id] += ((x[i] - mean) / std::sqrt(variance + s.config().layer_norm_epsilon) * gain[i] + bias[i]) *
               wte[id * x.size() + i];
  }
  const double most = *std::ranges::max_element(p);
  for (double& v : p) sum += v = std::exp(v - most);
  for (double& v : p) v /= sum;
  return p;
}

TEST(Lens, TheTableIsTheReferencesAtEveryPlace) {
  const Scenario s(kRobot);
  const Table table = ViewFixture("lens", s, 900, 600).table();
  const int places = places_of(s), n = s.length();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(n * places));
  ASSERT_EQ(table.header.size(), 23U);
  for (const int position : {0, n / 2, n - 1}) {
    const std::vector<double> end = lens_of(s, stream_at(s, places - 1, position));
    const auto answer = std::ranges::max_element(end) - end.begin();
    for (int place = 0; place < places; ++place) {
      const auto& row = table.rows[position * places + place];
      SCOPED_TRACE(row[0] + " " + row[1] + " at " + row[2]);
      const std::vector<double> here = lens_of(s, stream_at(s, place, position));
      std::vector<double> sorted = here;
      std::ranges::sort(sorted, std::greater<>());
      for (std::size_t g = 0; g < 5; ++g) {
        const double p = here[std::stoul(row[3 + 3 * g])];
        EXPECT_NEAR(p, sorted[g], 1e-4 * sorted[g]) << "guess " << g;
        EXPECT_NEAR(std::stod(row[5 + 3 * g]), p, 1e-3 * p);
      }
      EXPECT_EQ(std::stol(row[18]), answer);
      const double p = here[answer];
      EXPECT_NEAR(std::stod(row[20]), p, 1e-3 * p + 1e-12);
      const auto above = [&](double factor) {
        return std::ranges::count_if(here, [&](double other) { return other > factor * p; });
      };
      EXPECT_GE(std::stol(row[21]), above(1.001) + 1);
      EXPECT_LE(std::stol(row[21]), above(0.999) + 1);
      double divergence = 0;
      for (std::size_t id = 0; id < end.size(); ++id) divergence += end[id] * std::log2(end[id] / here[id]);
      EXPECT_NEAR(std::stod(row[22]), divergence, 1e-3 * divergence + 1e-5);
    }
  }
  EXPECT_EQ(table.rows[0][2], "0 pre");
  EXPECT_EQ(table.rows[1][2], "0 mid");
  EXPECT_EQ(table.rows[places - 1][2], std::to_string(s.config().n_layer - 1) + " post");
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

TEST(Lens, TheMouseTellsAllOfACell) {
  const Scenario s(kRobot);
  const ViewFixture shown("lens", s, 1300, 700);
  const Table table = shown.table();
  const int last = places_of(s) - 1;
  for (const int row : {0, 1, 6, last}) {
    const auto& numbers = row_of_cell(s, table, row, 3);
    const auto lines = shown.tooltip(0, row, 3);
    ASSERT_EQ(lines.size(), 9U);
    EXPECT_THAT(lines[0], HasSubstr("3 “" + numbers[1] + "”"));
    EXPECT_THAT(lines[1], HasSubstr(numbers[2]));
    for (std::size_t g = 0; g < 5; ++g) {
      EXPECT_THAT(lines[2 + g], HasSubstr("“" + numbers[4 + 3 * g] + "”"));
      EXPECT_THAT(lines[2 + g], HasSubstr(percent(std::stod(numbers[5 + 3 * g]))));
    }
    EXPECT_THAT(lines[7], HasSubstr("“" + numbers[19] + "” " + percent(std::stod(numbers[20]))));
    EXPECT_THAT(lines[7], HasSubstr("rank " + with_commas(std::stoul(numbers[21])) + " of"));
    EXPECT_TRUE(
        agree(viz::testing::number_after(lines[8], "here) "), numbers[22], std::stod(numbers[22]), 0));
  }
  EXPECT_THAT(shown.tooltip(0, 0, 3), Contains(HasSubstr("rank 1 of")));
  EXPECT_THAT(shown.tooltip(0, last, 3), Contains(HasSubstr("embedding")));
  EXPECT_THAT(shown.tooltip(0, last - 1, 3), Contains(HasSubstr("between attention and MLP")));
}

TEST(Lens, AClickChoosesThePositionAndTheMenuCopies) {
  const Scenario s(kRobot);
  const ViewFixture shown("lens", s, 1300, 700);
  EXPECT_EQ(in_words(shown.click(0, 2, 4)), "query 4");
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  const Table table = shown.table();
  const auto& numbers = row_of_cell(s, table, 2, 4);
  EXPECT_EQ(in_words(shown.choose("Copy KL " + numbers[22], 0, 2, 4)), "copy " + numbers[22]);
  EXPECT_EQ(in_words(shown.choose("Copy probability " + numbers[5], 0, 2, 4)), "copy " + numbers[5]);
  EXPECT_EQ(in_words(shown.choose("Copy the final answer's rank " + numbers[21], 0, 2, 4)),
            "copy " + numbers[21]);
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

TEST(Lens, ShowsWhatIsComputedSoFar) {
  const Scenario& s = scenario(40);
  LogitLens part = *s.ask(LensOf{0});
  part.readings.resize(16 * static_cast<std::size_t>(part.places));
  OneAnswer some(LensOf{0}, part, false);
  const ViewFixture shown("lens", s.context(900, 600, some), {{"first-column", "8"}});
  const auto columns = static_cast<std::size_t>(shown.region(0).cols);
  EXPECT_THAT(texts(shown.scene()),
              Contains(HasSubstr("computing… 8 of " + std::to_string(columns) + " positions")));
  EXPECT_EQ(painted(shown.picture()), "########" + std::string(columns - 8, '.'));
  EXPECT_THAT(shown.tooltip(0, 2, 20), Contains("computing…"));
  EXPECT_EQ(shown.table().rows.size(), part.readings.size());
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

TEST(Lens, TheScaleOfTheDivergenceIsOfWhatShows) {
  const NamedOptions from_30{{"lens-color", "kl"}, {"first-column", "30"}};
  const ViewFixture part("lens", scenario(100), 900, 600, from_30);
  const viz::Region& grid = part.region(0);
  const Table table = part.table();
  std::vector<double> shown;
  for (const auto& row : table.rows) {
    const double position = std::stod(row[0]);
    if (position >= grid.first_col && position < grid.first_col + grid.cols)
      shown.push_back(std::stod(row[22]));
  }
  std::ranges::sort(shown);
  DrawnPage page = part.page();
  const std::vector<viz::Image> bars = lying_bars(part.scene());
  ASSERT_EQ(bars.size(), 1U);
  const DrawnScale scale(page, bars[0]);
  const double expected = shown[shown.size() * 9 / 10];
  EXPECT_NEAR(scale.high(), expected, 0.1 * expected);
}

}  // namespace
}  // namespace headscope::app::lens_test
