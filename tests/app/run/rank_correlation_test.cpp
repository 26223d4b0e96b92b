#include "app/run/analyses/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace headscope::app::rank_correlation_test {
namespace {

using Values = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RankCorrelation, OfKnownLists) {
  EXPECT_EQ(rank_correlation(Values{1, 2, 30}, Values{-5, 7, 8}), 1) << "only the order counts";
  EXPECT_EQ(rank_correlation(Values{1, 2, 30}, Values{8, 7, -5}), -1);
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(rank_correlation(Values{10, 20, 30, 40, 50}, Values{2, 1, 4, 3, 5}), 0.8, 1e-15);
}

TEST(RankCorrelation, EqualValuesShareTheirRank) {
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(rank_correlation(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
}

TEST(RankCorrelation, PairsThatAreNotFiniteAreLeftOut) {
  EXPECT_EQ(rank_correlation(Values{1, kNan, 2, 100, 3}, Values{4, 9, 5, kInfinity, 6}), 1);
}

TEST(RankCorrelation, OfFewerThanTwoPairsOrOfEqualValuesIsNone) {
  EXPECT_TRUE(std::isnan(rank_correlation({}, {})));
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1}, Values{2})));
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, kNan}, Values{2, 3})));
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3})));
}

}  // namespace
}  // namespace headscope::app::rank_correlation_test
