#include "viz/charts/one_hot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::one_hot_test {
namespace {

using namespace testing;

const Theme kLight = light_theme();
const Style kStyle{kLight, *fonts(), 14, 1};
const std::vector<float> kValues{1, -1, 0.5F, 0};

OneHotProduct product(int hot) {
  return {hot,           1000,          kValues,   "one-hot",          "matrix",     "its row",
          "[1 × 1,000]", "[1,000 × 4]", "[1 × 4]", diverging_scale(1), kLight.accent};
}

Picture paint(const OneHotProduct& p, float width) {
  Picture picture;
  picture.scene = testing::blank(width + 20, 200, kLight.surface);
  paint_one_hot_product(picture, p, {10, 20, width, one_hot_height(kStyle)}, kStyle);
  return picture;
}

TEST(OneHot, TheOneAndItsLineStandWhereTheIdDoes) {
  float x_before = 0, y_before = 0;
  for (const int hot : {0, 250, 999}) {
    std::vector<FillRect> lit;
    for (const auto& fill : items_of<FillRect>(paint(product(hot), 600).scene))
      if (fill.color == kLight.accent) lit.push_back(fill);
    ASSERT_EQ(lit.size(), 2U);
    std::vector<Rect> boxes;
    for (const auto& frame : items_of<StrokeRect>(paint(product(hot), 600).scene))
      boxes.push_back(frame.rect);
    ASSERT_EQ(boxes.size(), 3U);
    const float part = (static_cast<float>(hot) + 0.5F) / 1000;
    EXPECT_NEAR(lit[0].rect.center().x, boxes[0].x + part * boxes[0].w, 2);
    EXPECT_NEAR(lit[1].rect.center().y, boxes[1].y + part * boxes[1].h, 2);
    EXPECT_GE(lit[0].rect.x, boxes[0].x);
    EXPECT_LE(lit[0].rect.right(), boxes[0].right());
    EXPECT_LE(lit[1].rect.bottom(), boxes[1].bottom());
    EXPECT_GT(lit[0].rect.x + 1, x_before);
    EXPECT_GT(lit[1].rect.y + 1, y_before);
    x_before = lit[0].rect.x, y_before = lit[1].rect.y;
  }
}

TEST(OneHot, NamesAndShapesStandClearOfEachOtherFromTheLeastWidthOn) {
  for (const float width : {one_hot_least_width(product(3), kStyle), 700.F, 1600.F}) {
    for (const int hot : {0, 3, 500, 999}) {
      const Picture picture = paint(product(hot), width);
      EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "") << width << " " << hot;
      for (const char* words : {"one-hot", "matrix", "its row", "[1 × 1,000]", "[1,000 × 4]", "[1 × 4]", "1"})
        EXPECT_THAT(texts(picture.scene), ::testing::Contains(words)) << width;
    }
  }
}

TEST(OneHot, TheRowIsColouredByItsScale) {
  const auto images = items_of<Image>(paint(product(3), 600).scene);
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(images[0].bitmap->at(0, 0), diverging(kLight, 1));
  EXPECT_EQ(images[0].bitmap->at(1, 0), diverging(kLight, -1));
}

}  // namespace
}  // namespace headscope::viz::one_hot_test
