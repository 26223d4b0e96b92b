// Themes and colour maps for every reader; scales, their legends, and numbers as they are written.
#include "tests/support/matchers.h"
#include "tests/support/random_numbers.h"
#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/curves.h"
#include "viz/scene/colormap.h"
#include "viz/scene/contrast.h"
#include "viz/scene/scale.h"

namespace headscope::viz::colors_test {
namespace {

using namespace testing;
using ::testing::DoubleEq;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Themes : public ::testing::TestWithParam<bool> {
 protected:
  Theme theme_ = GetParam() ? dark_theme() : light_theme();
  /// +1 if larger values are lighter, as in the dark theme.
  double towards_ = GetParam() ? 1 : -1;
};
INSTANTIATE_TEST_SUITE_P(LightAndDark, Themes, ::testing::Values(false, true),
                         [](const auto& theme) { return theme.param ? "dark" : "light"; });

TEST_P(Themes, TextIsReadable) {
  for (const Color ground : {theme_.surface, theme_.window, theme_.raised}) {
    EXPECT_GE(contrast(theme_.text, ground), 7);
    EXPECT_GE(contrast(theme_.text_muted, ground), 4.5);
  }
  EXPECT_GE(contrast(theme_.on_accent, theme_.accent), 4.5);
  for (const Color role : {theme_.accent, theme_.query, theme_.key, theme_.value, theme_.error})
    EXPECT_GE(contrast(role, theme_.surface), 4.5);
}

TEST_P(Themes, QueryKeyAndValueAreToldApartByEveryReaderAndAreNoSign) {
  const Color roles[] = {theme_.query, theme_.key, theme_.value};
  const Color taken[] = {sign_color(theme_, 1), sign_color(theme_, -1), theme_.accent};
  const auto apart = [&](const auto& seen, double from_taken) {
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < i; ++k)
        EXPECT_GE(difference(seen(roles[i]), seen(roles[k])), 0.08) << i << ", " << k;
      for (const Color other : taken)
        EXPECT_GE(difference(seen(roles[i]), seen(other)), from_taken) << i << ", " << int{other.r};
    }
  };
  apart([](Color c) { return testing::oklab(testing::linear(c)); }, 0.13);
  // Six colours have no more room in the two dimensions that a colour-blind reader sees.
  for (const auto& matrix : kColourBlindness)
    apart([&](Color c) { return testing::oklab(seen_by(matrix, c)); }, 0.055);
}

TEST_P(Themes, SequentialLightnessIsMonotoneForEveryReader) {
  const auto grows = [&](const auto& seen, double step) {
    double previous = lightness(seen(sequential(theme_, 0)));
    for (int i = 1; i <= 64; ++i) {
      const double here = lightness(seen(sequential(theme_, i / 64.0)));
      EXPECT_GT((here - previous) * towards_, step) << i;
      previous = here;
    }
  };
  grows([](Color c) { return linear(c); }, 0.25);
  for (const auto& matrix : kColourBlindness) grows([&](Color c) { return seen_by(matrix, c); }, 0);
}

/// The ratio of the largest to the smallest of 40 equal steps, which should look alike.
double unevenness(const Theme& theme, Color (*map)(const Theme&, double), double from) {
  constexpr int kSteps = 40;
  double least = kInf, most = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double step = difference(map(theme, from + (1 - from) * i / kSteps),
                                   map(theme, from + (1 - from) * (i + 1) / kSteps));
    least = std::min(least, step);
    most = std::max(most, step);
  }
  return most / least;
}

TEST_P(Themes, StepsAreEven) {
  EXPECT_LT(unevenness(theme_, sequential, 0), 1.35);
  EXPECT_LT(unevenness(theme_, diverging, -1), 1.5);
}

TEST_P(Themes, DivergingSignsAreToldApartByColourBlindReaders) {
  for (const auto& matrix : kColourBlindness) {
    for (const double t : {0.4, 0.7, 1.0}) {
      const auto positive = testing::oklab(seen_by(matrix, diverging(theme_, t)));
      const auto negative = testing::oklab(seen_by(matrix, diverging(theme_, -t)));
      EXPECT_GT(difference(positive, negative), 0.05) << t;
    }
  }
}

