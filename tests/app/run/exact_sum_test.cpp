#include "app/run/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace headscope::app::exact_sum_test {
namespace {

ExactSum sum_of(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double number : numbers) sum.add(number);
  return sum;
}

SampleMean mean_of(const std::vector<double>& numbers) {
  SampleMean mean;
  for (const double number : numbers) mean.add(number);
  return mean;
}

/// Numbers of very different sizes and both signs.
std::vector<double> mixed_numbers(int count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-60, 60);
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(std::ldexp(mantissa(random), exponent(random)));
  return numbers;
}

TEST(ExactSum, LosesNothing) {
  EXPECT_EQ(sum_of({1e100, 1, -1e100}).value(), 1);
  EXPECT_EQ(sum_of({}).value(), 0);
  EXPECT_TRUE(sum_of({3, -3}).parts().empty());
  std::vector<double> numbers = mixed_numbers(1000);
  for (const double number : std::vector(numbers)) numbers.push_back(-number);
  numbers.push_back(0x1p-60);
  EXPECT_EQ(sum_of(numbers).value(), 0x1p-60);
}

TEST(ExactSum, RoundsOnceAndHalvesToEven) {
  EXPECT_EQ(sum_of({1, 0x1p-53}).value(), 1);
  EXPECT_EQ(sum_of({1, 0x1p-53, 0x1p-200}).value(), 1 + 0x1p-52);
  EXPECT_EQ(sum_of({1, 0x1p-53, -0x1p-200}).value(), 1);
  EXPECT_EQ(sum_of({1 + 0x1p-52, 0x1p-53}).value(), 1 + 0x1p-51);
  EXPECT_EQ(sum_of({-1, -0x1p-53, -0x1p-200}).value(), -1 - 0x1p-52);
}

TEST(ExactSum, IsTheSameInAnyOrderAndOfAnyParts) {
  std::vector<double> numbers = mixed_numbers(500);
  const ExactSum whole = sum_of(numbers);
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 20; ++turn) {
    std::ranges::shuffle(numbers, random);
    const auto middle = numbers.begin() + 25 * turn;
    ExactSum merged = sum_of({numbers.begin(), middle});
    merged += sum_of({middle, numbers.end()});
    EXPECT_EQ(merged.value(), whole.value());
    EXPECT_EQ(merged.parts(), whole.parts());
    EXPECT_EQ(sum_of(whole.parts()).parts(), whole.parts()) << "what is written is read again";
  }
}

TEST(ExactSum, ProductsAreNotRounded) {
  ExactSum sum;
  const double a = 1 + 0x1p-30, b = 1 - 0x1p-30;  // their product is 1 - 2^-60
  sum.add_product(a, b);
  sum.add(-1);
  EXPECT_EQ(sum.value(), -0x1p-60);
}

TEST(SampleMean, IsWhatTheFormulasSay) {
  const SampleMean mean = mean_of({1, 2, 3, 4});
  EXPECT_EQ(mean.mean(), 2.5);
  EXPECT_DOUBLE_EQ(mean.standard_error(), std::sqrt(5.0 / 3 / 4));
  EXPECT_EQ(mean.count(), 4);
  EXPECT_EQ(mean_of({7}).mean(), 7);
  EXPECT_TRUE(std::isnan(mean_of({7}).standard_error()));
  EXPECT_TRUE(std::isnan(mean_of({}).mean()));
  EXPECT_EQ(mean_of({5, 5, 5}).standard_error(), 0);
}

TEST(SampleMean, ASmallSpreadAroundALargeMeanIsNotLost) {
  EXPECT_DOUBLE_EQ(mean_of({1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}).standard_error(), std::sqrt(5.0 / 3 / 4));
}

TEST(SampleMean, LeavesOutWhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const SampleMean mean =
      mean_of({1, std::numeric_limits<double>::quiet_NaN(), 3, kInfinity, -kInfinity, 1e200});
  EXPECT_EQ(mean.count(), 2);
  EXPECT_EQ(mean.mean(), 2);
}

}  // namespace
}  // namespace headscope::app::exact_sum_test
