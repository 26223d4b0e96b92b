// Pictures between two pictures.

#include "viz/scene/blend.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::blend_test {
namespace {

using namespace testing;

constexpr Color kRed{200, 0, 0, 255}, kBlue{0, 0, 100, 255};

Scene scene_of(std::vector<Item> items) {
  Scene scene = blank(100, 100);
  scene.items = std::move(items);
  return scene;
}

GlyphRun text(std::string_view words, Point at, Color color = {0, 0, 0, 255}) {
  return make_text(*fonts(), words, at, 12, color);
}

template <class T>
std::vector<T> all_of(const Scene& scene) {
  std::vector<T> found;
  for (const Item& item : scene.items)
    if (const auto* one = std::get_if<T>(&item)) found.push_back(*one);
  return found;
}

Scene without_text(Scene scene) {
  std::erase_if(scene.items, [](const Item& item) { return std::holds_alternative<GlyphRun>(item); });
  return scene;
}

/// One of everything, everywhere else.
Scene everything_moved() {
  Scene scene = everything(dark_theme());
  for (Item& item : scene.items) {
    if (auto* rect = std::get_if<FillRect>(&item)) rect->rect.w *= 1.5F, rect->radius = 3;
    if (auto* image_item = std::get_if<Image>(&item)) *image_item = image(image_item->dest, noise(9, 5, 7));
    if (auto* line = std::get_if<Polyline>(&item))
      for (Point& p : line->points) p.y += 9;
  }
  return scene;
}

void expect_equal(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.background, b.background);
  EXPECT_EQ(a.items, b.items);
}

TEST(Blend, BeginsAsTheOldPictureInAllButTextAndEndsAsTheNewOne) {
  const Scene from = everything(light_theme()), to = everything_moved();
  expect_equal(blend(from, to, 1), to);
  expect_equal(blend(from, to, 2), to);
  expect_equal(without_text(blend(from, to, 0)), without_text(from));
  expect_equal(without_text(blend(from, to, -1)), without_text(from));
  const double all = differing(rasterize(from, *fonts(), 1), rasterize(to, *fonts(), 1), 2);
  double before = 0;
  for (const float t : {0.25F, 0.5F, 0.75F}) {
    const Bitmap between = rasterize(blend(from, to, t), *fonts(), 1);
    const double moved = differing(rasterize(from, *fonts(), 1), between, 2);
    EXPECT_GT(moved, 0.5 * all);
    EXPECT_GE(differing(between, rasterize(to, *fonts(), 1), 2), 0.5 * all) << t;
    EXPECT_GE(moved, before - 0.01);
    before = moved;
  }
}

TEST(Blend, ABlendOfAPictureWithItselfIsThatPicture) {
  const Scene scene = everything(light_theme());
  for (const float t : {0.F, 0.3F, 1.F}) expect_equal(blend(scene, scene, t), scene);
}

TEST(Blend, ShapesMoveAndChangeTheirColours) {
  const Scene from = scene_of({FillRect{{10, 10, 20, 5}, kRed}, StrokeRect{{0, 0, 10, 10}, kRed, 1},
                               Segments{{{5, 50}, {9, 50}}, kRed, 1}});
  const Scene to = scene_of({FillRect{{10, 10, 60, 5}, kBlue, 2}, StrokeRect{{40, 80, 20, 10}, kBlue, 3},
                             Segments{{{5, 70}, {9, 70}}, kBlue, 3}});
  const Scene half = blend(from, to, 0.5F);
  const Color between{100, 0, 50, 255};
  EXPECT_EQ(half.items, (std::vector<Item>{FillRect{{10, 10, 40, 5}, between, 1},
                                           StrokeRect{{20, 40, 15, 10}, between, 2},
                                           Segments{{{5, 60}, {9, 60}}, between, 2}}));
}

// A bar is found by where it begins, so that one that comes or goes does not move the others.
TEST(Blend, WhatBeginsAtTheSamePlaceCorrespondsWhateverElseThereIs) {
  const auto bar = [](float y, float length) { return FillRect{{10, y, length, 5}, kRed}; };
  const Scene from = scene_of({bar(0, 10), bar(10, 20), bar(20, 30)});
  const Scene to = scene_of({bar(0, 20), bar(20, 50)});
  EXPECT_EQ(blend(from, to, 0.5F).items,
            (std::vector<Item>{bar(0, 15), FillRect{{10, 10, 20, 5}, kRed.with_alpha(128)}, bar(20, 40)}));
}

