// The heatmap: numbers and colours read from the picture, compared with the table and the reference.

#include "viz/charts/heatmap.h"
#include "app/run/analyses/value_attention.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

constexpr double kWeightTolerance = 1e-5;  // between float32 and double

TEST(Heatmap, NumbersInTheCellsAreThoseOfTheTableAndTheReference) {
  const Scenario s("The king and his");
  const auto length = static_cast<std::size_t>(s.length());
  const ViewFixture shown("heatmap", s, 900, 800);
  const viz::Region& grid = shown.region(shown.grid());
  const Table table = shown.table();
  const auto& weights = reference_head(s).weights;
  DrawnPage page = shown.page();
  ASSERT_LE(length, 8U) << "too many for numbers in the cells";
  for (std::size_t query = 0; query < length; ++query) {
    for (std::size_t key = 0; key < length; ++key) {
      const auto drawn = page.take(grid.cell_rect(static_cast<int>(query), static_cast<int>(key)));
      ASSERT_EQ(drawn.size(), key > query ? 0U : 1U) << query << " " << key;
      if (key <= query) {
        EXPECT_TRUE(agree(drawn[0].text, table.rows[query][key + 2], weights[query][key], kWeightTolerance));
      }
    }
  }
  const auto bar = color_bar_of(shown.scene(), grid.rect);
  ASSERT_TRUE(bar);
  const DrawnScale scale(page, *bar);
  EXPECT_NEAR(scale.low(), 0, 0.01);
  EXPECT_NEAR(scale.high(), 1, 0.01);  // the first query has only one key
  EXPECT_EQ(page.numbers_left(), "");
  EXPECT_NE(page.take("Attention pattern of L2 H1"), "");
}

