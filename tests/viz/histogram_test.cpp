#include "viz/charts/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::histogram_test {
namespace {

using namespace testing;

const Theme kLight = light_theme();
const Style kStyle{kLight, *fonts(), 14, 1};

struct PaintedHistogram {
  Picture picture;
  Region region;
};
PaintedHistogram paint(const std::vector<std::int64_t>& bins, float width, double low = -2, double high = 2) {
  PaintedHistogram p;
  p.picture.scene = testing::blank(width + 40, 200, kLight.surface);
  p.region = paint_histogram(p.picture, {bins, low, high, "value", "", kLight.accent, 3},
                             {20, 10, width, 150}, kStyle);
  return p;
}

TEST(Histogram, ColumnsAreAsHighAsTheirCounts) {
  const std::vector<std::int64_t> bins{1, 0, 4, 8, 2};
  const PaintedHistogram p = paint(bins, 400);
  const auto columns = items_of<FillRect>(p.picture.scene);
  ASSERT_EQ(columns.size(), 4U) << "none for an empty bin";
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) {
    if (bins[i] == 0) continue;
    const Rect column = columns[at++].rect, cell = p.region.cell_rect(0, i);
    EXPECT_NEAR(column.x, cell.x, 0.51);
    EXPECT_NEAR(column.right(), cell.right(), 0.51);
    EXPECT_FLOAT_EQ(column.bottom(), p.region.rect.bottom());
    EXPECT_FLOAT_EQ(column.h, p.region.rect.h * static_cast<float>(bins[i]) / 8);
  }
}

TEST(Histogram, NumbersStandWhereTheirValuesLie) {
  for (const float width : {60.F, 150.F, 400.F, 1200.F}) {
    const PaintedHistogram p = paint({1, 2, 3}, width);
    EXPECT_EQ(testing::text_faults(p.picture.scene, *fonts()), "") << width;
    int numbers = 0;
    for (const auto& box : testing::text_boxes(p.picture.scene, *fonts())) {
      if (box.text == "value") continue;
      ++numbers;
      std::string ascii = box.text;
      if (ascii.starts_with("−")) ascii = "-" + ascii.substr(std::string("−").size());
      EXPECT_NEAR(box.bounds.center().x, p.region.rect.x + (std::stod(ascii) + 2) / 4 * p.region.rect.w, 4)
          << box.text;
    }
    EXPECT_GE(numbers, width > 300 ? 3 : width > 100 ? 1 : 0) << width;
  }
}

TEST(Histogram, NumbersAtItsLeftAreTheCountsOfThatHeight) {
  Picture picture;
  picture.scene = testing::blank(400, 220, kLight.surface);
  const std::vector<std::int64_t> bins{100, 2300, 900};
  const Rect plot = paint_histogram(picture, {bins, -2, 2, "value", "number of values", kLight.accent, 3},
                                    {80, 10, 300, 200}, kStyle)
                        .rect;
  EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
  EXPECT_THAT(texts(picture.scene), ::testing::IsSupersetOf({"value", "number of values", "0"}));
  int numbers = 0;
  for (const auto& box : testing::text_boxes(picture.scene, *fonts())) {
    if (box.bounds.right() > plot.x) continue;
    const float count = std::stof(box.text);
    EXPECT_NEAR(box.bounds.center().y, plot.bottom() - count / 2300 * plot.h, 1.5F) << box.text;
    ++numbers;
  }
  EXPECT_GE(numbers, 2);
}

TEST(Histogram, OfNothingOrOneValueIsAnAxis) {
  EXPECT_EQ(items_of<FillRect>(paint({}, 300).picture.scene).size(), 0U);
  EXPECT_EQ(items_of<FillRect>(paint({0, 0}, 300).picture.scene).size(), 0U);
  EXPECT_EQ(items_of<FillRect>(paint({5, 0}, 300, 1, 1).picture.scene).size(), 1U);
}

}  // namespace
}  // namespace headscope::viz::histogram_test
