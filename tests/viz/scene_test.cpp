// Scenes: hashes of pictures, the text at a place, dashes, and the bounds of what is painted.
#include "viz/scene/scene.h"
#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"
#include "viz/players/players.h"
#include "viz/scene/dashes.h"

namespace headscope::viz::scene_test {
namespace {

TEST(ContentHash, TellsShapesAndEveryChannelOfEveryPixelApart) {
  const Bitmap original = *testing::noise(4, 3);
  EXPECT_EQ(content_hash(original), content_hash(*testing::noise(4, 3)));
  std::set<std::uint64_t> hashes{content_hash(original), content_hash(*testing::noise(12, 1)),
                                 content_hash(*testing::noise(3, 4))};
  for (std::size_t i = 0; i < original.pixels.size(); ++i) {
    for (std::uint8_t Color::*channel : {&Color::r, &Color::g, &Color::b, &Color::a}) {
      Bitmap changed = original;
      changed.pixels[i].*channel ^= 1;
      hashes.insert(content_hash(changed));
    }
  }
  EXPECT_EQ(hashes.size(), 3 + 4 * original.pixels.size());
}

TEST(TextAt, IsTheLastTextDrawnThere) {
  constexpr Color kInk{0, 0, 0, 255};
  const auto fonts = testing::fonts();
  Scene scene = testing::blank(400, 300);
  scene.add(make_text(*fonts, "below", {100, 50}, 20, kInk));
  scene.add(make_text(*fonts, "above", {100, 50}, 20, kInk));
  scene.add(FillRect{{0, 0, 400, 300}, kInk});
  scene.add(make_text(*fonts, "upright", {300, 250}, 20, kInk, FontStyle::regular, Align::left, -1.5707963F));
  EXPECT_EQ(text_at(scene, {110, 45}), "above");
  EXPECT_EQ(text_at(scene, {90, 45}), "");
  EXPECT_EQ(text_at(scene, {110, 70}), "");
  EXPECT_EQ(text_at(scene, {295, 220}), "upright");
  EXPECT_EQ(text_at(scene, {330, 245}), "") << "where it would be if it were level";
}

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

using testing::fonts;

constexpr Color kInk{0, 0, 0, 255};

Rect bounds_of(std::initializer_list<Item> items) {
  Scene scene = testing::blank(400, 300);
  for (const Item& item : items) scene.items.push_back(item);
  return content_bounds(scene, *fonts());
}

TEST(ContentBounds, AreThoseOfWhatIsPainted) {
  EXPECT_EQ(bounds_of({}), Rect{});
  EXPECT_EQ(bounds_of({FillRect{{10, 20, 30, 40}, kInk}}), (Rect{10, 20, 30, 40}));
  EXPECT_EQ(bounds_of({StrokeRect{{10, 20, 30, 40}, kInk, 2}}), (Rect{9, 19, 32, 42}));
  EXPECT_EQ(bounds_of({Segments{{{5, 6}, {50, 6}}, kInk, 2}}), (Rect{4, 5, 47, 2}));
  EXPECT_EQ(bounds_of({FillPolygon{{{1, 2}, {9, 3}, {4, 8}}, kInk}}), (Rect{1, 2, 8, 6}));
  EXPECT_EQ(bounds_of({Polyline{{{1, 2}, {NAN, 3}, {9, 8}}, kInk, 0}}), (Rect{1, 2, 8, 6}));
  EXPECT_EQ(bounds_of({FillPolygon{{{1, 2}, {NAN, 3}, {4, 8}}, kInk}}), Rect{}) << "paints nothing";
  EXPECT_EQ(bounds_of({Segments{{{5, 6}, {50, NAN}}, kInk, 2}}), Rect{});
  EXPECT_EQ(bounds_of({testing::image({3, 4, 5, 6}, testing::noise(2, 2))}), (Rect{3, 4, 5, 6}));
  EXPECT_EQ(bounds_of({FillRect{{10, 20, 30, 40}, kInk}, FillRect{{200, 5, 1, 1}, kInk}}),
            (Rect{10, 5, 191, 55}));
}

TEST(ContentBounds, StopAtClips) {
  const FillRect large{{0, 0, 300, 300}, kInk}, small{{350, 10, 5, 5}, kInk};
  EXPECT_EQ(bounds_of({PushClip{{10, 20, 30, 40}}, large, PopClip{}}), (Rect{10, 20, 30, 40}));
  EXPECT_EQ(bounds_of({PushClip{{10, 20, 30, 40}}, PushClip{{0, 0, 15, 100}}, large, PopClip{}, PopClip{}}),
            (Rect{10, 20, 5, 40}));
  EXPECT_EQ(bounds_of({PushClip{{10, 20, 30, 40}}, small, PopClip{}}), Rect{}) << "nothing of it shows";
  EXPECT_EQ(bounds_of({PushClip{{10, 20, 30, 40}}, large, PopClip{}, small}), (Rect{10, 10, 345, 50}));
}

TEST(ContentBounds, HoldAllInkOfTexts) {
  for (const float angle : {0.F, -0.785F, -1.571F}) {
    Scene scene = testing::blank(400, 300);
    scene.add(
        make_text(*fonts(), "Øg, query → 0.5", {120, 200}, 24, kInk, FontStyle::medium, Align::left, angle));
    const Rect bounds = content_bounds(scene, *fonts());
    const Bitmap pixels = rasterize(scene, *fonts(), 1);
    int left = 400, top = 300, right = 0, bottom = 0;
    for (int y = 0; y < pixels.height; ++y) {
      for (int x = 0; x < pixels.width; ++x) {
        if (pixels.at(x, y).g > 200) continue;
        left = std::min(left, x), right = std::max(right, x + 1);
        top = std::min(top, y), bottom = std::max(bottom, y + 1);
      }
    }
    EXPECT_NEAR(bounds.x, left, 2) << angle;
    EXPECT_NEAR(bounds.y, top, 2) << angle;
    EXPECT_NEAR(bounds.right(), right, 2) << angle;
    EXPECT_NEAR(bounds.bottom(), bottom, 2) << angle;
  }
}

}  // namespace
}  // namespace headscope::viz::scene_test
