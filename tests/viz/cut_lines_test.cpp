// The parts of lines inside a box.

#include "viz/scene/cut_lines.h"

#include <gmock/gmock.h>

#include <random>

namespace headscope::viz::cut_lines_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Rect kBox{0, 0, 100, 50};

TEST(CutLines, KeepsWhatIsInsideAsItIs) {
  EXPECT_THAT(cut_to(std::vector<Point>{{0, 0}, {100, 50}, {7, 3}}, kBox),
              ElementsAre(ElementsAre(Point{0, 0}, Point{100, 50}, Point{7, 3})));
}

TEST(CutLines, EndsAtTheEdgeAndBeginsThereAgain) {
  EXPECT_THAT(cut_to(std::vector<Point>{{10, 10}, {10, 90}, {30, 10}, {190, 10}}, kBox),
              ElementsAre(ElementsAre(Point{10, 10}, Point{10, 50}),
                          ElementsAre(Point{20, 50}, Point{30, 10}, Point{100, 10})));
}

TEST(CutLines, CrossesFromOutsideToOutside) {
  for (const float far : {1e3F, 1e9F, 1e20F, 1e38F})
    EXPECT_THAT(cut_to(std::vector<Point>{{-far, 20}, {far, 20}}, kBox),
                ElementsAre(ElementsAre(Point{0, 20}, Point{100, 20})))
        << far;
  EXPECT_THAT(cut_to(std::vector<Point>{{-10, 5}, {20, -30}}, kBox), IsEmpty());
  EXPECT_THAT(cut_to(std::vector<Point>{{300, 20}, {400, 20}}, kBox), IsEmpty());
  EXPECT_THAT(cut_to(std::vector<Point>{{20, 20}}, kBox), IsEmpty());
  EXPECT_THAT(cut_to({}, kBox), IsEmpty());
}

/// Compared with walking along each line in small steps.
TEST(CutLines, LeavesOutNothingInsideAndKeepsNothingOutside) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(-150, 250);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Point> points(5);
    for (Point& p : points) p = {place(random), place(random)};
    const auto kept = cut_to(points, kBox);
    double length = 0;
    for (const auto& stretch : kept) {
      EXPECT_GE(stretch.size(), 2U);
      for (const Point p : stretch)
        EXPECT_TRUE(p.x >= -0.01F && p.x <= 100.01F && p.y >= -0.01F && p.y <= 50.01F) << p.x << " " << p.y;
      for (std::size_t i = 1; i < stretch.size(); ++i)
        length += std::hypot(stretch[i].x - stretch[i - 1].x, stretch[i].y - stretch[i - 1].y);
    }
    double walked = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      constexpr int kSteps = 4000;
      const Point a = points[i - 1], b = points[i];
      for (int k = 0; k < kSteps; ++k) {
        const float part = (static_cast<float>(k) + 0.5F) / kSteps;
        if (kBox.contains({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)}))
          walked += std::hypot(b.x - a.x, b.y - a.y) / kSteps;
      }
    }
    EXPECT_NEAR(length, walked, 1) << "trial " << trial;
  }
}

}  // namespace
}  // namespace headscope::viz::cut_lines_test
