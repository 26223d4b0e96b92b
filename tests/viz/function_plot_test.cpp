#include "viz/charts/function_plot.h"

#include <limits>

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::function_plot_test {
namespace {

using namespace testing;

const Theme kTheme = dark_theme();
const Style kStyle{kTheme, *fonts(), 14, 1};
constexpr Color kDots{1, 2, 3, 255}, kPoints{4, 5, 6, 100};

FunctionPlot plot() {
  FunctionPlot p;
  p.curve = {{-2, 0}, {0, 0}, {4, 4}};
  p.points = {{-1, 0}, {3, 3}, {3, 3}, {std::numeric_limits<double>::quiet_NaN(), 0}};
  p.point_color = kPoints;
  p.dots = {{2, 2}, {std::numeric_limits<double>::infinity(), 1}};
  p.dot_color = kDots;
  p.x = {-2, 4}, p.y = {-1, 4};
  p.x_title = "before", p.y_title = "after";
  p.role = 3;
  return p;
}

TEST(FunctionPlot, PutsThingsWhereTheAxesSay) {
  Picture picture{testing::blank(500, 400), {}};
  const Rect frame{60, 40, 300, 250};
  paint_function_plot(picture, plot(), frame, kStyle);
  const auto lines = items_of<Polyline>(picture.scene);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].points, (std::vector<Point>{{60, 240}, {160, 240}, {360, 40}}));
  std::vector<Point> points, dots;
  for (const FillRect& disc : items_of<FillRect>(picture.scene)) {
    if (disc.color == kPoints) points.push_back(disc.rect.center());
    if (disc.color == kDots) dots.push_back(disc.rect.center());
  }
  ASSERT_EQ(points.size(), 2U) << "one of two that lie on each other, none that is no number";
  EXPECT_NEAR(points[1].x, 310, 0.01);
  EXPECT_NEAR(points[1].y, 90, 0.01);
  ASSERT_EQ(dots.size(), 1U);
  EXPECT_NEAR(dots[0].x, 260, 0.01);
  EXPECT_NEAR(dots[0].y, 140, 0.01);
  ASSERT_EQ(picture.regions.size(), 1U);
  EXPECT_EQ(picture.regions[0].role, 3);
  for (const int column : {0, 77, 199}) {
    const Point middle = picture.regions[0].cell_rect(0, column).center();
    EXPECT_NEAR(place_in_plot(plot(), frame, {x_of_column(plot(), column), 0}).x, middle.x, 0.01);
  }
}

TEST(FunctionPlot, ItsWordsStayInItsArea) {
  for (const float size : {60.F, 120.F, 300.F, 900.F}) {
    SCOPED_TRACE(size);
    Picture picture{testing::blank(size, size), {}};
    const Rect frame = plot_frame(plot(), {0, 0, size, size}, kStyle);
    ASSERT_GT(frame.h, 0);
    paint_function_plot(picture, plot(), frame, kStyle);
    EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
    EXPECT_THAT(texts(picture.scene), Contains("0"));
    if (size >= 300) {
      EXPECT_THAT(texts(picture.scene), ::testing::IsSupersetOf({"before", "after", "−2", "4"}));
    }
  }
}

}  // namespace
}  // namespace headscope::viz::function_plot_test