TEST(Blend, BarsToTheLeftOfTheirAxisKeepItAndAPictureInAPictureIsRecognized) {
  const auto bar = [](float y, float length) { return FillRect{{60 - length, y, length, 5}, kRed}; };
  const Image legend = image({0, 80, 20, 5}, noise(8, 2)), other = image({40, 80, 20, 5}, noise(8, 2, 5));
  Image lower = legend;
  lower.dest.y = 90;
  const Scene from = scene_of({bar(0, 10), bar(10, 20), legend});
  const Scene to = scene_of({bar(0, 20), bar(10, 50), bar(20, 9), lower, other});
  const Scene half = blend(from, to, 0.5F);
  const auto bars = all_of<FillRect>(half);
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_EQ(bars[0], bar(0, 15));
  EXPECT_EQ(bars[1], bar(10, 35));
  EXPECT_EQ(bars[2].color.a, 128);
  EXPECT_EQ(all_of<Image>(half).at(0).dest.y, 85);
}

TEST(Blend, LinesThatWouldFlyAcrossThePictureFadeInstead) {
  const Scene from = scene_of({FillRect{{0, 0, 1, 1}, kRed}, Polyline{{{0, 0}, {10, 30}}, kRed}});
  const Scene to = scene_of({FillRect{{0, 0, 1, 1}, kRed}, Polyline{{{20, 40}, {70, 90}}, kRed}});
  const auto lines = all_of<Polyline>(blend(from, to, 0.25F));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].points, (std::vector<Point>{{0, 0}, {10, 30}}));
  EXPECT_EQ(lines[0].color.a, 191);
  EXPECT_EQ(lines[1].points, (std::vector<Point>{{20, 40}, {70, 90}}));
  EXPECT_EQ(lines[1].color.a, 64);
}

TEST(Blend, TextIsThatOfTheNewPictureFromTheStart) {
  const FillRect ground{{0, 0, 50, 20}, kRed};
  const Scene from =
      scene_of({ground, text("0.41", {5, 15}, kRed), text("gone", {5, 60}), text("query", {5, 80})});
  const Scene to =
      scene_of({ground, text("0.07", {9, 15}, kBlue), text("came", {5, 60}), text("query", {5, 40})});
  for (const float t : {0.F, 0.25F, 0.5F, 0.99F}) {
    const auto runs = all_of<GlyphRun>(blend(from, to, t));
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[0].text, "0.07");
    EXPECT_EQ(runs[0].origin, (Point{9, 15})) << "at its own place: a number may say where on an axis it is";
    EXPECT_EQ(runs[0].color, t < 0.5F ? kRed : kBlue) << "it contrasts with what is under it";
    EXPECT_EQ(runs[1].text, "came");
    EXPECT_EQ(runs[2].text, "query");
    EXPECT_NEAR(runs[2].origin.y, 80 - 40 * t, 1e-4) << "the same words move";
  }
}

TEST(Blend, WordsThatBothPicturesHaveOnceMoveWhateverOthersThereAre) {
  const FillRect ground{{0, 0, 50, 20}, kRed};
  const Scene from = scene_of({ground, text("cat", {5, 80}), text("it", {5, 5}), text("it", {50, 5})});
  const Scene to = scene_of({ground, text("dog", {5, 90}), text("cat", {5, 40}), text("it", {5, 50}),
                             text("it", {50, 60}), text("it", {90, 60})});
  const auto runs = all_of<GlyphRun>(blend(from, to, 0.5F));
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_EQ(runs[0].origin.y, 90) << "it was not there";
  EXPECT_EQ(runs[1].origin.y, 60);
  EXPECT_EQ(runs[2].origin.y, 50) << "which of the two is it?";
  EXPECT_EQ(runs[3].origin.y, 60);
}

TEST(Blend, NumbersStayInTheirCells) {
  const FillRect ground{{0, 0, 50, 20}, kRed};
  const Scene from = scene_of({ground, text("0.35", {10, 20}, kRed), text("0.10", {50, 20}, kBlue)});
  const Scene to =
      scene_of({ground, text("0.1", {13, 20}, kBlue), text("0.35", {50, 20}, kRed), text("0.5", {90, 20})});
  const auto runs = all_of<GlyphRun>(blend(from, to, 0.4F));
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].origin, (Point{13, 20}));
  EXPECT_EQ(runs[1].origin, (Point{50, 20}));
  EXPECT_EQ(runs[2].origin, (Point{90, 20}));
  EXPECT_EQ(runs[0].color, kRed) << "the colour of what was in this cell";
  EXPECT_EQ(runs[1].color, kBlue);
}

