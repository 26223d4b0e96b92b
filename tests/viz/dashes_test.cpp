// Lines told apart without their colours.

#include "viz/scene/dashes.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::dashes_test {
namespace {

using namespace testing;

/// The lengths of the dashes of a line.
std::vector<float> lengths_of(std::span<const Point> points, std::span<const float> dashes) {
  Pieces pieces;
  cut_dashes(points, dashes, pieces);
  std::vector<float> lengths;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const std::span<const Point> piece = pieces[k];
    float& length = lengths.emplace_back();
    for (std::size_t i = 1; i < piece.size(); ++i)
      length += std::hypot(piece[i].x - piece[i - 1].x, piece[i].y - piece[i - 1].y);
  }
  return lengths;
}

TEST(Dashes, OfSevenLinesDifferAndSoDoThoseOfOneHue) {
  std::set<std::vector<float>> patterns;
  for (int i = 0; i < 14; ++i) {
    const std::vector<float> dashes = dashes_of(i, 4);
    EXPECT_EQ(dashes.size() % 2, 0U) << i;
    if (i < 7) patterns.insert(dashes);
    if (i >= 7) {
      EXPECT_NE(dashes, dashes_of(i - 7, 4)) << "a paler line of the same hue " << i;
    }
  }
  EXPECT_EQ(patterns.size(), 7U);
  EXPECT_TRUE(dashes_of(0, 4).empty()) << "a single line is solid";
}

TEST(Dashes, HaveTheirLengthsRoundBendsAndAlongShortSteps) {
  const std::vector<Point> bend{{0, 0}, {31, 0}, {31, 200}, {231, 200}};
  std::vector<Point> steps;
  for (int i = 0; i < 400; ++i) steps.push_back({1.3F * static_cast<float>(i), 10});
  for (int i = 1; i < 7; ++i) {
    const std::vector<float> dashes = dashes_of(i, 4);
    for (const auto& points : {bend, steps}) {
      const std::vector<float> lengths = lengths_of(points, dashes);
      ASSERT_GT(lengths.size(), 8U);
      for (std::size_t k = 0; k + 1 < lengths.size(); ++k)
        EXPECT_NEAR(lengths[k], dashes[2 * k % dashes.size()], 1e-3) << i << ": dash " << k;
    }
  }
}

TEST(Dashes, OfALineThatIsEndlessOnTheScreenAreNotCountedOut) {
  const std::vector<Point> far{{0, 0}, {1e30F, 1e30F}, {1e30F, 0}};
  EXPECT_EQ(lengths_of(far, dashes_of(2, 4)).size(), 1U);
}

TEST(Dashes, AreGapsInEveryPlayersPicture) {
  const std::vector<float> dashes = dashes_of(1, 4);
  const std::vector<Point> points{{10, 10}, {230, 10}};
  const std::size_t count = lengths_of(points, dashes).size();
  for (const bool joined : {true, false}) {
    Scene scene = blank(240, 20);
    if (joined) scene.add(Polyline{points, {0, 0, 0, 255}, 2, dashes});
    if (!joined) scene.add(Segments{points, {0, 0, 0, 255}, 2, dashes});
    const Bitmap pixels = rasterize(scene, *fonts(), 1);
    std::size_t changes = 0;
    for (int x = 1; x < pixels.width; ++x)
      changes += (pixels.at(x, 10).g < 128) != (pixels.at(x - 1, 10).g < 128);
    EXPECT_EQ(changes, 2 * count);
    const std::string svg = to_svg(scene, *fonts());
    EXPECT_EQ(std::ranges::count(svg.substr(svg.rfind("<path")), 'M'), static_cast<int>(count));
    Scene solid = blank(240, 20);
    solid.add(Polyline{points, {0, 0, 0, 255}, 2});
    EXPECT_NE(to_pdf(scene, *fonts()), to_pdf(solid, *fonts()));
  }
}

}  // namespace
}  // namespace headscope::viz::dashes_test