TEST(Heatmap, WhoLooksUpAColourInTheLegendReadsTheWeight) {
  const Scenario& s = scenario(23);
  const auto& weights = reference_head(s).weights;
  for (const char* value_scale : {"linear", "log", "row"}) {
    for (const bool without_key0 : {false, true}) {
      SCOPED_TRACE(std::string(value_scale) + (without_key0 ? " without key 0" : ""));
      const ViewFixture shown("heatmap", s, 900, 800,
                              {{"value-scale", value_scale}, {"without-key0", without_key0 ? "yes" : "no"}},
                              without_key0 ? dark() : light());
      const int grid = shown.grid();
      const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      DrawnPage page = shown.page();
      const bool logarithmic = value_scale == std::string("log");
      const DrawnScale scale(page, *bar,
                             logarithmic ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      EXPECT_EQ(page.numbers_left(), "");
      const int first_key = without_key0 ? 1 : 0;
      for (int query = 0; query < s.length(); ++query) {
        const auto& row = weights[query];
        const double largest = *std::max_element(row.begin() + first_key, row.end());
        for (int key = 0; key < s.length(); ++key) {
          SCOPED_TRACE("query " + std::to_string(query) + ", key " + std::to_string(key));
          const auto color = shown.color_of(grid, query, key);
          if (key > query) {
            EXPECT_FALSE(color);  // masked
          } else if (key < first_key) {
            ASSERT_TRUE(color);
            EXPECT_EQ(*color, *shown.color_of(grid, 0, 0));
            EXPECT_FALSE(scale.values_of(*color)) << "out of the scale";
          } else {
            const double weight = row[key];
            EXPECT_TRUE(reads(scale, color, value_scale == std::string("row") ? weight / largest : weight));
          }
        }
      }
    }
  }
}

TEST(Heatmap, ShowsWeightedValuesAndRolloutInPlaceOfWeights) {
  const Scenario& s = scenario(12);
  const auto [layer, head] = std::pair(s.selection.layer, s.selection.head);
  for (const bool rollout : {false, true}) {
    const auto answer = rollout ? s.ask(RolloutOf{layer}) : s.ask(WeightedValuesOf{layer, head});
    const ViewFixture shown("heatmap", s, 900, 800, {{"cell-values", rollout ? "rollout" : "values"}});
    const Table table = shown.table();
    const int grid = shown.grid();
    const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
    ASSERT_TRUE(bar);
    DrawnPage page = shown.page();
    const DrawnScale scale(page, *bar);
    for (int query = 0; query < 12; ++query) {
      double sum = 0;
      for (int key = 0; key <= query; ++key) sum += static_cast<double>(answer->matrix().at(query, key));
      for (int key = 0; key < 12; ++key) {
        const float value = answer->matrix().at(query, key);
        const std::string& cell = table.rows[query][key + 2];
        EXPECT_EQ(cell, key > query ? "" : plain(value));
        if (key > query) continue;
        EXPECT_TRUE(reads(scale, shown.color_of(grid, query, key), static_cast<double>(value)));
        const auto lines = shown.tooltip(grid, query, key);
        EXPECT_EQ(lines[2], (rollout ? "rollout " : "norm ") + exact(value));
        const double part = rollout ? static_cast<double>(value) : static_cast<double>(value) / sum;
        EXPECT_THAT(lines[3], HasSubstr(percent(part) + " of "));
      }
    }
  }
}

TEST(Heatmap, HatchingStaysOutsideTheStairs) {
  const Scenario s(kRobot);
  Picture picture = find_view("heatmap")->build(s.context(700, 600));
  const viz::Bitmap pixels = viz::rasterize(picture.scene, *fonts(), 1);
  const viz::Region& grid = picture.regions[0];
  const auto images = items_of<viz::Image>(picture.scene);
  // Near the corners of a cell on the diagonal, where hatching would be visible first.
  for (int i = 0; i < grid.row_count; ++i) {
    if (i == s.selection.query) continue;  // framed
    const viz::Rect cell = grid.cell_rect(i, i);
    const viz::Color expected = images[0].bitmap->at(i, i);
    EXPECT_LE(channel_difference(pixels.at(static_cast<int>(cell.right() - 4), static_cast<int>(cell.y + 4)),
                                 expected),
              3)
        << i;
  }
}

TEST(Heatmap, TheTooltipTellsTheWeightItsPartAndItsRank) {
  const Scenario& s = scenario(23);
  const ViewFixture shown("heatmap", s, 700, 600);
  const int grid = shown.grid();
  const Table table = shown.table();
  for (const auto& [query, key] : {std::pair{0, 0}, {5, 2}, {22, 0}, {22, 22}, {17, 9}}) {
    SCOPED_TRACE(std::to_string(query) + " " + std::to_string(key));
    const std::vector<std::string> lines = shown.tooltip(grid, query, key);
    ASSERT_EQ(lines.size(), 4U);
    const auto q = static_cast<std::size_t>(query), k = static_cast<std::size_t>(key);
    EXPECT_EQ(lines[0], "query " + std::to_string(query) + " “" + s.run->tokens.labels[q] + "”");
    EXPECT_EQ(lines[1], "key " + std::to_string(key) + " “" + s.run->tokens.labels[k] + "”");
    const std::vector<double>& row = reference_head(s).weights[q];
    const std::string& cell = table.rows[q][k + 2];
    EXPECT_TRUE(agree(number_after(lines, "weight "), cell, row[k], kWeightTolerance));
    EXPECT_TRUE(agree(viz::testing::number_after(lines[3], ""), cell, row[k], kWeightTolerance));
    const auto rank = 1 + std::count_if(row.begin(), row.end(), [&](double w) { return w > row[k]; });
    EXPECT_THAT(lines[3], HasSubstr("rank " + std::to_string(rank) + " of " + std::to_string(query + 1)));
  }
  EXPECT_THAT(shown.tooltip(grid, 2, 5), Contains(HasSubstr("masked")));
}

TEST(Heatmap, WithoutKeyZeroTheLegendSaysSo) {
  EXPECT_THAT(texts(ViewFixture("heatmap", scenario(23), 700, 600, {{"without-key0", "yes"}}).scene()),
              Contains("key 0"));
  EXPECT_THAT(texts(ViewFixture("heatmap", scenario(23), 700, 600).scene()), Not(Contains("key 0")));
}

TEST(Heatmap, FewTokensShowTheirValues) {
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(2).context(700, 600)).scene), Contains("1.00"));
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(100).context(700, 600)).scene),
              Not(Contains("1.00")));
}

/// The frames of cells that have the key's colour.
std::vector<viz::Rect> key_frames(const viz::Scene& scene) {
  std::vector<viz::Rect> frames;
  for (const auto& frame : items_of<viz::StrokeRect>(scene))
    if (frame.color == light().key) frames.push_back(frame.rect);
  return frames;
}

TEST(Heatmap, ACellChoosesItsQueryAndItsKeyAndGivesTheKeyBack) {
  const ViewFixture shown("heatmap", Scenario(kRobot, {1, 2, 5, 3}), 700, 600);
  EXPECT_EQ(in_words(shown.click(0, 7, 2)), "query 7, key 2");
  EXPECT_EQ(in_words(shown.click(0, 5, 2)), "query 5, key 2");
  EXPECT_EQ(in_words(shown.click(0, 5, 3)), "query 5, key -1") << "the chosen one";
  EXPECT_EQ(in_words(shown.click(0, 7, 3)), "query 7, key 3");
  EXPECT_EQ(in_words(shown.click(0, 2, 4)), "query 2, key -1") << "it does not see that key";
}

