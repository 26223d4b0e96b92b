// What the frame makes of declarations: layout, words, clicks, commands, frames, scrolling, colours, lists.
#include "app/views/content.h"
#include "app/views/parts/boxes.h"
#include "app/views/parts/list.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/strips.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::content_test {
namespace {

constexpr int kRow = 0, kChip = 1, kHead = 2, kStrip = 3;  // roles
const ListRows kRows{kRow, first_row_option("first-content-row", false, -1), "keys"};

// ---- layout ----

/// A box that notes where it is drawn; sizes are in ems, of ten pixels here.
BoxPtr noted(viz::Rect& where, Wish width, Wish height) {
  return custom(width, height, [&where](Picture&, const ViewContext&, viz::Rect area) { where = area; });
}

class Layout : public ::testing::Test {
 protected:
  Layout() { c_.font_size = 10; }
  bool draw(Box& box, float width, float height) {
    first_ = second_ = third_ = {};
    if (!box.place(c_, {0, 0, width, height})) return false;
    Picture picture;
    box.paint(picture, c_);
    return true;
  }

  ViewContext c_ = scenario(2).context(0, 0);
  viz::Rect first_, second_, third_;
};

TEST_F(Layout, RowsGetWhatTheyNeedThenWhatIsGoodThenMore) {
  const BoxPtr both = rows(boxes(noted(first_, {}, {2, 4, 6}), noted(second_, {}, {2, 10})));
  constexpr float kGap = 6;
  EXPECT_FALSE(draw(*both, 100, 38 + kGap));
  for (const auto& [height, first, second] :
       {std::tuple{40.F, 20.F, 20.F}, {80.F, 40.F, 40.F}, {140.F, 40.F, 100.F}, {180.F, 60.F, 120.F}}) {
    ASSERT_TRUE(draw(*both, 100, height + kGap)) << height;
    EXPECT_EQ(first_, (viz::Rect{0, 0, 100, first})) << height;
    EXPECT_EQ(second_, (viz::Rect{0, first + kGap, 100, second})) << height;
  }
  EXPECT_EQ(both->height(c_, 100).good, 140 + kGap);
}

TEST_F(Layout, WhatHasNoRoomIsLeftOutTheLeastWorthFirst) {
  const BoxPtr all =
      rows(boxes(noted(first_, {}, {5, 5, 5}), may_be_left_out(noted(second_, {}, {5, 5, 5}), "the list", 2),
                 may_be_left_out(noted(third_, {}, {5, 5, 5}), "the scale", 1)));
  for (const auto& [height, note] : {std::pair(170.F, ""),
                                     {120.F, "no room for the scale"},
                                     {60.F, "no room for the list; no room for the scale"}}) {
    ASSERT_TRUE(draw(*all, 100, height));
    EXPECT_EQ(all->note(), note);
    EXPECT_EQ(second_.h > 0, height > 100);
    EXPECT_EQ(third_.h > 0, height > 160);
  }
  EXPECT_FALSE(draw(*all, 100, 40));
}

TEST_F(Layout, BesideStandsBelowEachOtherWhereItIsNarrowUnlessThatIsTooHigh) {
  const BoxPtr both = beside(boxes(noted(first_, {10, 20}, {5, 9}), noted(second_, {10, 20}, {5, 9})));
  for (const auto& [width, height, is_beside] :
       {std::tuple(400.F, 200.F, true), {250.F, 200.F, false}, {250.F, 60.F, true}}) {
    ASSERT_TRUE(draw(*both, width, height));
    EXPECT_EQ(second_.x > first_.x && second_.y == first_.y, is_beside) << width << " " << height;
    EXPECT_EQ(second_.y > first_.y && second_.x == first_.x, !is_beside) << width << " " << height;
  }
  EXPECT_FALSE(draw(*both, 150, 60));
}

TEST_F(Layout, WhatCannotBeHigherLeavesTheWidthThatItCannotUse) {
  const auto square = [](float ems) { return Wish{10, ems, ems}; };
  const auto note = [this](Picture&, const ViewContext&, viz::Rect area) { first_ = area; };
  const BoxPtr both = beside(boxes(custom({10, 60}, square, note), noted(second_, {10, 20}, {10, 15})));
  ASSERT_TRUE(draw(*both, 600, 150));
  EXPECT_NEAR(first_.w, 203, 4) << "the other has the rest";
}

// ---- what a place is about ----

TEST(Ref, GivesWordsClicksAndCommands) {
  const Scenario s(kRobot, {2, 1, 6, 5});
  const ViewContext c = s.context(900, 700);
  const std::string query = "query " + token_name(s.run->tokens, 3),
                    key = "key " + token_name(s.run->tokens, 2);
  using Lines = std::vector<std::string>;
  const std::vector<std::tuple<Ref, Lines, std::string>> cases{
      {{.layer = 1, .head = 2, .query = 3, .key = 2}, {"L1 H2", query, key}, "head 1 2, query 3, key 2"},
      {{.layer = 1, .neuron = 7}, {"L1 neuron 7"}, ""},
      {{.key = 2}, {key}, "key 2"},
      {{.query = 3, .key = 6}, {query, "key " + token_name(s.run->tokens, 6)}, "query 3"},  // it is later
      {{.token = 20}, {"“" + label_of(c, 20) + "”"}, ""}};
  for (const auto& [ref, words, clicked] : cases) {
    EXPECT_EQ(in_words(choice_of(ref, c)), clicked);
    Facts facts;
    add_place(facts, ref, c);
    EXPECT_THAT(facts.tooltip(), ::testing::IsSupersetOf(words));
  }
  EXPECT_EQ(in_words(choice_of({.key = 5}, c)), "key -1") << "the chosen one is given back";
  EXPECT_EQ(in_words(choice_of({.query = 99}, c)), "") << "beyond the context";
  Facts facts;
  add_place(facts, {.layer = 1, .head = 2, .query = 3, .key = 2}, c);
  const std::vector<MenuLine> menu = facts.menu();
  for (const char* label : {"Show L1 H2", "Turn off L1 H2", "How this weight is computed"})
    EXPECT_EQ(std::ranges::count(menu, label, &MenuLine::label), 1) << label;
}

// ---- a view ----

/// The selected query's weights as a list, the prompt shaded by them, a number for each head, and a vector.
View example() {
  View view = make_view("example", "Example", nullptr, "An example.");
  view.declare = [](Content& it) {
    const ViewContext& c = it.c;
    const auto pattern = it.need(PatternOf{c.selection.layer, c.selection.head});
    if (!pattern) return;
    const int query = c.selection.query;
    std::vector<float> row;
    for (int key = 0; key <= query; ++key) row.push_back(pattern->matrix().at(query, key));
    const auto& weights = it.keep(std::move(row));
    auto list = std::make_unique<List>(c, kRows, query + 1);
    list->number("weight", 2, weights, {.file = "weight"});
    list->number("half", 1, [&weights](int key) { return weights[key] / 2; }, {.file = "half", .tip = false});
    list->refers_to = [](int key) { return Ref{.key = key}; };
    list->kept = list->table.marked = c.selection.key;
    const Table& table = it.keep(list->exported());
    it.table = [&table] { return table; };
    auto chips = std::make_unique<ShadedPrompt>(c, kChip, weights, viz::linear_scale(1));
    chips->refers_to = [](int position) { return Ref{.key = position}; };
    std::vector<float> numbers;
    for (int i = 0; i < c.run->run->config.n_layer * c.run->run->config.n_head; ++i)
      numbers.push_back(static_cast<float>(i % 7) - 2);
    auto grid = grid_of_heads(c, kHead, std::move(numbers), "share", "bits");
    grid->moves_heads = false;
    NamedStrip strip;
    strip.id = 4, strip.name = "weights", strip.values = weights, strip.scale = viz::diverging_scale(1);
    it.title = "Example";
    it.body = rows(boxes(std::move(chips), std::move(grid),
                         std::make_unique<Strips>(kStrip, std::vector{strip}), std::move(list)));
  };
  return view;
}

int region_of_role(const Picture& picture, int role, int id) {
  const auto found = std::ranges::find_if(
      picture.regions, [&](const viz::Region& region) { return region.role == role && region.id == id; });
  return found == picture.regions.end() ? -1 : static_cast<int>(found - picture.regions.begin());
}

TEST(Content, IsSaidClickedFramedAndColouredByItsBoxes) {
  const View view = example();
  const Scenario s(kRobot, {2, 1, 6, -1});
  const ViewContext c = s.context(900, 1200);
  const Picture picture = view.build(c);
  const viz::Hit row{region_of_role(picture, kRow, 3), 0, 0}, chip{region_of_role(picture, kChip, 3), 0, 0},
      cell{region_of_role(picture, kHead, 0), 1, 2};
  ASSERT_TRUE(row.region >= 0 && chip.region >= 0 && cell.region >= 0);
  const Facts facts = view.facts(c, picture, row);
  EXPECT_THAT(facts.tooltip(),
              ElementsAre("key " + token_name(s.run->tokens, 3), "weight " + exact(s.weight(6, 3))));
  EXPECT_EQ(std::ranges::count(facts.menu(), "Copy weight " + exact(s.weight(6, 3)), &MenuLine::label), 1);
  EXPECT_EQ(facts.overlay.items.size(), 2U) << "the row and the chip";
  EXPECT_THAT(view.facts(c, picture, cell).tooltip(), ElementsAre("L1 H2", "share 1 bits"));
  const auto click = [&](const viz::Hit& hit) {
    return in_words(view.on(c, picture, &hit, {Gesture::Kind::click, {}, {}, {}}));
  };
  EXPECT_EQ(click(row), "key 3");
  EXPECT_EQ(click(chip), "key 3");
  EXPECT_EQ(click(cell), "head 1 2");
  EXPECT_NEAR(numbers_of(view.table(c), "half")[3], static_cast<double>(s.weight(6, 3) / 2), 1e-7);
  // The colours are those of the scales.
  const auto color_at = [&](int role, int id, int in_row, int col) {
    const viz::Region& region = picture.regions.at(region_of_role(picture, role, id));
    return image_color_at(picture.scene, region.cell_rect(in_row, col).center());
  };
  DrawnPage page(picture.scene, *fonts());
  const DrawnScale scale(page, upright_bars(picture.scene).at(0));
  for (int i = 0; i < 48; ++i) EXPECT_TRUE(reads(scale, color_at(kHead, 0, i / 8, i % 8), i % 7 - 2)) << i;
  const viz::ColorTable color_of(viz::diverging_scale(1), light());
  for (int key = 0; key <= 6; ++key)
    EXPECT_LE(channel_difference(color_at(kStrip, 4, 0, key).value(), color_of(s.weight(6, key))), 3) << key;
}

TEST(Content, ItsListKeepsTheChosenRowInSightAndMovesByKeys) {
  const View view = example();
  const Scenario s(scenario(100).run->prompt, {2, 1, 99, 60});
  ViewContext c = s.context(900, 1000);
  c.in_pane = true;
  EXPECT_THAT(ids_of_role(view.build(c), kRow), Contains(60));
  c.options.set(kRows.first, 20);
  const Picture picture = view.build(c);
  EXPECT_EQ(ids_of_role(picture, kRow).front(), 20);
  EXPECT_THAT(picture.subtitle, HasSubstr("keys 21 to "));
  const viz::Hit row{region_of_role(picture, kRow, 22), 0, 0};
  EXPECT_EQ(in_words(view.on(c, picture, &row, {Gesture::Kind::click, {}, {}, {}})),
            "key 22, first-content-row 20")
      << "nothing moves under the mouse";
  Gesture down{Gesture::Kind::key, {}, {}, {}, Key::down};
  down.modifiers.shift = true;
  EXPECT_THAT(in_words(view.on(c, picture, nullptr, down)), StartsWith("key 61, first-content-row "));
}

const ListRows kLines{3, first_row_option("first-test-row"), "rows"};
const ListRows kPages{3, kLines.first, "rows", ListKeys::pages};

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
std::string pressed(const ListRows& rows, Key key) {
  ViewContext c = scenario(12).context(400, 300);
  c.in_pane = true;
  c.options.set(kLines.first, 1);
  List list(c, rows, 5);
  fill(list);
  EXPECT_TRUE(list.place(c, {0, 0, 400, height_for(2)}));
  const Gesture gesture{Gesture::Kind::key, {}, {}, {}, key};
  const auto actions = list.on(c, nullptr, gesture);
  return in_words(actions ? *actions : keys_along_prompt(c, gesture));
}

// Cells that would be destroyed before the list is painted do not compile.
static_assert(ListCells<std::vector<float>&> && ListCells<const std::vector<float>&>);
static_assert(ListCells<std::span<const float>> && ListCells<int (*)(int)>);
static_assert(!ListCells<std::vector<float>> && !ListCells<const std::vector<float>>);

TEST(List, AFileHasItsColumns) {
  const ViewContext c = scenario(2).context(800, 300);
  const std::vector<std::string> names{"a", "b", "c"};
  const std::vector<double> thirds{1.0 / 3, std::nan(""), 2};
  const std::vector<std::vector<float>> vectors{{1, 2}, {3, 4}};
  List list(c, kLines, 2);
  list.strip("vector", 4, 7, vectors, {.file = "v"});
  list.text("name", 3, names, {.file = "called"});
  list.file(key_column("twice"), [](int row) { return 2 * row; });
  list.number("third", 2, thirds, {.file = "third", .digits = 2, .blank = [](int row) { return row == 1; }});
  list.bar("", 1, thirds, {.hidden = true});
  EXPECT_EQ(std::ranges::count(list.filled().columns, false, &viz::TableColumn::hidden), 3)
      << "what only files have is not in the picture";

  const Table file = list.exported("", 3);
  EXPECT_THAT(headings(file), ElementsAre("called", "twice", "third", "v[0]", "v[1]")) << "vectors come last";
  const auto rows = text_rows(file);
  EXPECT_THAT(rows[0], ElementsAre("a", "0", "0.3333333333333333", "1", "2"));
  EXPECT_THAT(rows[1], ElementsAre("b", "2", "", "3", "4"));
  EXPECT_THAT(rows[2], ElementsAre("c", "4", "2", "", "")) << "rows that the picture does not have";
}

TEST(List, TheWheelMovesTheListUnderTheMouse) {
  ViewContext c = scenario(12).context(900, 300);
  c.in_pane = true;
  static const ListRows rows{4, first_row_option("second-test-row"), "rows"};
  auto left = std::make_unique<List>(c, kLines, 40), right = std::make_unique<List>(c, rows, 40);
  fill(*left), fill(*right);
  const BoxPtr both = beside(boxes(std::move(left), std::move(right)));
  ASSERT_TRUE(both->place(c, {0, 0, 900, 200}));
  const auto turned = [&](float x) {
    const auto actions = both->on(c, nullptr, {Gesture::Kind::wheel, {x, 50}, {0, -1}, {}, Key::none});
    return actions ? in_words(*actions) : "";
  };
  EXPECT_EQ(turned(50), "first-test-row 3");
  EXPECT_EQ(turned(850), "second-test-row 3");
}

TEST(List, BeginsWhereTheRowThatIsKeptOrElseTheStrongestIsSeen) {
  ViewContext c = scenario(12).context(400, 300);
  c.in_pane = true;
  static const ListRows rows{4, first_row_option("automatic-test-row", false, -1), "rows"};
  std::vector<float> strengths(40, 0.F);
  strengths[20] = 1;
  const auto begins = [&](int kept) {
    List list(c, rows, 40);
    fill(list);
    list.rank_by(strengths);
    list.kept = kept;
    EXPECT_FALSE(list.place(c, {0, 0, 400, 10}));
    EXPECT_TRUE(list.place(c, {0, 0, 400, height_for(4)}));
    return list.layout().rows.front();
  };
  EXPECT_EQ(begins(-1), 18);
  EXPECT_EQ(begins(30), 28);
  c.options.set(rows.first, 5);
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
}

}  // namespace
}  // namespace headscope::app::content_test
