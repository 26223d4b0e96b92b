#include "model/sampling.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "model/error.h"

namespace headscope::model {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<double> softmax_of(const std::vector<float>& logits, double temperature) {
  std::vector<double> out(logits.size());
  softmax(logits, temperature, out);
  return out;
}

std::vector<float> random_logits(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

/// The definition, in long double and without the maximum.
std::vector<double> softmax_by_the_book(const std::vector<float>& logits, double temperature) {
  long double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<long double>(logit) / temperature);
  std::vector<double> out;
  for (const float logit : logits) {
    out.push_back(static_cast<double>(std::exp(static_cast<long double>(logit) / temperature) / sum));
  }
  return out;
}

/// What may be drawn, and how often: the definition, by sorting everything.
std::map<int, double> distribution_by_the_book(const std::vector<float>& logits,
                                               const SamplingOptions& options) {
  const std::vector<double> all = softmax_by_the_book(logits, options.temperature);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
  std::map<int, double> kept;
  double mass = 0;
  for (const int id : order) {
    kept[id] = all[id];
    mass += all[id];
    if (mass >= options.top_p) break;
  }
  for (auto& [id, probability] : kept) probability /= mass;
  return kept;
}

TEST(Softmax, IsTheDefinition) {
  for (const double temperature : {0.3, 1.0, 1.7}) {
    const std::vector<float> logits = random_logits(1000, 1);
    const std::vector<double> found = softmax_of(logits, temperature);
    EXPECT_THAT(found, Pointwise(DoubleNear(1e-14), softmax_by_the_book(logits, temperature)));
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-12);
  }
}

TEST(Softmax, BearsLargeLogits) {
  EXPECT_THAT(softmax_of({1e30F, 1e30F, -1e30F}, 1), ElementsAre(0.5, 0.5, 0));
  EXPECT_THAT(softmax_of({-3e38F, 3e38F}, 1e-3), ElementsAre(0, 1));
}

TEST(Softmax, HasAnAnswerForEveryValue) {
  EXPECT_THAT(softmax_of({1, 3, 3, 2}, 0), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(softmax_of({1, 3, 3, 2}, -1), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(softmax_of({1, 3, 3, 2}, static_cast<double>(kNan)), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(softmax_of({1, 3}, 1e-310), ElementsAre(0, 1));
  EXPECT_THAT(softmax_of({1, 3, -kInfinity}, static_cast<double>(kInfinity)), ElementsAre(0.5, 0.5, 0));
  EXPECT_THAT(softmax_of({-kInfinity, 0}, 1), ElementsAre(0, 1));
  EXPECT_THAT(softmax_of({kInfinity, 0, kInfinity}, 1), ElementsAre(0.5, 0, 0.5));
  EXPECT_THAT(softmax_of({-kInfinity, -kInfinity}, 0), ElementsAre(0.5, 0.5));
}

TEST(Softmax, OfNaNIsNaN) {
  for (const std::vector<float>& logits :
       {std::vector<float>{0, 1, kNan}, {kNan, kInfinity}, {kNan, -kInfinity}, {kNan, kNan}}) {
    for (const double temperature : {0.0, 1.0, 2.0}) {
      EXPECT_THAT(softmax_of(logits, temperature), ::testing::Each(::testing::IsNan()));
    }
  }
}

TEST(Sampler, RefusesNaN) {
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0}, SamplingOptions{.top_p = 0.5}}) {
    Sampler sampler(options, 1);
    EXPECT_THROW(sampler.draw(std::vector<float>{1, kNan, 2}), RunError);
    EXPECT_THROW(sampler.draw(std::vector<float>{kNan}), RunError);
  }
}

