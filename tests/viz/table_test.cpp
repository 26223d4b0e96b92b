// Tables, and those in figures, which cannot scroll: which rows they have.
#include "viz/charts/table.h"
#include "tests/support/matchers.h"
#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::table_test {
namespace {

using namespace testing;

using Kind = TableColumn::Kind;

constexpr int kRows = 23, kComponents = 16;
constexpr int kRowRole = 4, kVectorRole = 9;
enum Column { kIndex, kWord, kScore, kVector, kProduct };

/// The data that a table refers to.
struct Data {
  std::vector<std::string> words;
  std::vector<std::vector<float>> vectors;
  std::vector<float> scores;
  std::vector<float> sum;

  explicit Data(int rows = kRows) : sum(kComponents, 0.25F) {
    for (int row = 0; row < rows; ++row) {
      words.push_back(row % 7 == 6 ? "·extraordinarily·long·" + std::to_string(row)
                                   : "·w" + std::to_string(row));
      scores.push_back(0.7F * static_cast<float>(row * 5 % 23) - 4);
      std::vector<float>& vector = vectors.emplace_back();
      for (int i = 0; i < kComponents; ++i) vector.push_back(std::sin(static_cast<float>(3 * row + i)));
    }
  }
};

TableColumn column_of(Kind kind, std::string heading, int importance) {
  TableColumn column;
  column.kind = kind;
  column.heading = std::move(heading);
  column.importance = importance;
  column.color = column.heading_color = kLight.text;
  return column;
}

FixedCell cell_of(int column, std::string text = "") {
  FixedCell cell;
  cell.column = column;
  cell.text = std::move(text);
  return cell;
}

/// A table with one column of every kind.
Table table_of(const Data& data) {
  Table table;
  table.rows = static_cast<int>(data.words.size());
  table.columns.resize(kProduct + 1);
  TableColumn& index = table.columns[kIndex] = column_of(Kind::number, "no", 3);
  index.numbers.resize(data.words.size());
  std::iota(index.numbers.begin(), index.numbers.end(), 0.F);
  index.decimals = 0;
  table.columns[kWord] = column_of(Kind::text, "word", 5);
  table.columns[kWord].texts = data.words;
  TableColumn& score = table.columns[kScore] = column_of(Kind::bar, "score", 4);
  score.numbers = data.scores;
  score.low = -20, score.high = 20;
  score.axis = true;
  TableColumn& vector = table.columns[kVector] = column_of(Kind::strip, "vector v", 2);
  vector.vectors.assign(data.vectors.begin(), data.vectors.end());
  vector.scale = diverging_scale(1);
  vector.vector_row = kVector;
  TableColumn& product = table.columns[kProduct] = vector;
  product.heading = "score × v";
  product.importance = 1;
  product.factors = data.scores;
  product.scale = diverging_scale(12);
  product.vector_row = kProduct;
  FixedCell own_word = cell_of(kWord, "·own"), own_vector = cell_of(kVector), sum = cell_of(kProduct);
  own_vector.vector = sum.vector = data.sum;
  own_vector.vector_id = 100;
  own_vector.vector_row = 7;
  own_vector.beside = "its own";
  sum.vector_id = 101;
  sum.beside = "z";
  table.header = {{own_word, own_vector}};
  table.footer = {{cell_of(kWord, "sum"), cell_of(kScore, "12.345"), sum}};
  table.row_names = "rows";
  table.row_role = kRowRole;
  table.vector_role = kVectorRole;
  return table;
}

struct PaintedTable {
  TableLayout layout;
  Picture picture;
};
PaintedTable paint(const Table& table, float width, float height, const Style& s = style_of()) {
  constexpr float kMargin = 16;
  PaintedTable result;
  result.picture.scene = testing::blank(width + 2 * kMargin, height + 2 * kMargin, s.theme.surface);
  result.layout = lay_out_table(table, {kMargin, kMargin, width, height}, s);
  paint_table(result.picture, table, result.layout, s);
  return result;
}

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
  EXPECT_THAT(ends(-1.191, 1.077), ::testing::AllOf(Contains("1.1"), Contains("−1.2")));
  table.columns[kScore].heading = "a long heading", table.columns[kScore].most = 1;  // as narrow as it can be
  EXPECT_THAT(ends(-0.2, 0.2), Contains("0.2"));
}

