#include "viz/charts/number_axis.h"

#include "tests/support/matchers.h"

namespace headscope::viz::number_axis_test {
namespace {

TEST(NumberAxis, LimitsAreRoundNumbersJustAboveTheValue) {
  for (double value = 1e-9; value < 1e9; value *= 1.013)
    EXPECT_LE(round_limit(value), 1.51 * value) << "a third of the axis stays empty";
  for (const auto& [value, limit] : {std::pair{1.0, 1.0},
                                     {0.11, 0.15},
                                     {0.2, 0.2},
                                     {0.21, 0.25},
                                     {0.26, 0.3},
                                     {0.51, 0.6},
                                     {22, 25},
                                     {28.3, 30},
                                     {81, 100},
                                     {1.01, 1.5},
                                     {0.05, 0.05},
                                     {3.1e-7, 4e-7},
                                     {0.001, 0.001},
                                     {7e20, 8e20}}) {
    EXPECT_NEAR(round_limit(value), limit, 1e-9 * limit) << value;
  }
  EXPECT_EQ(round_limit(0), 1);
  EXPECT_EQ(round_limit(std::nan("")), 1);
}

TEST(NumberAxis, PlacesNumbersAlongALengthThatMayLeadUp) {
  const NumberAxis axis{-1, 3};
  EXPECT_EQ(axis.along(0, 10, 80), 30);
  EXPECT_EQ(axis.along(0, 100, -80), 80);
  EXPECT_EQ(axis.along(4, 10, 80), 110) << "beyond its end";
  EXPECT_EQ(axis.clamped(4, 10, 80), 90);
  EXPECT_EQ((NumberAxis{2, 2}).along(2, 10, 80), 10) << "a range of nothing divides by nothing";
}

}  // namespace
}  // namespace headscope::viz::number_axis_test
