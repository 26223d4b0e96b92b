// Scenes as pixels, and pixels as PNG files.
#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace headscope::viz::raster_test {
namespace {

using namespace testing;

constexpr Color kBlack{0, 0, 0, 255};
constexpr Color kWhite{255, 255, 255, 255};
constexpr Color kRed{255, 0, 0, 255};

Bitmap drawn(const Scene& scene) {
  return rasterize(scene, *fonts(), 1);
}

/// Checks that each pixel has the colour returned by `wanted`.
template <class Wanted>
void expect_pixels(const Bitmap& bitmap, const Wanted& wanted) {
  for (int y = 0; y < bitmap.height; ++y)
    for (int x = 0; x < bitmap.width; ++x) ASSERT_EQ(bitmap.at(x, y), wanted(x, y)) << x << " " << y;
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
  Scene scene = blank(40, 40);
  scene.add(testing::image({4, 6, 21, 20}, cells));
  expect_pixels(drawn(scene), [&](int x, int y) {
    const bool inside = x >= 4 && x < 25 && y >= 6 && y < 26;
    return inside ? Color(cells->at((x - 4) / 3, (y - 6) / 4)) : kWhite;
  });
}

TEST(ImagePixels, TakeTheCellUnderTheirMiddle) {
  const Color a{10, 0, 0}, b{20, 0, 0}, c{30, 0, 0};
  Scene scene = blank(5, 1);
  scene.add(testing::image({0, 0, 5, 1}, std::make_shared<Bitmap>(Bitmap{3, 1, {a, b, c}})));
  EXPECT_EQ(drawn(scene).pixels, (std::vector<Color>{a, a, b, c, c}));
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

Bitmap decoded(std::span<const std::uint8_t> file) {
  Bitmap bitmap;
  int channels = 0;
  unsigned char* pixels = stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &bitmap.width,
                                                &bitmap.height, &channels, 4);
  EXPECT_NE(pixels, nullptr);
  if (pixels == nullptr) return {};
  for (int i = 0; i < bitmap.width * bitmap.height; ++i) {
    bitmap.pixels.push_back({pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2], pixels[4 * i + 3]});
  }
  stbi_image_free(pixels);
  return bitmap;
}

TEST(EncodePng, ReadsBackToTheSamePixels) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(7, 3), std::pair(200, 131), std::pair(1, 500), std::pair(30000, 2)}) {
    Bitmap bitmap = *testing::noise(width, height);
    EXPECT_EQ(decoded(encode_png(bitmap, 1)).pixels, bitmap.pixels);
    bitmap.pixels[0].a = 0;
    bitmap.pixels.back().a = 77;
    const Bitmap translucent = decoded(encode_png(bitmap, 1));
    EXPECT_EQ(translucent.pixels, bitmap.pixels);
    EXPECT_EQ(translucent.width, width);
  }
}

TEST(EncodePng, RefusesSizesThatNoFileCanHave) {
  EXPECT_THROW(encode_png({0, 5, {}}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({5, 0, {}}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({32768, 1, std::vector<Color>(32768)}, 1), std::runtime_error);
  EXPECT_THROW(encode_png({32767, 32767, {}}, 1), std::runtime_error);  // 3 GiB
  EXPECT_NO_THROW(encode_png({32767, 1, std::vector<Color>(32767)}, 1));
}

}  // namespace
}  // namespace headscope::viz::raster_test
