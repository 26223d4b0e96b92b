#include "viz/charts/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::bars_test {
namespace {

using namespace testing;

const Theme kTheme = light_theme();

BarChart chart() {
  BarChart c;
  c.role = 3;
  c.longest = 0.5;
  c.number_title = "probability";
  c.detail_title = "logit";
  c.widest_number = "00.0 %";
  c.widest_detail = "−000.00";
  c.marks = true;
  for (int i = 0; i < 5; ++i) {
    Bar bar;
    bar.label = i == 2 ? "·extraordinarily_long_token_that_goes_on" : "·w" + std::to_string(i);
    bar.value = 0.5 / (1 + i);
    bar.number = std::to_string(50 / (1 + i)) + " %";
    bar.detail = "−12.34";
    bar.color = kTheme.accent;
    bar.label_color = kTheme.text;
    bar.marked = i == 1;
    bar.id = 100 + i;
    c.bars.push_back(bar);
  }
  Bar rest;
  rest.label = "all other 50,252 tokens";
  rest.number = "2.3 %";
  rest.muted = true;
  c.bars.push_back(rest);
  return c;
}

TEST(BarChart, SignedBarsBeginAtZeroInTheMiddleOfTheirAxis) {
  for (const float width : {150.F, 290.F, 600.F}) {
    BarChart c;
    c.least = -25, c.longest = 25;
    c.number_title = "percentage points";
    for (const double value : {22.0, -11.0, 0.0}) {
      Bar& bar = c.bars.emplace_back();
      bar.label = "·w";
      bar.value = value;
      bar.number = "+0";
      bar.color = sign_color(kTheme, value);
    }
    Picture picture{testing::blank(width, 300), {}};
    paint_bar_chart(picture, c, {10, 10, width - 20, 280}, {kTheme, *fonts(), 14, 1});
    const auto bars = items_of<FillRect>(picture.scene);
    ASSERT_EQ(bars.size(), 2U) << "none for 0, " << width;
    EXPECT_NEAR(bars[0].rect.x, bars[1].rect.right(), 0.01);
    EXPECT_NEAR(bars[0].rect.w, 2 * bars[1].rect.w, 0.01);
    const auto said = texts(picture.scene);
    EXPECT_THAT(said, ::testing::IsSupersetOf({"−25", "25"})) << width;
    EXPECT_EQ(text_faults(picture.scene, *fonts()), "") << width;
  }
}

TEST(BarChart, LengthsAreProportionalAndRegionsCoverTheirLines) {
  Picture picture{testing::blank(600, 300), {}};
  paint_bar_chart(picture, chart(), {10, 10, 580, 280}, {kTheme, *fonts(), 14, 1});
  const auto bars = items_of<FillRect>(picture.scene);
  ASSERT_EQ(bars.size(), 5U);
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_NEAR(bars[i].rect.w, bars[0].rect.w / static_cast<float>(i + 1), 0.01);
  ASSERT_EQ(picture.regions.size(), 5U);  // muted bars have no region
  EXPECT_EQ(picture.regions[3].id, 103);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(picture.regions[i].rect.contains(bars[i].rect.center()));
  EXPECT_EQ(items_of<FillPolygon>(picture.scene).size(), 1U);
}

TEST(BarChart, GivesWayWhereItIsNarrowButNeverOverlaps) {
  for (const float width : {140.F, 200.F, 240.F, 320.F, 480.F, 900.F}) {
    for (const float size : {11.F, 14.F, 22.F}) {
      Picture picture{testing::blank(width, 400), {}};
      paint_bar_chart(picture, chart(), {8, 8, width - 16, 384}, {kTheme, *fonts(), size, 1});
      EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "") << width << " " << size;
      const auto all = texts(picture.scene);
      if (width >= 480 && size == 14) {
        EXPECT_THAT(all, ::testing::Contains("−12.34"));
      }
      if (width == 200) {
        EXPECT_THAT(all, ::testing::Not(::testing::Contains("−12.34")));
      }
    }
  }
}

TEST(BarChart, NumbersOfTheAxisNeverTouch) {
  BarChart wide = chart();
  wide.longest = 2000;
  wide.unit = " M";
  wide.detail_title.clear();
  for (Bar& bar : wide.bars) bar.label = "GPT-2", bar.number = "1", bar.detail.clear();
  wide.widest_number = wide.widest_detail = "";
  wide.number_title = "n";
  for (float width = 120; width < 600; width += 7) {
    Picture picture{testing::blank(width, 400), {}};
    paint_bar_chart(picture, wide, {8, 8, width - 16, 384}, {kTheme, *fonts(), 14, 1});
    EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "") << width;
  }
}

TEST(BarChart, LinesWithoutRoomAreLeftOut) {
  const Style style{kTheme, *fonts(), 14, 1};
  Picture picture{testing::blank(600, 300), {}};
  paint_bar_chart(picture, chart(), {0, 0, 600, bar_chart_height(3, true, style)}, style);
  EXPECT_EQ(picture.regions.size(), 3U);
}

}  // namespace
}  // namespace headscope::viz::bars_test