TEST_P(Themes, CategoriesAreToldApartByEveryReaderAndStandOutFromTheGround) {
  constexpr int kCount = 7;
  const auto apart = [&](const auto& seen) {
    for (int i = 0; i < kCount; ++i)
      for (int j = 0; j < i; ++j)
        EXPECT_GE(difference(seen(categorical(theme_, i)), seen(categorical(theme_, j))), 0.08)
            << i << ", " << j;
  };
  apart([](Color c) { return testing::oklab(testing::linear(c)); });
  for (const auto& matrix : kColourBlindness)
    apart([&](Color c) { return testing::oklab(seen_by(matrix, c)); });
  for (int i = 0; i < kCount; ++i) EXPECT_GE(contrast(categorical(theme_, i), theme_.surface), 3) << i;
  for (const Color mark :
       {theme_.bar, theme_.field_line, theme_.accent, sign_color(theme_, 1), sign_color(theme_, -1)})
    EXPECT_GE(contrast(mark, theme_.surface), 3) << int{mark.r} << " " << int{mark.g} << " " << int{mark.b};
  EXPECT_EQ(categorical(theme_, kCount), categorical(theme_, 0));
}

TEST_P(Themes, LettersOnCellsAreReadableOnEveryColour) {
  for (int i = 0; i <= 200; ++i) {
    const double t = i / 200.0;
    for (const Color ground : {sequential(theme_, t), diverging(theme_, t), diverging(theme_, -t)})
      EXPECT_GE(contrast(text_on(theme_, ground), ground), 4.5) << t;
  }
}

TEST_P(Themes, DivergingIsNeutralAtZero) {
  const auto lab = testing::oklab(linear(diverging(theme_, 0)));
  EXPECT_LT(std::hypot(lab[1], lab[2]), 0.01);
  EXPECT_LT(difference(diverging(theme_, 0), theme_.surface), 0.09);
}

TEST_P(Themes, NotANumberAndTheAccentOccurInNoMap) {
  const Color nan = sequential(theme_, kNan);
  EXPECT_EQ(diverging(theme_, kNan), nan);
  for (int i = 0; i <= 256; ++i) {
    const double t = i / 256.0;
    for (const Color cell : {sequential(theme_, t), diverging(theme_, t), diverging(theme_, -t)}) {
      EXPECT_GT(difference(cell, nan), 0.2) << t;
      EXPECT_GT(difference(cell, theme_.accent), 0.1) << t;
    }
  }
}

TEST(NiceTicks, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(nice_ticks(0, 1, 6), ElementsAre(0, 0.2, 0.4, 0.6, 0.8, 1));
  EXPECT_THAT(nice_ticks(0, 1, 5), ElementsAre(0, 0.2, 0.4, 0.6, 0.8, 1));
  EXPECT_THAT(nice_ticks(-7.3, 12, 5), ElementsAre(-5, 0, 5, 10));
  EXPECT_THAT(nice_ticks(12, -7.3, 5), ElementsAre(-5, 0, 5, 10));
  EXPECT_THAT(nice_ticks(0.1, 0.35, 6), ElementsAre(DoubleEq(0.1), DoubleEq(0.15), DoubleEq(0.2),
                                                    DoubleEq(0.25), DoubleEq(0.3), DoubleEq(0.35)));
  EXPECT_THAT(nice_ticks(1e6, 1.5e6, 6), ElementsAre(1e6, 1.1e6, 1.2e6, 1.3e6, 1.4e6, 1.5e6));
  EXPECT_THAT(nice_ticks(3e-9, 9e-9, 3), ElementsAre(4e-9, 6e-9, 8e-9));
  // What is no range.
  EXPECT_THAT(nice_ticks(3, 3, 5), ElementsAre(3));
  EXPECT_THAT(nice_ticks(0, 0, 5), ElementsAre(0));
  EXPECT_THAT(nice_ticks(-kInf, 1, 5), IsEmpty());
  EXPECT_THAT(nice_ticks(0, kNan, 5), IsEmpty());
  EXPECT_THAT(nice_ticks(0, 1, 0), IsEmpty());
  EXPECT_LE(nice_ticks(-1e308, 1e308, 5).size(), 9U);
  EXPECT_LE(nice_ticks(0, 5e-324, 5).size(), 9U);
}

