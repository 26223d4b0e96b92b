// The four stages: numbers and colours read from the picture, compared with the table and the reference.

#include "tests/app/view_fixture.h"

namespace headscope::app::scores_test {
namespace {

/// A stage's value in the reference; `masked` is −inf for keys after the query.
double reference_stage(const Scenario& s, int stage, int query, int key) {
  const auto& head = reference_head(s);
  const auto q = static_cast<std::size_t>(query), k = static_cast<std::size_t>(key);
  if (stage == 2 && key > query) return -std::numeric_limits<double>::infinity();
  return (stage == 0 ? head.scores : stage == 3 ? head.weights : head.scaled)[q][k];
}

/// The table's cell for a stage, a query and a key.
std::string cell_of(const Table& table, const Scenario& s, int stage, int query, int key) {
  const auto row = static_cast<std::size_t>(query * s.length() + key);
  return number_text(numbers_of(table, headings(table).at(static_cast<std::size_t>(stage) + 4)).at(row));
}

bool is_masked(int stage, int query, int key) {
  return stage >= 2 && key > query;
}

constexpr double kTolerance = 5e-5;  // between scores in float32 and double

enum Role { kCell, kRow };

/// The scale above a stage's map.
DrawnScale scale_of(DrawnPage& page, const ViewFixture& shown, int stage) {
  return {page, lying_bars(shown.scene()).at(static_cast<std::size_t>(stage))};
}

TEST(Scores, NumbersInTheCellsAreThoseOfTheTableAndTheReference) {
  const Scenario s("The king and his");
  const ViewFixture shown("scores", s, 1400, 1300);
  const Table table = shown.table();
  DrawnPage page = shown.page();
  for (int stage = 0; stage < 4; ++stage) {
    const viz::Region& grid = shown.region(shown.grid(stage));
    for (int query = 0; query < s.length(); ++query) {
      for (int key = 0; key < s.length(); ++key) {
        SCOPED_TRACE("stage " + std::to_string(stage) + ", query " + std::to_string(query) + ", key " +
                     std::to_string(key));
        const auto drawn = page.take(grid.cell_rect(query, key));
        const double expected = reference_stage(s, stage, query, key);
        const std::string cell = cell_of(table, s, stage, query, key);
        ASSERT_EQ(drawn.size(), is_masked(stage, query, key) ? 0U : 1U);
        EXPECT_TRUE(drawn.empty() ? agree(DrawnNumber{expected, 0}, cell, expected, 0)
                                  : agree(drawn[0].text, cell, expected, kTolerance));
      }
    }
    EXPECT_GE(scale_of(page, shown, stage).marks().size(), 2U);
  }
  for (const int row : shown.all_of(kRow)) page.take(shown.region(row).rect);
  EXPECT_EQ(page.numbers_left(), "");
}

TEST(Scores, TheListHasTheNumbersOfTheQuerysKeysTheStrongestFirst) {
  const Scenario s(scenario(23).run->prompt, {0, 0, 20, 3});
  const ViewFixture shown("scores", s, 1280, 900);
  DrawnPage page = shown.page();
  const std::vector<int> rows = shown.all_of(kRow);
  ASSERT_GE(rows.size(), 4U);
  double last = 1;
  for (const int row : rows) {
    const auto drawn = page.take(shown.region(row).rect);
    ASSERT_EQ(drawn.size(), 5U);
    const int key = std::stoi(drawn[0].text);
    EXPECT_EQ(in_words(shown.click(row)), "query 20, key " + std::to_string(key == 3 ? -1 : key));
    for (int stage = 0; stage < 4; ++stage)
      EXPECT_TRUE(agree(drawn[static_cast<std::size_t>(stage) + 1].text,
                        cell_of(shown.table(), s, stage, 20, key), reference_stage(s, stage, 20, key),
                        kTolerance));
    EXPECT_LE(reference_stage(s, 3, 20, key), last + kTolerance);
    last = reference_stage(s, 3, 20, key);
  }
}

TEST(Scores, AScoreThatIsSetIsOnTheScaleOfItsStage) {
  Prompt prompt{kRobot, {}, false};
  prompt.edits = {model::SetCells{{model::Site::attn_scores, 2}, 1, {{3, 1, 90}}, false}};
  const ViewFixture shown("scores", Scenario(prompt, {2, 1, -1}), 1400, 1300);
  DrawnPage page = shown.page();
  const int grid = shown.grid(2);
  const DrawnScale scale = scale_of(page, shown, 2);
  EXPECT_GE(scale.high(), 89);
  EXPECT_TRUE(reads(scale, shown.color_of(grid, 3, 1), 90));
}

TEST(Scores, WhoLooksUpAColourInTheLegendReadsTheScore) {
  const Scenario& s = scenario(23);
  for (const viz::Theme* theme : {&light(), &dark()}) {
    for (int stage = 0; stage < 4; ++stage) {
      const ViewFixture shown("scores", s, 900, 800, {{"score-stage", std::to_string(stage + 1)}}, *theme);
      const int grid = shown.grid(stage);
      const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      DrawnPage page = shown.page();
      const DrawnScale scale(page, *bar);
      for (int query = 0; query < s.length(); ++query) {
        for (int key = 0; key < s.length(); ++key) {
          SCOPED_TRACE("stage " + std::to_string(stage) + ", query " + std::to_string(query) + ", key " +
                       std::to_string(key));
          const auto color = shown.color_of(grid, query, key);
          if (is_masked(stage, query, key)) {
            EXPECT_FALSE(color);
          } else {
            EXPECT_TRUE(reads(scale, color, reference_stage(s, stage, query, key)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::scores_test
