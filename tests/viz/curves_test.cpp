#include "viz/charts/curves.h"

#include "tests/support/matchers.h"
#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::curves_test {
namespace {

using namespace testing;

TEST(Curves, GoThroughTheirValues) {
  std::vector<float> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) / 9);
  CurveChart chart;
  chart.curves = {{Matrix::row(values), "7", categorical(kDark, 0)}};
  chart.count = 100;
  chart.marked_x = 23;
  chart.mark_label = "prompt: 23";
  chart.mark_color = kDark.accent;
  Picture picture{testing::blank(500, 300), {}};
  const Rect plot{60, 40, 380, 200};
  const Region region = paint_curves(picture, chart, plot, style_of(kDark));
  const auto lines = items_of<Polyline>(picture.scene);
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0].points.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    const Point p = lines[0].points[i];
    EXPECT_NEAR(p.x, region.cell_rect(0, i).center().x, 0.01);
    EXPECT_NEAR(p.y, 140 - 100 * values[i], 0.01);
  }
  EXPECT_THAT(texts(picture.scene), ::testing::Contains("prompt: 23"));
}

TEST(Curves, AnArrowMarksWhereACurveLeavesThePlot) {
  const std::vector<float> inside{0, 1, 2}, above{0, 1, 3, 9}, below{0, -1, -3, 0, -3};
  CurveChart chart;
  chart.low = -2, chart.high = 2, chart.count = 5;
  chart.curves = {{Matrix::row(inside), "inside", categorical(kDark, 0)},
                  {Matrix::row(above), "above", categorical(kDark, 1)},
                  {Matrix::row(below), "below", categorical(kDark, 2)}};
  Picture picture{testing::blank(500, 300), {}};
  const Rect plot{60, 40, 300, 200};
  const Region region = paint_curves(picture, chart, plot, style_of(kDark));
  const auto arrows = items_of<FillPolygon>(picture.scene);
  ASSERT_EQ(arrows.size(), 2U) << "one where a curve first leaves";
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(arrows[i].color, chart.curves[i + 1].color);
    const Point tip = arrows[i].points[2];
    EXPECT_NEAR(tip.x, (region.cell_rect(0, 1).center().x + region.cell_rect(0, 2).center().x) / 2, 0.5);
    EXPECT_TRUE(i == 0 ? tip.y < plot.y : tip.y > plot.bottom());
  }
}

TEST(Curves, NamesAreReadableAndCurvesKeepTheirColour) {
  const std::vector<float> flat(9, 0.1F);
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    CurveChart chart;
    for (int i = 0; i < 7; ++i)
      chart.curves.push_back({Matrix::row(flat), "curve " + std::to_string(i), categorical(theme, i)});
    chart.count = 9;
    Picture picture{testing::blank(500, 300), {}};
    const Style style = style_of(theme);
    const float height = paint_curve_names(picture.scene, chart, "row", {0, 0, 300, 40}, style);
    EXPECT_GT(height, style.line(style.small())) << "in two lines";
    paint_curves(picture, chart, {60, 80, 300, 200}, style);
    int names = 0;
    for (const GlyphRun& run : items_of<GlyphRun>(picture.scene)) {
      if (!run.text.starts_with("curve ")) continue;
      EXPECT_GE(contrast(run.color, theme.surface), 4.5) << run.text;
      ++names;
    }
    EXPECT_EQ(names, 7);
    const auto lines = items_of<Polyline>(picture.scene);
    ASSERT_EQ(lines.size(), 7U);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(lines[static_cast<std::size_t>(i)].color, categorical(theme, i));
  }
}

}  // namespace
}  // namespace headscope::viz::curves_test
