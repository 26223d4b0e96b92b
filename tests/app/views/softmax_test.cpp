// The softmax view: known numbers for its examples, the model's own for the row.

#include "tests/app/view_fixture.h"

namespace headscope::app::softmax_test {
namespace {

constexpr int kQuery = 6;

std::vector<float> column(const Table& table, const std::string& name) {
  const std::vector<double> numbers = numbers_of(table, name);
  return {numbers.begin(), numbers.end()};
}

TEST(SoftmaxView, ThreeNumbersOfEverySize) {
  const Scenario s(kRobot);
  const auto weights = [&](const char* from) {
    return column(ViewFixture("softmax", s, 900, 600, {{"scores-from", from}}).table(), "weight");
  };
  const std::vector<float> one = weights("one"), ten = weights("ten"), hundred = weights("hundred");
  EXPECT_NEAR(one[0], 0.0900, 5e-5);
  EXPECT_NEAR(one[1], 0.2447, 5e-5);
  EXPECT_NEAR(one[2], 0.6652, 5e-5);
  EXPECT_NEAR(ten[0] / std::exp(-20.0), 1, 1e-3);
  EXPECT_NEAR(ten[1] / std::exp(-10.0), 1, 1e-3);
  // Far below the smallest normal number, and not flushed to zero.
  EXPECT_EQ(hundred[1], 3.7835e-44F);
  EXPECT_GT(hundred[1], 0);
  EXPECT_EQ(hundred[0], 0);
  EXPECT_EQ(hundred[2], 1);
}

TEST(SoftmaxView, TheRowIsTheModelsAtItsOwnScaleAndSpikesWithout) {
  Scenario s(kRobot, {1, 2, kQuery});
  const auto& head = reference_head(s);
  const std::vector<float> weights = column(ViewFixture("softmax", s, 900, 600).table(), "weight");
  ASSERT_EQ(weights.size(), static_cast<std::size_t>(kQuery) + 1);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    EXPECT_NEAR(weights[k], head.weights[kQuery][k], 5e-5);
    EXPECT_EQ(weights[k], s.weight(kQuery, static_cast<int>(k)));
  }
  // Any other scale, compared with the reference's scores.
  const double factor = 2.5 / std::sqrt(static_cast<double>(s.config().d_head()));
  double sum = 0, plain_sum = 0;
  for (std::size_t k = 0; k <= kQuery; ++k) {
    sum += std::exp(factor * head.scores[kQuery][k]);
    plain_sum += std::exp(head.scores[kQuery][k]);
  }
  const Table scaled = ViewFixture("softmax", s, 900, 600, {{"softmax-scale", "2.5"}}).table();
  for (std::size_t k = 0; k <= kQuery; ++k) {
    EXPECT_NEAR(column(scaled, "weight")[k], std::exp(factor * head.scores[kQuery][k]) / sum, 2e-4);
    EXPECT_NEAR(column(scaled, "unscaled")[k], std::exp(head.scores[kQuery][k]) / plain_sum, 2e-4);
  }
}

}  // namespace
}  // namespace headscope::app::softmax_test
