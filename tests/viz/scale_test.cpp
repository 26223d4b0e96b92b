#include "viz/scene/scale.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::scale_test {
namespace {

using namespace testing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> noise(int count) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

TEST(ColorScale, PlacesValuesOnTheMap) {
  EXPECT_EQ(linear_scale(4).parameter(1), 0.25);
  EXPECT_EQ(linear_scale(4).parameter(9), 1);
  EXPECT_EQ(linear_scale(4).parameter(-1), 0);
  EXPECT_EQ(linear_scale(0).high, 1);
  EXPECT_EQ(diverging_scale(2).parameter(-1), -0.5);
  EXPECT_EQ(diverging_scale(2).parameter(-kInfinity), -1);
  EXPECT_TRUE(std::isnan(linear_scale(1).parameter(kNan)));
  const ColorScale log = logarithmic_scale(1e-3, 1);
  EXPECT_DOUBLE_EQ(log.low, 1e-3);
  EXPECT_NEAR(log.parameter(1e-2), 1.0 / 3, 1e-12);
  EXPECT_EQ(log.parameter(0), 0);
  EXPECT_FALSE(log.values_below);
}

TEST(ColorScale, LogarithmsCoverFiveDecadesAtMostAndSaySo) {
  const ColorScale log = logarithmic_scale(1e-20, 0.9);
  EXPECT_DOUBLE_EQ(log.low, 1e-5);
  EXPECT_TRUE(log.values_below);
  EXPECT_LT(logarithmic_scale(0.9, 0.9).low, 0.9);
  EXPECT_LT(logarithmic_scale(0, 0).low, logarithmic_scale(0, 0).high);
}

TEST(ColorTable, AgreesWithTheScale) {
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    for (const ColorScale& scale : {linear_scale(3), diverging_scale(0.02), logarithmic_scale(1e-4, 1)}) {
      const ColorTable table(scale, theme);
      for (int i = -20; i <= 120; ++i) {
        const auto v = static_cast<float>(scale.logarithmic ? std::pow(10.0, -5 + i / 20.0)
                                                            : scale.low + (scale.high - scale.low) * i / 100);
        EXPECT_LE(channel_difference(table(v), scale.color(theme, static_cast<double>(v))), 3) << v;
      }
      EXPECT_EQ(table(kNan), scale.color(theme, static_cast<double>(kNan)));
    }
  }
}

TEST(ValueRange, LeavesOutWhatItIsTold) {
  constexpr int kSide = 67;
  std::vector<float> values = noise(kSide * kSide);
  values[5] = kInfinity;
  values[kSide * 20 + 3] = kNan;
  values[kSide * 30 + 2] = -kInfinity;
  for (const bool masked : {false, true}) {
    for (const int without : {-1, 0, 17, kSide - 1}) {
      for (const bool transposed : {false, true}) {
        Matrix m = Matrix::row_major(values, kSide, kSide);
        if (transposed) m = m.transposed();
        float low = kInfinity, high = -kInfinity, positive = kInfinity;
        for (int r = 0; r < kSide; ++r) {
          for (int c = 0; c < kSide; ++c) {
            const float v = m.at(r, c);
            if (!std::isfinite(v) || c == without || (masked && c > r)) continue;
            low = std::min(low, v);
            high = std::max(high, v);
            if (v > 0) positive = std::min(positive, v);
          }
        }
        const ValueRange range = value_range(m, {masked, without});
        EXPECT_EQ(range.low, low);
        EXPECT_EQ(range.high, high);
        EXPECT_EQ(range.smallest_positive, positive);
      }
    }
  }
  const std::vector<float> none{kNan, kInfinity};
  EXPECT_EQ(value_range(Matrix::row(none)).magnitude(), 0);
}

TEST(RobustMagnitude, LeavesOutTheFractionThatItIsTold) {
  std::vector<float> values = noise(50000);
  values[7] = 1e6F;
  values[8] = kNan;
  const float magnitude = robust_magnitude(Matrix::row_major(values, 100, 500), 0.01);
  const auto beyond =
      std::count_if(values.begin(), values.end(), [&](float v) { return std::abs(v) > magnitude; });
  EXPECT_LE(beyond, 500);
  EXPECT_GE(beyond, 250);  // not far too wide
}

TEST(Legend, SaysWhereValuesLieBeyondIt) {
  ColorScale scale = diverging_scale(0.3);
  scale.values_above = scale.values_below = true;
  const Style style{light_theme(), *fonts(), 14, 1};
  Scene scene = testing::blank(200, 300);
  paint_color_scale(scene, scale, "", std::nullopt, {5, 5, 100, 250}, style);
  EXPECT_THAT(texts(scene), ::testing::Contains(::testing::HasSubstr("≥")));
  EXPECT_THAT(texts(scene), ::testing::Contains(::testing::HasSubstr("≤")));
}

TEST(RobustScale, SaysWhereValuesGoFurther) {
  std::vector<float> values(1000, 1.F);
  values[3] = -50;
  const ColorScale scale = robust_scale(Matrix::row(values), 0.01);
  EXPECT_LT(scale.high, 1.1);
  EXPECT_TRUE(scale.values_below);
  EXPECT_FALSE(scale.values_above);
  EXPECT_TRUE(robust_scale(Matrix::row(values), 0.01, {-50, 50, 0}).values_above);
}

TEST(MarkedScale, SaysWhereOnlyTheseValuesGoFurther) {
  const std::vector<float> wide{-3, 1, 1, 1}, narrow{-0.5F, 0.5F};
  ColorScale scale = diverging_scale(1);
  scale.values_above = true;  // of something else
  const ColorScale of_wide = marked_for(scale, value_range(Matrix::row(wide)));
  EXPECT_TRUE(of_wide.values_below);
  EXPECT_FALSE(of_wide.values_above);
  const ColorScale of_narrow = marked_for(of_wide, value_range(Matrix::row(narrow)));
  EXPECT_FALSE(of_narrow.values_below || of_narrow.values_above);
  EXPECT_EQ(of_narrow.high, 1);
}

}  // namespace
}  // namespace headscope::viz::scale_test
