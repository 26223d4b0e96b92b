#include "viz/charts/columns.h"

#include <cmath>
#include <limits>

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::columns_test {
namespace {

using namespace testing;

const Theme kTheme = light_theme();
const Style kStyle{kTheme, *fonts(), 14, 1};

constexpr Color kRed{200, 0, 0, 255}, kBlue{0, 0, 200, 255};
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Two values per group on an axis from -2 to 4; one is missing, one is outside the axis.
ColumnChart chart() {
  ColumnChart c;
  c.values = {kNone, 1, 4, -2, 9, 0.5F};
  c.colors = {kRed, kBlue, kRed, kBlue, kRed, kBlue};
  c.in_group = 2;
  c.low = -2;
  c.high = 4;
  c.titles = {"a title that is much too long for so narrow a plot, whoever reads it", "short"};
  return c;
}

std::vector<FillRect> columns_of(const Picture& picture) {
  std::vector<FillRect> columns;
  for (const FillRect& rect : items_of<FillRect>(picture.scene))
    if (rect.color == kRed || rect.color == kBlue) columns.push_back(rect);
  return columns;
}

TEST(Columns, AreAsLongAsTheirValuesFromTheBaseOn) {
  Picture picture{testing::blank(400, 300), {}};
  const Rect plot{50, 30, 300, 240};
  const Region region = paint_columns(picture, chart(), plot, kStyle);
  ASSERT_EQ(picture.regions.size(), 1U);
  EXPECT_EQ(region.col_count, 6);
  const auto columns = columns_of(picture);
  ASSERT_EQ(columns.size(), 5U) << "none for NaN";
  const float zero = 30 + 240 * 4 / 6.F, one = 240 / 6.F;
  const auto expect = [&](std::size_t i, float top, float bottom, Color color, int cell) {
    EXPECT_NEAR(columns[i].rect.y, top, 0.01);
    EXPECT_NEAR(columns[i].rect.bottom(), bottom, 0.01);
    EXPECT_EQ(columns[i].color, color);
    EXPECT_TRUE(region.cell_rect(0, cell).contains(columns[i].rect.center())) << i;
  };
  expect(0, zero - one, zero, kBlue, 1);
  expect(1, 30, zero, kRed, 2);
  expect(2, zero, 270, kBlue, 3);
  expect(3, 30, zero, kRed, 4);  // clipped at the axis' end
  expect(4, zero - one / 2, zero, kBlue, 5);
}

TEST(Columns, HangFromAHighBase) {
  ColumnChart c;
  c.values = {0.75F};
  c.colors = {kRed};
  c.low = 0.5;
  c.base = 1;
  Picture picture{testing::blank(400, 300), {}};
  paint_columns(picture, c, {50, 100, 300, 100}, kStyle);
  const auto columns = columns_of(picture);
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_NEAR(columns[0].rect.y, 100, 0.01);
  EXPECT_NEAR(columns[0].rect.bottom(), 150, 0.01);
}

TEST(Columns, TheirWordsGiveWay) {
  std::vector<std::string> labels{"first"};
  for (int i = 0; i < 47; ++i) labels.push_back(std::to_string(i));
  for (const float width : {60.F, 120.F, 400.F, 1200.F}) {
    SCOPED_TRACE(width);
    ColumnChart c = chart();
    c.values.assign(96, 1);
    c.colors.assign(96, kRed);
    c.labels = labels;
    c.labels_title = "layer";
    c.marked = 17;
    c.mark = kTheme.raised;
    Picture picture{testing::blank(width + 90, 200), {}};
    const float left = column_numbers_width(c, 120, kStyle);
    EXPECT_GT(left, 8);
    paint_columns(picture, c, {left + 30, 30, width, 120}, kStyle);
    EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
    EXPECT_THAT(texts(picture.scene), Contains(labels[17])) << "the marked one keeps its label";
    EXPECT_THAT(texts(picture.scene), Contains("4")) << "the axis' end";
    if (width < 400) {
      EXPECT_THAT(texts(picture.scene), Not(Contains(c.titles[0])));
    } else {
      EXPECT_THAT(texts(picture.scene), Contains(c.titles[0]));
    }
    if (width == 120) {
      EXPECT_THAT(texts(picture.scene), Contains("short"));
    }
  }
}

TEST(Columns, GroupsThatAreNotCountedComeBeforeTheFirst) {
  std::vector<std::string> labels{"emb"};
  for (int i = 0; i < 48; ++i) labels.push_back(std::to_string(i));
  ColumnChart c;
  c.values.assign(labels.size(), 1);
  c.colors.assign(labels.size(), kRed);
  c.labels = labels;
  c.unnumbered = 1;
  Picture narrow{testing::blank(500, 200), {}};
  paint_columns(narrow, c, {60, 30, 400, 120}, kStyle);
  EXPECT_THAT(texts(narrow.scene), ::testing::IsSupersetOf({"0", "5", "10", "45"}));
  EXPECT_THAT(texts(narrow.scene), Not(Contains("emb")));
  Picture wide{testing::blank(3000, 200), {}};
  paint_columns(wide, c, {60, 30, 2900, 120}, kStyle);
  EXPECT_THAT(texts(wide.scene), ::testing::IsSupersetOf({"emb", "0", "1", "47"}));
}

}  // namespace
}  // namespace headscope::viz::columns_test
