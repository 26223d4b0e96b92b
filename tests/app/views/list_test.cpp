// Lists: a picture and a file from one declaration, and the keys that move through the rows.
#include "app/views/parts/list.h"
#include "app/views/parts/navigation.h"

#include "tests/app/view_fixture.h"

namespace headscope::app::list_test {
namespace {

const Option<int> kFirst = first_row_option("first-test-row");
const ListRows kLines{.role = 3, .first = kFirst, .names = "rows"};
const ListRows kPages{.role = 3, .first = kFirst, .names = "rows", .keys = ListKeys::pages};

/// The height at which a list shows that many rows.
float height_for(int rows) {
  viz::Table table;
  table.rows = rows;
  return viz::table_height(table, style_of(scenario(12).context(400, 300))) + 1;
}

void fill(List& list) {
  list.number("no", 2, [](int row) { return row; });
  list.text("name", 1, [](int row) { return "row " + std::to_string(row); });
}

/// What a key does to a list that shows rows 1 and 2 of five.
std::string pressed(const ListRows& rows, Key key, ListKey own = nullptr) {
  ViewContext c = scenario(12).context(400, 300);
  c.in_pane = true;
  c.options.set(kFirst, 1);
  List list(c, rows, 5);
  fill(list);
  list.on_key = std::move(own);
  EXPECT_TRUE(list.place(c, {0, 0, 400, height_for(2)}));
  const Gesture gesture{Gesture::Kind::key, {}, {}, {}, key};
  const auto actions = list.on(c, {}, nullptr, gesture);
  return in_words(actions ? *actions : keys_along_prompt(c, gesture));
}

// Cells that would be destroyed before the list is painted do not compile.
static_assert(ListCells<std::vector<float>&> && ListCells<const std::vector<float>&>);
static_assert(ListCells<std::span<const float>> && ListCells<int (*)(int)>);
static_assert(!ListCells<std::vector<float>> && !ListCells<const std::vector<float>>);

TEST(List, APictureAndAFileHaveItsColumns) {
  const ViewContext c = scenario(2).context(800, 300);
  const std::vector<std::string> names{"a", "b", "c"};
  const std::vector<double> thirds{1.0 / 3, std::nan(""), 2};
  const std::vector<std::vector<float>> vectors{{1, 2}, {3, 4}};
  List list(c, kLines, 2);
  list.strip("vector", 4, 7, vectors, {.file = "v"});
  list.text("name", 3, names, {.file = "called", .color = light().accent});
  list.file(key_column("twice"), [](int row) { return 2 * row; });
  list.number("third", 2, thirds, {.file = "third", .digits = 2, .blank = [](int row) { return row == 1; }});
  list.bar("", 1, thirds, {.hidden = true});
  EXPECT_EQ(list.last(), 3) << "what only files have is no column of the table";

  const viz::Table& table = list.filled();
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.rows, 2);
  EXPECT_THAT(table.columns[1].texts, ElementsAre("a", "b"));
  EXPECT_EQ(table.columns[1].color, light().accent);
  EXPECT_EQ(table.columns[2].decimals, 2);
  EXPECT_THAT(table.columns[2].blank, ElementsAre(false, true));
  EXPECT_EQ(table.columns[0].vectors[1][0], 3);
  EXPECT_EQ(table.columns[0].vector_row, 7);
  EXPECT_TRUE(table.columns[3].hidden);