TEST(Blend, WhatFadesKeepsItsPlaceInTheOrderAndItsClip) {
  const FillRect ground{{0, 0, 90, 90}, kBlue};
  const FillRect old_disc{{30, 30, 10, 10}, kRed, 5}, cover{{80, 80, 4, 4}, kBlue};
  const Scene from = scene_of(
      {ground, PushClip{{20, 20, 40, 40}}, PushClip{{0, 0, 35, 90}}, old_disc, PopClip{}, PopClip{}, cover});
  const Scene to = scene_of({ground, cover});
  const Scene half = blend(from, to, 0.5F);
  EXPECT_EQ(half.items,
            (std::vector<Item>{ground, PushClip{{20, 20, 15, 40}},
                               FillRect{{30, 30, 10, 10}, kRed.with_alpha(128), 5}, PopClip{}, cover}));
  // Nothing is painted inside a clip of the new picture, which it knows nothing of.
  const Scene clipped = scene_of({PushClip{{0, 0, 5, 5}}, ground, PopClip{}, cover});
  const Scene other = blend(scene_of({ground, old_disc, cover}), clipped, 0.5F);
  EXPECT_TRUE(std::holds_alternative<PopClip>(other.items.at(2)));
  EXPECT_TRUE(std::holds_alternative<FillRect>(other.items.at(3)));
}

TEST(Blend, ImagesOfOneSizeAreMixedPixelByPixel) {
  const auto from = std::make_shared<Bitmap>(Bitmap{3, 1, {kRed, kRed, {0, 0, 0, 0}}});
  const auto to = std::make_shared<Bitmap>(Bitmap{3, 1, {kBlue, {0, 0, 0, 0}, kBlue}});
  const Rect left{0, 0, 30, 10}, right{20, 0, 30, 10};
  const auto mixed = all_of<Image>(blend(scene_of({image(left, from)}), scene_of({image(right, to)}), 0.5F));
  ASSERT_EQ(mixed.size(), 1U);
  EXPECT_EQ(mixed[0].dest, (Rect{10, 0, 30, 10}));
  EXPECT_EQ(mixed[0].bitmap->pixels,
            (std::vector<Color>{{100, 0, 50, 255}, kRed.with_alpha(128), kBlue.with_alpha(128)}))
      << "a masked cell appears in its own colour, without that of nothing";
  // Players cache by the id.
  const auto later = all_of<Image>(blend(scene_of({image(left, from)}), scene_of({image(right, to)}), 0.75F));
  EXPECT_NE(mixed[0].content_id, later[0].content_id);
  EXPECT_NE(mixed[0].content_id, content_hash(*from));
}

TEST(Blend, MixedPixelsAreTheMixedColours) {
  const auto pixels = [](unsigned seed, bool opaque) {
    Bitmap bitmap = *noise(40, 30, seed);
    for (std::size_t i = 0; i < bitmap.pixels.size() && !opaque; ++i)
      bitmap.pixels[i].a = static_cast<std::uint8_t>(i * seed);
    return std::make_shared<const Bitmap>(std::move(bitmap));
  };
  for (const bool opaque : {true, false}) {
    const auto a = pixels(3, opaque), b = pixels(11, opaque);
    const Rect place{0, 0, 40, 30};
    for (const float t : {0.25F, 0.5F, 0.9F}) {
      const Scene scene = blend(scene_of({image(place, a)}), scene_of({image(place, b)}), t);
      const auto& mixed = std::get<Image>(scene.items.at(0)).bitmap->pixels;
      for (std::size_t i = 0; i < mixed.size(); ++i) {
        const Color expected = blend(a->pixels[i], b->pixels[i], t);
        EXPECT_LE(channel_difference(mixed[i], expected), expected.a > 20 ? 2 : 12) << i;
        EXPECT_NEAR(mixed[i].a, expected.a, 1);
      }
    }
  }
}

TEST(Blend, EqualImagesAreNotCopied) {
  const Image same = image({0, 0, 10, 10}, noise(8, 8));
  Image moved = same;
  moved.dest.x = 50;
  const Scene scene = blend(scene_of({same}), scene_of({moved}), 0.5F);
  EXPECT_EQ(std::get<Image>(scene.items.at(0)).bitmap, same.bitmap);
  EXPECT_EQ(std::get<Image>(scene.items.at(0)).content_id, same.content_id);
}

TEST(Blend, ImagesOfDifferentSizesFade) {
  const FillRect ground{{0, 0, 50, 20}, kRed};
  const Scene from = scene_of({ground, image({0, 0, 10, 10}, noise(8, 8))});
  const Scene to = scene_of({ground, image({0, 0, 10, 10}, noise(9, 9))});
  const auto both = all_of<Image>(blend(from, to, 0.25F));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].bitmap->pixels[0].a, 191);
  EXPECT_EQ(both[1].bitmap->pixels[0].a, 64);
}

