#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/run/analyses/sweep.h"

namespace headscope::app::rank_correlation_test {
namespace {

TEST(RankCorrelation, OfKnownLists) {
  using Values = std::vector<double>;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rank_correlation(Values{1, 2, 30}, Values{8, 7, -5}), -1) << "only the order counts";
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(rank_correlation(Values{10, 20, 30, 40, 50}, Values{2, 1, 4, 3, 5}), 0.8, 1e-15);
  // Equal values share their rank: 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(rank_correlation(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
  EXPECT_EQ(rank_correlation(Values{1, kNan, 2, 100, 3}, Values{4, 9, 5, kInfinity, 6}), 1) << "left out";
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, kNan}, Values{2, 3}))) << "fewer than two pairs";
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3})));
}

}  // namespace
}  // namespace headscope::app::rank_correlation_test