  const Table file = list.exported(3);
  EXPECT_THAT(headings(file), ElementsAre("called", "twice", "third", "v[0]", "v[1]")) << "vectors come last";
  const auto rows = text_rows(file);
  EXPECT_THAT(rows[0], ElementsAre("a", "0", "0.3333333333333333", "1", "2"));
  EXPECT_THAT(rows[1], ElementsAre("b", "2", "", "3", "4"));
  EXPECT_THAT(rows[2], ElementsAre("c", "4", "2", "", "")) << "rows that the picture does not have";
}

TEST(List, ARowThatHasNoRoomIsInTheNote) {
  ViewContext c = scenario(2).context(800, 300);
  c.in_pane = true;
  List list(c, kLines, 40);
  fill(list);
  EXPECT_FALSE(list.place(c, {0, 0, 800, 10}));
  EXPECT_TRUE(list.place(c, {0, 0, 800, 200}));
  EXPECT_TRUE(list.note().starts_with("rows 1 to ")) << list.note();
  EXPECT_TRUE(list.place(c, {0, 0, 800, 4000}));
  EXPECT_EQ(list.note(), "");
}

TEST(List, TheWheelMovesTheListUnderTheMouse) {
  ViewContext c = scenario(12).context(900, 300);
  c.in_pane = true;
  static const Option<int> second = first_row_option("second-test-row");
  static const ListRows rows{.role = 4, .first = second, .names = "rows"};
  auto left = std::make_unique<List>(c, kLines, 40), right = std::make_unique<List>(c, rows, 40);
  fill(*left), fill(*right);
  const BoxPtr both = beside(boxes(std::move(left), std::move(right)));
  ASSERT_TRUE(both->place(c, {0, 0, 900, 200}));
  const auto turned = [&](float x) {
    const auto actions = both->on(c, {}, nullptr, {Gesture::Kind::wheel, {x, 50}, {0, -1}, {}, Key::none});
    return actions ? in_words(*actions) : "";
  };
  EXPECT_EQ(turned(50), "first-test-row 3");
  EXPECT_EQ(turned(850), "second-test-row 3");
}

TEST(List, BeginsWhereTheRowThatIsKeptAndTheStrongestAreSeen) {
  ViewContext c = scenario(12).context(400, 300);
  c.in_pane = true;
  static const Option<int> first = first_row_option("automatic-test-row", false, -1);
  static const ListRows rows{.role = 4, .first = first, .names = "rows"};
  std::vector<float> strengths(40, 0.F);
  strengths[20] = 1;
  const auto begins = [&](int kept) {
    List list(c, rows, 40);
    fill(list);
    list.rank_by(strengths);
    list.kept = kept;
    EXPECT_TRUE(list.place(c, {0, 0, 400, height_for(4)}));
    return list.layout().rows.front();
  };
  EXPECT_EQ(begins(-1), 17);
  EXPECT_EQ(begins(18), 17) << "both are seen";
  EXPECT_EQ(begins(30), 28);
  c.options.set(first, 5);
  EXPECT_EQ(begins(30), 5) << "as chosen";
}

TEST(List, DifferencesThatMayBeRoundingHaveShortBarsAndAreNotWrittenAs0) {
  ViewContext c = scenario(2).context(800, 300);
  const std::vector<float> rounding{1e-7F, -3e-7F}, real{0.25F, 0.0002F};
  const auto bars_of = [&](const std::vector<float>& numbers) {
    List list(c, kLines, 2);
    list.bar("", 1, numbers, {.digits = 3});
    return list.filled().columns[0];
  };
  EXPECT_EQ(bars_of(rounding).high, 0) << "as long as the numbers need";
  EXPECT_EQ(bars_of(rounding).scientific_below, 0);
  c.side = Side::difference;
  EXPECT_EQ(bars_of(rounding).low, -1e-5);
  EXPECT_EQ(bars_of(rounding).high, 1e-5);
  EXPECT_EQ(bars_of(real).high, 0);
  EXPECT_DOUBLE_EQ(bars_of(real).scientific_below, 0.001);
}

TEST(List, KeysMoveTheRowsOrGoAlongThePrompt) {
  EXPECT_EQ(pressed(kLines, Key::down), "first-test-row 2");
  EXPECT_EQ(pressed(kLines, Key::end), "first-test-row 3");
  EXPECT_EQ(pressed(kLines, Key::page_up), "first-test-row 0");
  EXPECT_EQ(pressed(kLines, Key::left), "query by -1");
  EXPECT_EQ(pressed(kPages, Key::down), "");
  EXPECT_EQ(pressed(kPages, Key::end), "query -1");
  EXPECT_EQ(pressed(kPages, Key::page_down), "first-test-row 3");
  const ListKey own = [](const ViewContext&, const TableRows& rows, const Gesture& gesture) {
    return gesture.key == Key::left ? std::optional(ViewActions{rows.showing(4)}) : std::nullopt;
  };
  EXPECT_EQ(pressed(kLines, Key::left, own), "first-test-row 3") << "no further than it takes";
  EXPECT_EQ(pressed(kLines, Key::right, own), "query by 1");
}

}  // namespace
}  // namespace headscope::app::list_test
