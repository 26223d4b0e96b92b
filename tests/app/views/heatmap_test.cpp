// The heatmap: numbers and colours read back from the picture, against the table and the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/view_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using viz::testing::DrawnPage;
using viz::testing::DrawnScale;
using viz::testing::fonts;
using viz::testing::items_of;
using viz::testing::texts;

constexpr double kWeightTolerance = 1e-5;  // of float32 against double

TEST(Heatmap, NumbersInTheCellsAreThoseOfTheTableAndTheReference) {
  const Scenario s("The king and his");
  const auto length = static_cast<std::size_t>(s.length());
  const Shown shown("heatmap", s, 900, 800);
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
  const auto bar = viz::testing::bar_beside(shown.scene(), grid.rect);
  ASSERT_TRUE(bar);
  const DrawnScale scale(page, *bar, DrawnScale::Kind::linear);
  EXPECT_NEAR(scale.low(), 0, 0.01);
  EXPECT_NEAR(scale.high(), 1, 0.01);  // the first query has but one key
  EXPECT_EQ(page.numbers_left(), "");
  EXPECT_NE(page.take("Attention pattern of L2 H1"), "");
}

TEST(Heatmap, WhoLooksUpAColourInTheLegendReadsTheWeight) {
  const Scenario& s = scenario(23);
  const auto& weights = reference_head(s).weights;
  for (const char* value_scale : {"linear", "log", "row"}) {
    for (const bool without_key0 : {false, true}) {
      SCOPED_TRACE(std::string(value_scale) + (without_key0 ? " without key 0" : ""));
      const Shown shown("heatmap", s, 900, 800,
                        {{"value-scale", value_scale}, {"without-key0", without_key0 ? "yes" : "no"}},
                        without_key0 ? dark() : light());
      const int grid = shown.grid();
      const auto bar = viz::testing::bar_beside(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      DrawnPage page = shown.page();
      const bool logarithmic = value_scale == std::string("log");
      const DrawnScale scale(page, *bar,
                             logarithmic ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      EXPECT_EQ(page.numbers_left(), "");
      const int first_key = without_key0 ? 1 : 0;
      for (int query = 0; query < s.length(); ++query) {
        const auto& row = weights[static_cast<std::size_t>(query)];
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
            const double weight = row[static_cast<std::size_t>(key)];
            EXPECT_TRUE(reads(scale, color, value_scale == std::string("row") ? weight / largest : weight));
          }
        }
      }
    }
  }
}

TEST(Heatmap, HatchingStaysOutsideTheStairs) {
  const Scenario s(kRobot);
  Picture picture = find_view("heatmap")->build(s.context(700, 600, light()));
  const viz::Bitmap pixels = viz::rasterize(picture.scene, *fonts(), 1);
  const viz::Region& grid = picture.regions[0];
  const auto images = items_of<viz::Image>(picture.scene);
  // Near the corners of a cell on the diagonal, where hatching would show first.
  for (int i = 0; i < grid.row_count; ++i) {
    if (i == s.selection.query) continue;  // framed
    const viz::Rect cell = grid.cell_rect(i, i);
    const viz::Color expected = images[0].bitmap->at(i, i);
    EXPECT_LE(viz::testing::channel_difference(
                  pixels.at(static_cast<int>(cell.right() - 4), static_cast<int>(cell.y + 4)), expected),
              3)
        << i;
  }
}

TEST(Heatmap, TheTooltipTellsTheWeightItsPartAndItsRank) {
  const Scenario& s = scenario(23);
  const Shown shown("heatmap", s, 700, 600);
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
  EXPECT_THAT(texts(Shown("heatmap", scenario(23), 700, 600, {{"without-key0", "yes"}}).scene()),
              Contains("key 0"));
  EXPECT_THAT(texts(Shown("heatmap", scenario(23), 700, 600).scene()), Not(Contains("key 0")));
}

TEST(Heatmap, FewTokensShowTheirValues) {
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(2).context(700, 600, light())).scene),
              Contains("1.00"));
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(100).context(700, 600, light())).scene),
              Not(Contains("1.00")));
}

}  // namespace
}  // namespace headscope::app
