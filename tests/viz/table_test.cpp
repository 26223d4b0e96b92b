#include "viz/charts/table.h"

#include "tests/support/matchers.h"
#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"
#include "tests/viz/tables.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/heatmap.h"
#include "viz/charts/number_axis.h"

namespace headscope::viz::table_test {
namespace {

using namespace testing;
std::vector<int> columns_shown(const TableLayout& layout) {
  std::vector<int> columns;
  for (const TableLayout::Place& place : layout.places) columns.push_back(place.column);
  return columns;
}

TEST(Table, AnAxisEndsAtTheNumberThatIsWritten) {
  const Data data;
  Table table = table_of(data);
  const auto ends = [&](double low, double high) {
    table.columns[kScore].low = low, table.columns[kScore].high = high;
    return texts(paint(table, 900, 400).picture.scene);
  };
  EXPECT_THAT(ends(-20, 20), Contains("20"));
  EXPECT_THAT(ends(-1.191, 1.077), ::testing::AllOf(Contains("1.1"), Contains("−1.2")));
  EXPECT_THAT(ends(-0.2, 0.2), Contains("0.2"));
}

TEST(Table, TheNumbersOfAnAxisStandAtTheirLinesAndItsHeadingAfterThem) {
  const Data data;
  Table table = table_of(data);
  table.columns[kScore].heading = "percentage points";
  table.columns[kScore].low = -50, table.columns[kScore].high = 50;
  for (const float width : {300.F, 400.F, 600.F, 900.F}) {
    SCOPED_TRACE(width);
    const auto [layout, picture] = paint(table, width, 400);
    std::map<std::string, Rect> at;
    for (const TextBox& box : text_boxes(picture.scene, *fonts()))
      if (box.bounds.y < layout.rows_top) at.emplace(box.text, box.bounds);
    std::vector<float> lines;  // upright: at zero and at the limit
    for (const Segments& line : items_of<Segments>(picture.scene))
      if (line.points[0].x == line.points[1].x && line.points[0].y > layout.rows_top)
        lines.push_back(line.points[0].x);
    ASSERT_FALSE(lines.empty());
    const auto [zero, limit] = std::ranges::minmax(lines);
    ASSERT_TRUE(at.contains("50"));
    EXPECT_NEAR(at["50"].center().x, limit, 2);
    EXPECT_LT(at["50"].right(), at["percentage points"].x);
    ASSERT_TRUE(at.contains("0"));
    EXPECT_NEAR(at["0"].center().x, zero, 2);
  }
}

TEST(Table, BarsHaveTheAxisOfTheRowsThatAreShownWhereNothingScrolls) {
  const Data data;
  Table table = table_of(data);
  TableColumn& score = table.columns[kScore];
  score.low = score.high = 0;
  score.numbers.assign(kRows, 1);
  score.numbers.back() = 100;
  const auto axis_end = [&](bool scrolls, int rows) {
    table.note_below = !scrolls, table.max_rows = rows;
    return paint(table, 900, 900).layout.place_of(kScore)->high;
  };
  EXPECT_EQ(axis_end(false, 0), 100);
  EXPECT_EQ(axis_end(false, 5), 1) << "the largest number is not shown";
  EXPECT_EQ(axis_end(true, 5), 100) << "bars keep their length while the table scrolls";
}

TEST(TableColumns, WhatMattersLeastGivesWay) {
  const Data data;
  const Table table = table_of(data);
  const std::vector<int> by_importance{kWord, kScore, kIndex, kVector, kProduct};
  std::set<std::size_t> seen;
  std::size_t before = 0;
  for (float width = 20; width < 1000; width += 3) {
    const std::vector<int> shown = columns_shown(lay_out_table(table, {0, 0, width, 600}, style_of()));
    const std::set<int> expected(by_importance.begin(), by_importance.begin() + std::ssize(shown));
    EXPECT_EQ(std::set<int>(shown.begin(), shown.end()), expected) << width;
    EXPECT_GE(shown.size(), before) << "more room shows no less";
    before = shown.size();
    seen.insert(before);
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5)) << "words are cut before they go";
}

TEST(TableRows, AreSortedStably) {
  Table table = table_of(Data(6));
  EXPECT_THAT(table_rows(table), ElementsAre(0, 1, 2, 3, 4, 5));
  table.order = {2, 5, 2, std::numeric_limits<float>::quiet_NaN(), 5, -1};
  EXPECT_THAT(table_rows(table), ElementsAre(5, 0, 2, 1, 4, 3)) << "equal ones as given, NaN last";
}

TEST(TableRows, ShowFromTheFirstOnAsFarAsThereIsRoom) {
  const Data data;
  Table table = table_of(data);
  const float h = table_row_height(style_of()), all = table_height(table, style_of());
  const auto laid_out = [&](int first, float height) {
    table.first = first;
    return lay_out_table(table, {0, 0, 900, height}, style_of());
  };
  const TableLayout whole = laid_out(9, all);
  EXPECT_EQ(whole.rows.size(), 23U);
  EXPECT_EQ(whole.rows.front(), 0) << "nothing to scroll";
  EXPECT_EQ(whole.note, "");
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(laid_out(0, all - 1).rows.size(), 22U);
  EXPECT_FALSE(laid_out(0, all - 1).whole);

  const float eight = all - 15 * h;
  EXPECT_EQ(laid_out(5, eight).rows.front(), 5);
  EXPECT_EQ(laid_out(5, eight).rows.size(), 8U);
  EXPECT_EQ(laid_out(5, eight).note, "rows 5 to 12 of 23");
  EXPECT_EQ(laid_out(-3, eight).rows.front(), 0);
  EXPECT_EQ(laid_out(100000, eight).rows.back(), 22);
  EXPECT_EQ(laid_out(100000, eight).rows.size(), 8U);

  for (int row = 0; row < kRows; ++row) table.order.push_back(static_cast<float>(-row));
  table.row_names = "last rows";
  table.first_number = 1;
  EXPECT_EQ(laid_out(5, eight).rows.front(), 17) << "a place in the order, not an index";
  EXPECT_EQ(laid_out(5, eight).note, "last rows 6 to 13 of 23");
}

TEST(Table, NumbersAreWrittenAsTheirColumnSays) {
  EXPECT_EQ(decimals_for(0.5), 3);
  EXPECT_EQ(decimals_for(10), 2);
  EXPECT_EQ(decimals_for(999), 1);
  EXPECT_EQ(decimals_for(1000), 0);
  EXPECT_EQ(fixed_number(-1.25, 4), "−1.2500");
  EXPECT_EQ(fixed_number(-1e-9, 3), "0.000");
  EXPECT_EQ(fixed_number(-INFINITY, 3), "−∞");
  Data data(5);
  data.scores = {0.00002F, 0, 0.25F, 1, NAN};
  Table table = table_of(data);
  table.columns[kScore].decimals = 4;
  table.columns[kScore].scientific_below = 0.001;
  const auto written = texts(paint(table, 1200, 900).picture.scene);
  EXPECT_THAT(written, ::testing::IsSupersetOf({"2.0e−5", "0.0000", "0.2500", "1.0000", "NaN"}));
  data.scores = {2e9F, 1, 2, 3, 4};
  EXPECT_THAT(texts(paint(table_of(data), 1200, 900).picture.scene), Contains(number(2e9, 3)))
      << "never cut short";
}

TEST(Table, BarsAreAsLongAsTheAxisSays) {
  const Data data;
  const PaintedTable p = paint(table_of(data), 1200, 900);
  const TableLayout::Place place = *p.layout.place_of(kScore);
  float end = -1;
  for (const Segments& line : items_of<Segments>(p.picture.scene)) {
    const bool upright = line.points.size() == 2 && line.points[0].x == line.points[1].x;
    if (upright && line.color == kLight.line && line.points[0].x > place.x) end = line.points[0].x;
  }
  const float zero = (place.x + end) / 2, per_one = (end - place.x) / 40;
  std::vector<FillRect> bars = items_of<FillRect>(p.picture.scene);
  std::erase_if(bars, [](const FillRect& bar) { return bar.color != kLight.bar; });
  ASSERT_EQ(bars.size(), data.scores.size());
  for (std::size_t row = 0; row < bars.size(); ++row) {
    const float tip = data.scores[row] < 0 ? bars[row].rect.x : bars[row].rect.right();
    EXPECT_NEAR(tip, zero + data.scores[row] * per_one, 1) << row;
  }
  EXPECT_THAT(texts(p.picture.scene), ::testing::IsSupersetOf({"20", "−20"}));
}

TEST(Table, ARowsStripIsItsVectorTimesItsFactor) {
  const Data data;
  const PaintedTable p = paint(table_of(data), 1200, 900);
  for (const Region& region : p.picture.regions) {
    if (region.role != kVectorRole || region.id >= kRows) continue;
    const int row = region.id;
    std::vector<float> expected = data.vectors[row];
    const auto column = static_cast<int>(region.first_row);
    if (column == kProduct)
      for (float& v : expected) v *= data.scores[row];
    Picture alone;
    const ColorScale scale = diverging_scale(column == kVector ? 1 : 12);
    paint_vector_strip(alone, {expected, scale, 0, 0, 0}, region.rect, style_of());
    EXPECT_THAT(items_of<Image>(p.picture.scene), Contains(items_of<Image>(alone.scene).at(0)))
        << "row " << row << " column " << column;
  }
}

TEST(Table, IsWholeWhereNothingIsLeftOutOrCut) {
  Data data;
  for (std::string& word : data.words) word = "·whole";
  const Table table = table_of(data);
  const float height = table_height(table, style_of());
  EXPECT_TRUE(paint(table, 1200, height).picture.whole);
  EXPECT_FALSE(paint(table, 1200, height - 1).picture.whole) << "a row less";
  EXPECT_FALSE(paint(table, 300, height).picture.whole) << "columns gave way";
  data.words[4] = std::string(300, 'x');
  EXPECT_FALSE(paint(table_of(data), 1200, height).picture.whole) << "a word is cut";
  EXPECT_FALSE(paint(table, 5, 5).picture.whole);
}

TEST(Tables, WordsAreReadableOnEveryShade) {
  constexpr int kShades = 40;
  std::vector<std::string> words;
  for (int i = 0; i < kShades; ++i) words.push_back("word " + std::to_string(i));
  for (const Theme* theme : {&kLight, &kDark}) {
    Table table;
    table.rows = kShades;
    TableColumn& column = table.columns.emplace_back();
    column.color = theme->text;
    column.texts = words;
    for (int i = 0; i < kShades; ++i)
      column.grounds.push_back(theme->bar.with_alpha(static_cast<std::uint8_t>(255 * i / (kShades - 1))));
    for (const auto& run : items_of<GlyphRun>(paint(table, 300, 1200, style_of(*theme)).picture.scene)) {
      if (!run.text.starts_with("word ")) continue;
      const Color ground = column.grounds[std::stoul(run.text.substr(5))];
      EXPECT_GE(contrast(run.color, blended(theme->surface, ground)), 4.5) << run.text;
    }
  }
}

}  // namespace
}  // namespace headscope::viz::table_test
