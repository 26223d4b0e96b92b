#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::raster_test {
namespace {

using namespace testing;

constexpr Color kBlack{0, 0, 0, 255};
constexpr Color kWhite{255, 255, 255, 255};
constexpr Color kRed{255, 0, 0, 255};

Bitmap drawn(const Scene& scene, float scale = 1) {
  return rasterize(scene, *fonts(), scale);
}

template <class T>
Bitmap drawn_alone(T item, float width = 40, float height = 40, float scale = 1) {
  Scene scene = blank(width, height);
  scene.add(std::move(item));
  return drawn(scene, scale);
}

/// Checks that each pixel has the colour returned by `wanted`.
template <class Wanted>
void expect_pixels(const Bitmap& bitmap, const Wanted& wanted) {
  for (int y = 0; y < bitmap.height; ++y)
    for (int x = 0; x < bitmap.width; ++x) ASSERT_EQ(bitmap.at(x, y), wanted(x, y)) << x << " " << y;
}

TEST(FillRectPixels, AreCoveredInPart) {
  const Bitmap b = drawn_alone(FillRect{{2.25F, 3.5F, 4.5F, 2}, kBlack});
  EXPECT_NEAR(b.at(2, 4).g, 255 * 0.25, 1);  // three quarters covered
  EXPECT_NEAR(b.at(2, 3).g, 255 * (1 - 0.75 * 0.5), 1);
  EXPECT_EQ(b.at(4, 4).g, 0);
  EXPECT_NEAR(b.at(6, 5).g, 255 * (1 - 0.75 * 0.5), 1);
  EXPECT_NEAR(ink(b), 9, 0.05);
}

TEST(FillRectPixels, KeepTheirColourOverNothing) {
  Scene scene = blank(4, 4, {0, 0, 0, 0});
  scene.add(FillRect{{0, 0, 4, 4}, {200, 60, 100, 128}});
  EXPECT_LE(testing::channel_difference(drawn(scene).at(1, 1), {200, 60, 100}), 1);
  EXPECT_EQ(drawn(scene).at(1, 1).a, 128);
  scene.add(FillRect{{0, 0, 4, 4}, {200, 60, 100, 128}});  // 1 - (1 - 128/255)^2 = 0.752
  EXPECT_NEAR(drawn(scene).at(1, 1).a, 192, 1);
  EXPECT_NEAR(drawn(scene).at(1, 1).r, 200, 1);
}

TEST(PolygonPixels, CoverItsArea) {
  for (const float angle : {0.0F, 0.2F, 0.7F, 1.1F}) {
    FillPolygon square{{}, kBlack};
    for (int i = 0; i < 4; ++i) {
      const float a = angle + static_cast<float>(i) * std::numbers::pi_v<float> / 2;
      square.points.push_back({20.3F + 14 * std::cos(a), 19.8F + 14 * std::sin(a)});
    }
    EXPECT_NEAR(ink(drawn_alone(square)), 2 * 14 * 14, 0.5) << angle;
  }
}

TEST(LinePixels, CoverLengthTimesWidth) {
  for (const float width : {0.5F, 1.0F, 2.5F, 6.0F}) {
    for (const float angle : {0.0F, 0.35F, 0.785F, 1.2F}) {
      const Point a{50, 50}, b{50 + 60 * std::cos(angle), 50 + 60 * std::sin(angle)};
      const double covered = ink(drawn_alone(Segments{{a, b}, kBlack, width}, 120, 120));
      EXPECT_NEAR(covered / (60 * width), 1, 0.03) << width << " " << angle;
    }
  }
}

TEST(LinePixels, DoNotDarkenWhereTranslucentLinesJoin) {
  const Color half{0, 0, 0, 128};
  const Bitmap b = drawn_alone(Polyline{{{5, 20}, {20, 20}, {20, 35}, {20, 20}, {35, 20}}, half, 6});
  for (const Color c : b.pixels) EXPECT_GE(c.g, 126);
  EXPECT_NEAR(b.at(20, 20).g, 127, 1);
}

TEST(Rasterize, PassesOverShapesWithoutAPlace) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Scene scene = blank(20, 20);
  for (const Rect& r : {Rect{nan, 2, 5, 5}, Rect{2, nan, 5, 5}, Rect{2, 2, nan, 5}, Rect{2, 2, 5, nan}}) {
    scene.add(FillRect{r, kBlack});
    scene.add(FillRect{r, kBlack, 2});
    scene.add(StrokeRect{r, kBlack, 1, 2});
    scene.add(testing::image(r, testing::noise(3, 3)));
  }
  expect_pixels(drawn(scene), [](int, int) { return kWhite; });
}

TEST(ImagePixels, ShowEveryCellWithExactEdges) {
  const auto cells = testing::noise(7, 5);
  expect_pixels(drawn_alone(testing::image({4, 6, 21, 20}, cells)), [&](int x, int y) {
    const bool inside = x >= 4 && x < 25 && y >= 6 && y < 26;
    return inside ? Color(cells->at((x - 4) / 3, (y - 6) / 4)) : kWhite;
  });
}

TEST(ImagePixels, TakeTheCellUnderTheirMiddle) {
  const Color a{10, 0, 0}, b{20, 0, 0}, c{30, 0, 0};
  Scene scene = blank(5, 1);
  scene.add(testing::image({0, 0, 5, 1}, std::make_shared<Bitmap>(Bitmap{3, 1, {a, b, c}})));
  EXPECT_EQ(drawn(scene, 1).pixels, (std::vector<Color>{a, a, b, c, c}));
}

TEST(ClipPixels, AreThoseOfAllClipsInForce) {
  Scene scene = blank(20, 20);
  scene.add(PushClip{{5, 5, 10, 10}});
  scene.add(PushClip{{0, 8, 20, 20}});
  scene.add(FillRect{{0, 0, 20, 20}, kRed});
  scene.add(PopClip{});
  scene.add(FillRect{{0, 0, 6, 6}, kBlack});
  scene.add(PopClip{});
  scene.add(PopClip{});  // an additional one does no harm
  scene.add(FillRect{{18, 18, 2, 2}, kBlack});
  expect_pixels(drawn(scene), [](int x, int y) {
    const bool red = x >= 5 && x < 15 && y >= 8 && y < 15;
    const bool black = (x == 5 && y == 5) || (x >= 18 && y >= 18);
    return red ? kRed : black ? kBlack : kWhite;
  });
}

TEST(ClipPixels, HoldForEveryKindOfItem) {
  Scene scene = blank(400, 300);
  scene.add(PushClip{{100, 100, 50, 40}});
  append(scene, testing::everything(light_theme()), {0, 0});
  append(scene, testing::everything(light_theme()), {-250, -120});
  const Bitmap b = drawn(scene);
  for (int y = 0; y < b.height; ++y) {
    for (int x = 0; x < b.width; ++x) {
      if (x < 100 || x >= 150 || y < 100 || y >= 140) {
        ASSERT_EQ(b.at(x, y), kWhite) << x << " " << y;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::viz::raster_test
