#include "viz/charts/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz {
namespace {

using namespace testing;

const Theme kTheme = dark_theme();

TEST(SpreadApart, KeepsOrderDistanceAndBounds) {
  const std::vector<float> spread = spread_apart({50, 52, 10, 51, 99}, 12, 0, 100);
  EXPECT_LT(spread[2], spread[0]);
  EXPECT_LT(spread[0], spread[3]);
  EXPECT_LT(spread[3], spread[1]);
  EXPECT_GE(spread[3] - spread[0], 12);
  EXPECT_GE(spread[1] - spread[3], 12);
  EXPECT_LE(spread[4], 94);
  EXPECT_EQ(spread[2], 10);
}

TEST(Curves, GoThroughTheirValues) {
  std::vector<float> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) / 9);
  CurveChart chart;
  chart.curves = {{Matrix::row(values), "7", categorical(kTheme, 0)}};
  chart.count = 100;
  chart.marked_x = 23;
  chart.mark_label = "prompt: 23";
  chart.mark_color = kTheme.accent;
  Picture picture{testing::blank(500, 300), {}};
  const Rect plot{60, 40, 380, 200};
  const Region region = paint_curves(picture, chart, plot, {kTheme, *fonts(), 14, 1});
  const auto lines = items_of<Polyline>(picture.scene);
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0].points.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    const Point p = lines[0].points[i];
    EXPECT_NEAR(p.x, region.cell_rect(0, i).center().x, 0.01);
    EXPECT_NEAR(p.y, 140 - 100 * values[i], 0.01);
  }
  EXPECT_THAT(texts(picture.scene), ::testing::IsSupersetOf({"7", "prompt: 23"}));
}

TEST(Curves, ManyNamesDoNotTouch) {
  const std::vector<float> flat(50, 0.1F);
  for (const int count : {0, 1, 8, 40}) {
    for (const float height : {60.F, 250.F}) {
      for (const double mark : {0.0, 25.0, 49.0}) {
        CurveChart chart;
        for (int i = 0; i < count; ++i)
          chart.curves.push_back({Matrix::row(flat), std::to_string(i * 11), categorical(kTheme, i)});
        chart.count = 50;
        chart.marked_x = mark;
        chart.mark_label = "prompt: 25";
        Picture picture{testing::blank(400, height + 60), {}};
        paint_curves(picture, chart, {60, 30, 260, height}, {kTheme, *fonts(), 14, 1});
        EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "") << count << " in " << height;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::viz
