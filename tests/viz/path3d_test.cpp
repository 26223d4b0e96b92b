#include "viz/scene/path3d.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::path3d_test {
namespace {

using namespace testing;

const Style kStyle = style_of();

Path3 steps() {
  Path3 path;
  path.points = {{0, 0, 0}, {10, 0, 0}, {10, 4, 0}, {10, 4, 1}};
  path.colors = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {}};
  path.high = {10, 4, 1};
  path.titles = {"east", "north", "up"};
  path.labelled = {0, 3, 1};
  return path;
}

Picture paint(const Path3& path, float size = 400) {
  Picture picture;
  picture.scene = testing::blank(size, size, kLight.surface);
  paint_path(picture, path, {0, 0, size, size}, kStyle);
  return picture;
}

TEST(Path3, TurnsAboutTheUprightAxisAndTiltsTowardsTheEye) {
  const auto expect = [](Point3 p, Camera camera, Point3 wanted) {
    const Point3 s = seen(p, camera);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(s[i], wanted[i], 1e-12) << i;
  };
  expect({1, 0, 0}, {0, 0}, {1, 0, 0});
  expect({0, 0, 1}, {0, 0}, {0, 1, 0});
  expect({0, 1, 0}, {0, 0}, {0, 0, -1});   // away
  expect({0, -1, 0}, {90, 0}, {1, 0, 0});  // the front is now on the right
  expect({0, 0, 1}, {70, 90}, {0, 0, 1});  // from above
  expect({0, 1, 0}, {0, 90}, {0, 1, 0});
}

TEST(Path3, ABoxKeepsItsSizeFromEverySide) {
  Path3 path = steps();
  const auto length = [&](std::size_t a, std::size_t b) {
    const auto p = projected(path, {0, 0, 400, 400});
    return std::hypot(p[a].x - p[b].x, p[a].y - p[b].y);
  };
  const float side = length(0, 1);
  EXPECT_GT(side, 180);
  path.camera = {90, 0};
  EXPECT_NEAR(length(0, 1), 0, 1e-3);
  EXPECT_NEAR(length(1, 2), side, 1e-3) << "each side of the box is as long";
  EXPECT_NEAR(length(2, 3), side, 1e-3);
  for (const double turn : {0., 33., 135., -170.})
    for (const double tilt : {-90., -20., 45., 90.}) {
      path.camera = {turn, tilt};
      for (const Point p : projected(path, {0, 0, 400, 400})) EXPECT_TRUE(Rect({0, 0, 400, 400}).contains(p));
    }
}

TEST(Path3, WhatIsNearCoversWhatIsFar) {
  Path3 path = steps();
  const Color first = path.colors[0], last = path.colors[2];
  for (const auto& [turn, expected] : {std::pair{0., std::vector{last, first}}, {180., {first, last}}}) {
    path.camera = {turn, 0};  // at 0 the first segment is the nearest
    std::vector<Color> order;
    for (const Segments& s : items_of<Segments>(paint(path).scene))
      if (s.color == first || s.color == last) order.push_back(s.color);
    EXPECT_EQ(order, expected);
  }
}

TEST(Path3, ThePointUnderTheMouseIsTheNearestWithinReach) {
  const std::vector<Point> points{{10, 10}, {20, 10}, {20, 30}};
  EXPECT_EQ(nearest_point(points, {14, 10}, 8), 0);
  EXPECT_EQ(nearest_point(points, {16, 11}, 8), 1);
  EXPECT_EQ(nearest_point(points, {60, 60}, 8), -1);
}

TEST(Path3, WhatDoesNotVaryLiesInTheMiddle) {
  Path3 path = steps();
  path.low = path.high = {1, 1, 1};
  path.points = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  for (const Point p : projected(path, {0, 0, 100, 50})) {
    EXPECT_FLOAT_EQ(p.x, 50);
    EXPECT_FLOAT_EQ(p.y, 25);
  }
  EXPECT_TRUE(items_of<Polyline>(paint(path).scene).empty());
}

}  // namespace
}  // namespace headscope::viz::path3d_test