TEST(Table, ALongTextInAnyRowIsWholeWhereThereIsRoom) {
  constexpr std::size_t kAll = 1000;
  for (const std::size_t at : {0UL, 1UL, 501UL, kAll - 1}) {
    std::vector<std::string> words(kAll, "·a");
    words[at] = "·extraordinarily·long·word";
    Table table;
    table.rows = static_cast<int>(kAll);
    table.columns = {column_of(Kind::text, "word", 1)};
    table.columns[0].texts = words;
    const float width = style_of().width(words[at], style_of().font_size);
    EXPECT_GE(lay_out_table(table, {0, 0, 800, 200}, style_of()).places.at(0).w, width) << at;
  }
}

TEST(Table, BarsOfANarrowColumnKeepTheirLengthUnderALongHeading) {
  const std::vector<std::string> percents{"10 %", "20 %", "30 %"};
  Table table;
  table.rows = 3;
  table.columns = {column_of(Kind::bar, "probability", 1)};
  TableColumn& bars = table.columns[0];
  bars.numbers = {10, 20, 30};
  bars.texts = percents;
  bars.axis = true, bars.least = 1;
  for (const float width : {90.F, 110.F, 150.F, 300.F}) {
    const PaintedTable painted = paint(table, width, 200);
    float longest = 0;
    for (const auto& rect : items_of<FillRect>(painted.picture.scene))
      if (rect.color == kLight.bar) longest = std::max(longest, rect.rect.w);
    EXPECT_GE(longest, width > 100 ? 2.5F * style_of().font_size : 20) << width;
    EXPECT_THAT(texts(painted.picture.scene), Contains("probability")) << width;
    EXPECT_EQ(testing::text_faults(painted.picture.scene, *testing::fonts()), "") << width;
  }
}

TEST(Table, AWordBesideACellDoesNotTouchTheNumberBeforeIt) {
  const Data data;
  Table table = table_of(data);
  table.columns[kVector].hidden = true;
  table.header.clear();
  table.footer = {{cell_of(kScore, "12.345"), table.footer[0].back()}};
  EXPECT_THAT(texts(paint(table, 400, 400).picture.scene), ::testing::Not(Contains("z")));
  table.footer = {{table.footer[0].back()}};
  EXPECT_THAT(texts(paint(table, 400, 400).picture.scene), Contains("z"));
}