TEST(Heatmap, TheChosenKeyIsMarkedWhereTheQueryMeetsIt) {
  for (const auto& [width, query, key] : {std::tuple{700.F, 8, 3}, {700.F, 90, 1}, {160.F, 99, 99}}) {
    Scenario s(scenario(100).run->prompt, {2, 1, query, -1});
    EXPECT_TRUE(key_frames(ViewFixture("heatmap", s, width, 600).scene()).empty());
    s.select({2, 1, query, key});
    const ViewFixture shown("heatmap", s, width, 600);
    const auto frames = key_frames(shown.scene());
    ASSERT_EQ(frames.size(), 1U);
    const viz::Point cell = shown.region(0).cell_rect(query, key).center();
    EXPECT_NEAR(frames[0].center().x, cell.x, 0.01);
    EXPECT_NEAR(frames[0].center().y, cell.y, 0.01);
    EXPECT_GE(frames[0].w, 6) << "of a cell of any size";
  }
  EXPECT_TRUE(key_frames(ViewFixture("heatmap", Scenario(scenario(100).run->prompt, {2, 1, 50, 3}), 700, 600,
                                     {{"zoom", "40:60,10:30"}})
                             .scene())
                  .empty())
      << "out of sight";
}

TEST(Heatmap, KeysMoveQueryHeadAndKey) {
  Scenario s(scenario(100).run->prompt, {2, 1, 50, 3});
  const ViewFixture shown("heatmap", s, 700, 600);
  const std::vector<std::pair<Key, std::string>> meanings{
      {Key::up, "query by -1"},        {Key::down, "query by 1"},   {Key::page_up, "query by -10"},
      {Key::page_down, "query by 10"}, {Key::home, "query 0"},      {Key::end, "query -1"},
      {Key::left, "head by 0 -1"},     {Key::right, "head by 0 1"}, {Key::enter, ""}};
  for (const auto& [key, words] : meanings) EXPECT_EQ(in_words(shown.press(key)), words);
  EXPECT_EQ(in_words(shown.press(Key::left, true)), "key 2");
  EXPECT_EQ(in_words(shown.press(Key::right, true)), "key 4");
  s.select({2, 1, 50, -1});
  EXPECT_EQ(in_words(ViewFixture("heatmap", s, 700, 600).press(Key::left, true)), "key 50");
  EXPECT_EQ(in_words(ViewFixture("heatmap", s, 700, 600).press(Key::right, true)), "key 0");
}

// A zoomed map scrolls with the selected key, but no farther than necessary.
TEST(Heatmap, TheZoomFollowsTheKeys) {
  const NamedOptions zoomed{{"zoom", "31:51,20:40"}};
  const ViewFixture shown("heatmap", Scenario(scenario(100).run->prompt, {2, 1, 50, 20}), 700, 600, zoomed);
  EXPECT_EQ(in_words(shown.press(Key::up)), "query by -1");
  EXPECT_EQ(in_words(shown.press(Key::down)), "query by 1, zoom 32:52,20:40");
  EXPECT_EQ(in_words(shown.press(Key::home)), "query 0, zoom 0:20,20:40");
  EXPECT_EQ(in_words(shown.press(Key::end)), "query -1, zoom 80:100,20:40");
  EXPECT_EQ(in_words(shown.press(Key::left, true)), "key 19, zoom 31:51,19:39");
  EXPECT_EQ(in_words(shown.press(Key::right, true)), "key 21");
}

TEST(Heatmap, TheMenuChoosesAndCopiesExactly) {
  Scenario s(kRobot, {1, 2, 5, 3});
  const ViewFixture shown("heatmap", s, 700, 600);
  const auto name = [&](int i) { return std::to_string(i) + " “" + s.run->tokens.labels[i] + "”"; };
  EXPECT_EQ(in_words(shown.choose("Select query " + name(7), 0, 7, 2)), "query 7");
  EXPECT_EQ(in_words(shown.choose("Select key " + name(2), 0, 7, 2)), "query 7, key 2");
  EXPECT_EQ(in_words(shown.choose("Select key " + name(2), 0, 5, 2)), "key 2");
  EXPECT_EQ(in_words(shown.choose("Clear key " + name(3), 0, 5, 3)), "key -1");
  EXPECT_EQ(in_words(shown.choose("Copy " + shown.tooltip(0, 7, 2)[2], 0, 7, 2)),
            "copy " + shown.table().rows[7][4]);
  EXPECT_EQ(in_words(shown.choose("Select key " + name(6), 0, 5, 6)), "") << "masked";
  EXPECT_EQ(in_words(shown.choose("Show the whole matrix", 0, 5, 3)), "");
  EXPECT_EQ(in_words(ViewFixture("heatmap", s, 700, 600, {{"zoom", "0:5,0:5"}})
                         .choose("Show the whole matrix", 0, 2, 2)),
            "zoom all");
}

}  // namespace
}  // namespace headscope::app