TEST(Sampler, DrawsEachTokenAsOftenAsItIsProbable) {
  const std::vector<float> logits = random_logits(12, 5);
  constexpr int kDraws = 40'000;
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.5}, SamplingOptions{.top_k = 4},
        SamplingOptions{.top_p = 0.8}, SamplingOptions{.temperature = 1.5, .top_k = 8, .top_p = 0.7},
        SamplingOptions{.top_k = 2, .top_p = 0.99}, SamplingOptions{.top_k = 100, .top_p = 1}}) {
    const std::map<int, double> expected = distribution_by_the_book(logits, options);
    Sampler sampler(options, 99);
    std::map<int, int> counts;
    for (int i = 0; i < kDraws; ++i) ++counts[sampler.draw(logits)];
    for (const auto& [id, count] : counts) EXPECT_TRUE(expected.contains(id)) << id;
    for (const auto& [id, probability] : expected) {
      const double deviation = std::sqrt(probability * (1 - probability) / kDraws);
      EXPECT_NEAR(static_cast<double>(counts[id]) / kDraws, probability, 5 * deviation + 1e-4) << id;
    }
  }
}

TEST(Sampler, IsGivenBySeedAndState) {
  const std::vector<float> logits = random_logits(500, 2);
  const auto draws = [&](std::uint64_t seed) {
    Sampler sampler({.temperature = 2}, seed);
    std::vector<int> ids(50);
    for (int& id : ids) id = sampler.draw(logits);
    return ids;
  };
  EXPECT_EQ(draws(1), draws(1));
  EXPECT_NE(draws(1), draws(2));
  // Four equal tokens share [0, 1) in the order of their ids, so that the number's first two bits are the id.
  std::mt19937_64 generator(1);
  Sampler sampler({}, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(sampler.draw(std::vector<float>{0, 0, 0, 0}), static_cast<int>(generator() >> 62));
  }
}

TEST(Sampler, EveryDrawTakesOneNumber) {
  const std::vector<float> logits = random_logits(100, 3);
  Sampler plain({.temperature = 3}, 4), other({.temperature = 3}, 4);
  plain.draw(logits);
  EXPECT_THROW(other.draw(std::vector<float>{kNan, 1}), RunError);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(plain.draw(logits), other.draw(logits));
}

TEST(Sampler, WithoutTemperatureTakesTheFirstOfTheBest) {
  for (const double temperature : {0.0, -1.0}) {
    for (const int top_k : {0, 1, 3}) {
      Sampler sampler({.temperature = temperature, .top_k = top_k}, 1);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(sampler.draw(std::vector<float>{1, 7, 7, 2}), 1);
    }
  }
}

TEST(Sampler, TiesGoToTheSmallerIds) {
  const auto drawn = [](SamplingOptions options) {
    Sampler sampler(options, 3);
    std::set<int> ids;
    for (int i = 0; i < 300; ++i) ids.insert(sampler.draw(std::vector<float>(10, 0.5F)));
    return ids;
  };
  EXPECT_THAT(drawn({.top_k = 3}), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawn({.top_p = 0.35}), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(drawn({}).size(), 10);
}

TEST(Sampler, EveryOptionHasAMeaning) {
  const std::vector<float> logits = {0, 1, 2, -kInfinity};
  for (const double top_p : {0.0, -1.0}) {
    Sampler sampler({.top_p = top_p}, 1);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(sampler.draw(logits), 2);
  }
  for (const SamplingOptions& options :
       {SamplingOptions{.top_k = -5}, SamplingOptions{.top_p = static_cast<double>(kNan)},
        SamplingOptions{.top_p = 2}, SamplingOptions{.temperature = static_cast<double>(kInfinity)}}) {
    Sampler sampler(options, 1);
    std::set<int> ids;
    for (int i = 0; i < 500; ++i) ids.insert(sampler.draw(logits));
    EXPECT_THAT(ids, ElementsAre(0, 1, 2));
  }
  Sampler sampler({}, 1);
  EXPECT_EQ(sampler.draw(std::vector<float>{-3}), 0);
}

}  // namespace
}  // namespace headscope::model
