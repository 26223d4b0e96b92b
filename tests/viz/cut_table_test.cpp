// Tables in figures, which cannot scroll: which rows they have.

#include "tests/support/matchers.h"
#include "tests/viz/tables.h"

namespace headscope::viz::cut_table_test {
namespace {

using namespace testing;

/// A table that cannot scroll, in which only some of the rows fit.
Table cut_table(const Data& data) {
  Table table = table_of(data);
  table.note_below = table.selects = true;
  return table;
}

TEST(CutTable, HasTheStrongestRowsInTheirOrderAndALineThatCountsThem) {
  const Data data;
  Table table = cut_table(data);
  table.strengths = data.scores;
  const auto [layout, picture] = paint(table, 900, 320);
  const std::vector<int>& rows = layout.rows;
  ASSERT_GT(rows.size(), 3U);
  ASSERT_LT(rows.size(), 15U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  float weakest_shown = 1e9F, strongest_left_out = 0;
  for (int row = 0; row < kRows; ++row) {
    const float magnitude = std::abs(data.scores[row]);
    if (std::ranges::count(rows, row) > 0)
      weakest_shown = std::min(weakest_shown, magnitude);
    else
      strongest_left_out = std::max(strongest_left_out, magnitude);
  }
  EXPECT_GE(weakest_shown, strongest_left_out);
  const std::string note = "the top " + std::to_string(rows.size()) + " of 23 rows";
  EXPECT_EQ(layout.note, note);
  EXPECT_THAT(texts(picture.scene), Contains(note));
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  EXPECT_FALSE(picture.whole);
}

TEST(CutTable, AlwaysHasTheMarkedRow) {
  const Data data;
  for (const bool ranked : {false, true}) {
    for (int marked = 0; marked < kRows; ++marked) {
      Table table = cut_table(data);
      if (ranked) table.strengths = data.scores;
      table.marked = marked;
      const std::vector<int> rows = paint(table, 900, 320).layout.rows;
      EXPECT_EQ(std::ranges::count(rows, marked), 1) << marked;
    }
  }
}

TEST(CutTable, WithAMaximumNumberOfRowsIsWholeAndAsHighAsItSays) {
  const Data data;
  Table table = cut_table(data);
  table.columns[kWord].texts = {};
  table.columns[kWord].kind = Kind::number;
  table.columns[kWord].numbers = data.scores;
  table.strengths = data.scores;
  table.max_rows = 5;
  const float height = table_height(table, style_of());
  EXPECT_EQ(paint(table, 1600, height + 1).layout.rows.size(), 5U);
  EXPECT_EQ(paint(table, 1600, height - 2).layout.rows.size(), 4U);
  EXPECT_EQ(paint(table, 1600, 2000).layout.rows.size(), 5U);
  EXPECT_TRUE(paint(table, 1600, height + 1).layout.whole);
  table.max_rows = 99;
  EXPECT_EQ(paint(table, 1600, 2000).layout.rows.size(), 23U);
  EXPECT_EQ(paint(table, 1600, 2000).layout.note, "");
}

}  // namespace
}  // namespace headscope::viz::cut_table_test
