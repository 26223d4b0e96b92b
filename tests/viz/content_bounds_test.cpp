#include "viz/players/players.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::content_bounds_test {
namespace {

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
}  // namespace headscope::viz::content_bounds_test