// A list: a name and a bar in each row.
Scene list_of(const std::vector<std::string>& names, float length) {
  Scene scene = scene_of({text("most probable tokens", {5, 12})});
  float y = 30;
  for (const std::string& name : names) {
    scene.add(text(name, {5, y}));
    scene.add(text(std::to_string(static_cast<int>(length)) + " %", {80, y}));
    scene.add(FillRect{{40, y - 8, length, 8}, kRed});
    y += 16, length *= 0.7F;
  }
  return scene;
}

// Between two orders, a bar next to a name would belong to neither, and texts would be over each other.
TEST(Blend, ThereIsNoTransitionBetweenListsInDifferentOrders) {
  const Scene from = list_of({"the", "cat", "dog"}, 30);
  const Scene longer = list_of({"the", "cat", "dog"}, 50);
  EXPECT_TRUE(can_blend(from, longer));
  const Scene swapped = list_of({"cat", "the", "dog"}, 50);
  EXPECT_FALSE(can_blend(from, swapped));
  for (const float t : {0.F, 0.04F, 0.5F, 0.9F}) expect_equal(blend(from, swapped, t), swapped);
  const Scene heads = list_of({"L5H1", "L2H0", "L0H7"}, 30), sorted = list_of({"L2H0", "L0H7", "L5H1"}, 50);
  EXPECT_FALSE(can_blend(heads, sorted));
  EXPECT_FALSE(can_blend(from, list_of({"a", "king", "had"}, 50))) << "all are other ones";
  EXPECT_FALSE(can_blend(from, list_of({"one more", "the", "cat", "dog"}, 50)))
      << "all are a row further down";
}

TEST(Blend, AnotherTitleOrAMarkThatMovesIsStillTheSamePicture) {
  Scene from = list_of({"the", "cat", "dog"}, 30), to = list_of({"the", "cat", "dog"}, 50);
  from.add(text("score", {60, 12})), to.add(text("weight", {62, 12}));
  from.add(text("▶", {0, 30})), to.add(text("▶", {0, 62}));
  EXPECT_TRUE(can_blend(from, to));
}

TEST(Blend, ImagesWithoutAnIdAreComparedByTheirPixels) {
  const Image a{{0, 0, 10, 10}, noise(8, 8, 1), 0}, b{{0, 0, 10, 10}, noise(8, 8, 2), 0};
  EXPECT_TRUE(can_blend(scene_of({a}), scene_of({b})));
  EXPECT_FALSE(can_blend(scene_of({a}), scene_of({a})));
}

TEST(Blend, ThereIsNoTransitionBetweenUnlikePictures) {
  const Scene from = scene_of({FillRect{{0, 0, 5, 5}, kRed}});
  Scene wide = from;
  wide.width = 120;
  expect_equal(blend(from, wide, 0.5F), wide);
  const Scene words = scene_of({text("computing…", {5, 20})});
  expect_equal(blend(from, words, 0.5F), words);
  expect_equal(blend(words, from, 0.5F), from);
  const Scene lines = scene_of({Segments{{{0, 0}, {9, 9}}, kRed}});
  expect_equal(blend(from, lines, 0.5F), lines);
}

TEST(Blend, ThereIsNoTransitionWhereItWouldTakeTooLong) {
  const auto map = [](int side, unsigned seed) {
    return scene_of({image({0, 0, 90, 90}, noise(side, side, seed))});
  };
  const Scene from = map(1200, 1), to = map(1200, 2);
  expect_equal(blend(from, to, 0.5F), to);
  const Scene whole_context = map(1024, 1), other = map(1024, 2);
  EXPECT_NE(blend(whole_context, other, 0.5F).items, other.items);
  Scene many = scene_of(std::vector<Item>(10'001, FillRect{{0, 0, 5, 5}, kRed})), more = many;
  std::get<FillRect>(more.items[0]).color = kBlue;
  expect_equal(blend(many, more, 0.5F), more);
}

// The claim that a straight line in sRGB is good enough for colour maps.
TEST(Blend, LightnessChangesSteadilyBetweenColoursOfAColourMap) {
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    for (const double a : {0.0, 0.2, 0.5, 0.9}) {
      for (const double b : {0.1, 0.4, 0.7, 1.0}) {
        const Color from = sequential(theme, a), to = sequential(theme, b);
        const double first = lightness(linear(from)), last = lightness(linear(to));
        double before = first;
        for (int i = 1; i <= 10; ++i) {
          const double now = lightness(linear(blend(from, to, static_cast<float>(i) / 10)));
          EXPECT_GE((now - before) * (last > first ? 1 : -1), -0.6);
          EXPECT_NEAR(now, first + (last - first) * i / 10, 6);
          before = now;
        }
      }
    }
  }
}

}  // namespace
}  // namespace headscope::viz::blend_test