TEST(LogTicks, ArePowersOfTenWithStepsBetweenWhereThereIsRoom) {
  EXPECT_THAT(log_ticks(1e-4, 1, 5),
              ElementsAre(DoubleEq(1e-4), DoubleEq(1e-3), DoubleEq(1e-2), DoubleEq(0.1), 1));
  EXPECT_THAT(log_ticks(1, 100, 8), ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_THAT(log_ticks(1e-8, 1, 5),
              ElementsAre(DoubleEq(1e-8), DoubleEq(1e-6), DoubleEq(1e-4), DoubleEq(1e-2), 1));
  EXPECT_THAT(log_ticks(0, 1, 5), IsEmpty());
  EXPECT_THAT(log_ticks(-1, 1, 5), IsEmpty());
  EXPECT_LE(log_ticks(1e-300, 1e300, 4).size(), 4U);
}

TEST(TickLabel, IsAsShortAsTheStepAllows) {
  EXPECT_EQ(tick_label(0.25, 0.25), "0.25");
  EXPECT_EQ(tick_label(0.5, 0.25), "0.50");
  EXPECT_EQ(tick_label(1, 0.2), "1.0");
  EXPECT_EQ(tick_label(10, 5), "10");
  EXPECT_EQ(tick_label(-5, 5), "−5");
  EXPECT_EQ(tick_label(0, 0.1), "0");
  EXPECT_EQ(tick_label(-0.0, 0.1), "0");
  EXPECT_EQ(tick_label(1e-17, 0.1), "0.0");
  EXPECT_EQ(tick_label(-1e-17, 0.1), "0.0");
  EXPECT_EQ(tick_label(1e-6, 1e-6), "1e−6");
  EXPECT_EQ(tick_label(1.5e-6, 5e-7), "1.5e−6");
  EXPECT_EQ(tick_label(1500000, 500000), "1.5e6");
  EXPECT_EQ(tick_label(20000, 10000), "20000");
  EXPECT_EQ(tick_label(1e-6, 0), "1e−6");
  EXPECT_EQ(tick_label(0.001, 0), "0.001");
  EXPECT_EQ(tick_label(500, 0), "500");
  EXPECT_EQ(tick_label(-kInf, 1), "−∞");
}

TEST(Number, HasTheDigitsAskedForAndIsWholeBelowAMillion) {
  EXPECT_EQ(number(0.4123456), "0.4123");
  EXPECT_EQ(number(-0.4123456), "−0.4123");
  EXPECT_EQ(number(0.00041239, 3), "0.000412");
  EXPECT_EQ(number(12.3456), "12.35");
  EXPECT_EQ(number(0.5), "0.5000");
  EXPECT_EQ(number(99.996), "100.0");
  EXPECT_EQ(number(123456.7), "123457");
  EXPECT_EQ(number(23), "23");
  EXPECT_EQ(number(-1), "−1");
  EXPECT_EQ(number(50257), "50257");
  EXPECT_EQ(number(999000), "999000");
  EXPECT_EQ(number(1e6), "1.000e6");
  EXPECT_EQ(number(0.0), "0");
  EXPECT_EQ(number(-0.0), "0");
  EXPECT_EQ(number(-kInf), "−∞");
  EXPECT_EQ(number(kInf), "∞");
  EXPECT_EQ(number(kNan), "NaN");
  EXPECT_EQ(number(1.23456e-7), "1.235e−7");
  EXPECT_EQ(number(-1.5e300, 2), "−1.5e300");
  EXPECT_EQ(number(5e-324, 1), "5e−324");
}

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ColorScale, PlacesValuesOnTheMap) {
  EXPECT_EQ(linear_scale(4).parameter(1), 0.25);
  EXPECT_EQ(linear_scale(4).parameter(9), 1);
  EXPECT_EQ(linear_scale(4).parameter(-1), 0);
  EXPECT_EQ(linear_scale(0).high, 1);
  EXPECT_EQ(diverging_scale(2).parameter(-1), -0.5);
  EXPECT_EQ(diverging_scale(2).parameter(-kInfinity), -1);
  EXPECT_TRUE(std::isnan(linear_scale(1).parameter(kNoNumber)));
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
      EXPECT_EQ(table(kNoNumber), scale.color(theme, static_cast<double>(kNoNumber)));
    }
  }
}

TEST(ValueRange, LeavesOutWhatItIsTold) {
  constexpr int kSide = 67;
  std::vector<float> values = normal_numbers(kSide * kSide, 2, 3);
  values[5] = kInfinity;
  values[kSide * 20 + 3] = kNoNumber;
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
  const std::vector<float> none{kNoNumber, kInfinity};
  EXPECT_EQ(value_range(Matrix::row(none)).magnitude(), 0);
}

TEST(RobustMagnitude, LeavesOutTheFractionThatItIsTold) {
  std::vector<float> values = normal_numbers(50000, 2, 3);
  values[7] = 1e6F;
  values[8] = kNoNumber;
  const float magnitude = robust_magnitude(Matrix::row_major(values, 100, 500), 0.01);
  const auto beyond =
      std::count_if(values.begin(), values.end(), [&](float v) { return std::abs(v) > magnitude; });
  EXPECT_TRUE(250 <= beyond && beyond <= 500) << beyond;
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
  ColorScale scale = diverging_scale(1);
  scale.values_above = true;  // of something else
  const ColorScale of_wide = marked_for(scale, {-3, 1, 1}), of_narrow = marked_for(of_wide, {-0.5F, 0.5F, 0});
  EXPECT_TRUE(of_wide.values_below && !of_wide.values_above);
  EXPECT_FALSE(of_narrow.values_below || of_narrow.values_above);
}

}  // namespace
}  // namespace headscope::viz::colors_test
