#include "viz/scene/scene.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::scene_test {
namespace {

Bitmap bitmap(int width, int height) {
  Bitmap b{width, height, {}};
  for (int i = 0; i < width * height; ++i) {
    const auto v = static_cast<std::uint8_t>(i);
    b.pixels.push_back({v, static_cast<std::uint8_t>(v * 3), 7, 255});
  }
  return b;
}

TEST(ContentHash, TellsShapesAndEveryChannelOfEveryPixelApart) {
  const Bitmap original = bitmap(4, 3);
  EXPECT_EQ(content_hash(original), content_hash(bitmap(4, 3)));
  std::set<std::uint64_t> hashes{content_hash(original), content_hash(bitmap(12, 1)),
                                 content_hash(bitmap(3, 4))};
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

}  // namespace
}  // namespace headscope::viz::scene_test