TEST(Table, ARowAboveIsLeftOutWithItsStrip) {
  const Data data;
  Table table = table_of(data);
  const PaintedTable whole = paint(table, 900, 400);
  table.columns[kVector].hidden = true;
  const PaintedTable without = paint(table, 900, 400);
  EXPECT_EQ(whole.layout.rows_top - without.layout.rows_top, table_row_height(style_of()));
  EXPECT_THAT(texts(whole.picture.scene), Contains("·own"));
  EXPECT_THAT(texts(without.picture.scene), ::testing::Not(Contains("·own")));
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
  const float least = least_row_height(style_of()), closest = all - kRows * (h - least);
  EXPECT_EQ(laid_out(9, closest).rows.size(), 23U) << "all of them, closer";
  EXPECT_EQ(laid_out(9, closest).row_height, least);
  EXPECT_EQ(laid_out(0, closest - 1).row_height, h) << "those that have room stand as usual";
  const float eight = all - 15 * h;
  EXPECT_EQ(laid_out(5, eight).rows.front(), 5);
  EXPECT_EQ(laid_out(5, eight).rows.size(), 8U);
  EXPECT_EQ(laid_out(5, eight).note, "rows 5 to 12 of 23");
  EXPECT_EQ(laid_out(-3, eight).rows.front(), 0);
  EXPECT_EQ(laid_out(100000, eight).rows.back(), 22);

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

TEST(Table, IsWholeWhereNothingIsLeftOutOrCut) {
  Data data;
  for (std::string& word : data.words) word = "·whole";
  const Table table = table_of(data);
  const float height = table_height(table, style_of());
  EXPECT_TRUE(paint(table, 1200, height).picture.whole);
  EXPECT_FALSE(paint(table, 1200, 0.7F * height).picture.whole) << "fewer rows";
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
  std::vector<int> strongest = table_rows(table);
  std::ranges::sort(strongest, std::greater{}, [&](int row) { return std::abs(data.scores[row]); });
  strongest.resize(rows.size());
  std::ranges::sort(strongest);
  EXPECT_EQ(rows, strongest);
  EXPECT_EQ(layout.note, "the top " + std::to_string(rows.size()) + " of 23 rows");
  EXPECT_THAT(texts(picture.scene), Contains(layout.note));
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  EXPECT_FALSE(picture.whole);
}

TEST(CutTable, PutsItsRowsSideBySideWhereColumnsAreNarrow) {
  const Data data;
  Table table = cut_table(data);
  table.columns.resize(kWord + 1), table.header.clear(), table.footer = {{cell_of(kWord, "sum")}};
  const auto [layout, picture] = paint(table, 1200, 370);
  EXPECT_EQ(layout.note, "") << "all rows fit";
  EXPECT_THAT(texts(picture.scene), Contains("word").Times(2)) << "over each block";
  ASSERT_EQ(picture.regions.size(), 23U);
  for (std::size_t i = 1; i < picture.regions.size(); ++i) {
    const Region &row = picture.regions[i], &before = picture.regions[i - 1];
    EXPECT_EQ(row.id, before.id + 1) << "down, then across";
    EXPECT_TRUE(row.rect.y > before.rect.y ? row.rect.x == before.rect.x : row.rect.x > before.rect.right());
  }
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  EXPECT_NE(paint(table, 200, 300).layout.note, "") << "no room for two";
  table.note_below = false;
  EXPECT_LT(paint(table, 1200, 370).layout.rows.size(), 23U) << "rows that scroll";
}

TEST(CutTable, AlwaysHasTheMarkedRowAndSaysSo) {
  const Data data;
  Table table = cut_table(data);
  for (const bool ranked : {false, true})
    for (table.marked = 0; table.marked < kRows; ++table.marked) {
      if (ranked) table.strengths = data.scores;
      const TableLayout layout = paint(table, 900, 320).layout;
      EXPECT_EQ(std::ranges::count(layout.rows, table.marked), 1) << table.marked;
      const auto is_stronger = [&](float v) { return std::abs(v) > std::abs(data.scores[table.marked]); };
      const bool apart = std::ranges::count_if(data.scores, is_stronger) >= std::ssize(layout.rows);
      EXPECT_TRUE(!ranked || apart == layout.note.ends_with("plus the chosen one")) << layout.note;
    }
}

TEST(CutTable, WithAMaximumNumberOfRowsIsWholeAndAsHighAsItSays) {
  const Data data;
  Table table = cut_table(data);
  table.strengths = data.scores;
  table.max_rows = 5;
  const float height = table_height(table, style_of());
  EXPECT_EQ(paint(table, 1600, height + 1).layout.rows.size(), 5U);
  EXPECT_EQ(paint(table, 900, 0.7F * height).layout.rows.size(), 2U);
  EXPECT_EQ(paint(table, 1600, 2000).layout.rows.size(), 5U);
  EXPECT_TRUE(paint(table, 1600, height + 1).layout.whole);
  table.max_rows = 99;
  EXPECT_EQ(paint(table, 1600, 2000).layout.rows.size(), 23U);
}

}  // namespace
}  // namespace headscope::viz::table_test
