#include "model/tokens/sampling.h"

#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/random_numbers.h"

namespace headscope::model::sampling_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<double> softmax_of(const std::vector<float>& logits, double temperature) {
  return softmax(logits, temperature);
}

/// The definition, in long double and without subtracting the maximum.
std::vector<double> softmax_by_the_book(const std::vector<float>& logits, double temperature) {
  long double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<long double>(logit) / temperature);
  std::vector<double> out;
  for (const float logit : logits) {
    out.push_back(static_cast<double>(std::exp(static_cast<long double>(logit) / temperature) / sum));
  }
  return out;
}

/// The probabilities of tokens that may be drawn: the definition, by sorting everything.
std::map<int, double> distribution_by_the_book(const std::vector<float>& logits,
                                               const SamplingOptions& options) {
  const std::vector<double> all = softmax_by_the_book(logits, options.temperature);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
  double left = 0;
  for (const int id : order) left += all[id];
  std::map<int, double> kept;
  double mass = 0;
  for (const int id : order) {
    kept[id] = all[id];
    mass += all[id];
    if (mass >= options.top_p * left) break;
  }
  for (auto& [id, probability] : kept) probability /= mass;
  return kept;
}

TEST(Softmax, HasAnAnswerForEveryValue) {
  EXPECT_THAT(softmax_of({1e30F, 1e30F, -1e30F}, 1), ElementsAre(0.5, 0.5, 0));
  EXPECT_THAT(softmax_of({-3e38F, 3e38F}, 1e-3), ElementsAre(0, 1));
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
      EXPECT_THAT(softmax(logits, temperature), ::testing::Each(::testing::IsNan()));
    }
  }
}

/// Draws with the random numbers of a seed.
std::vector<int> draws(const std::vector<float>& logits, const SamplingOptions& options, std::uint64_t seed,
                       int count) {
  Candidates candidates(logits, options);
  RandomNumbers numbers(seed);
  std::vector<int> ids(count);
  for (int& id : ids) id = candidates.best(candidates.draw(numbers.next()));
  return ids;
}

std::set<int> drawn(const std::vector<float>& logits, const SamplingOptions& options) {
  const std::vector<int> ids = draws(logits, options, 3, 500);
  return {ids.begin(), ids.end()};
}

const std::vector<SamplingOptions> kSomeOptions{{},
                                                {.temperature = 0.5},
                                                {.top_k = 4},
                                                {.top_p = 0.8},
                                                {.temperature = 1.5, .top_k = 8, .top_p = 0.7},
                                                {.top_k = 2, .top_p = 0.99},
                                                {.top_k = 100, .top_p = 1}};

TEST(Candidates, RefuseNaN) {
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0}, SamplingOptions{.top_p = 0.5}}) {
    EXPECT_THROW(Candidates(std::vector<float>{1, kNan, 2}, options), RunError);
    EXPECT_THROW(draw_token(std::vector<float>{kNan}, options, 1, 0), RunError);
  }
}

TEST(Candidates, AreTheDistributionByTheBook) {
  const std::vector<float> logits = normal_numbers(12, 2, 5);
  for (const SamplingOptions& options : kSomeOptions) {
    const std::map<int, double> expected = distribution_by_the_book(logits, options);
    Candidates candidates(logits, options);
    EXPECT_EQ(candidates.kept(), static_cast<int>(expected.size()));
    EXPECT_EQ(candidates.after_top_k(), options.top_k > 0 ? std::min(options.top_k, 12) : 12);
    double sum = 0;
    for (int rank = 0; rank < candidates.kept(); ++rank) {
      const int id = candidates.best(rank);
      ASSERT_TRUE(expected.contains(id)) << id;
      const double probability = candidates.probabilities()[id];
      EXPECT_NEAR(probability / candidates.mass(), expected.at(id), 1e-12);
      sum += probability;
    }
    EXPECT_NEAR(sum, candidates.mass(), 1e-12);
  }
}

TEST(Candidates, StandInTheirOrderWhicheverIsAskedFirst) {
  const std::vector<float> logits = normal_numbers(300, 2, 8);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return logits[a] > logits[b]; });
  Candidates candidates(logits, {.top_k = 7});
  for (const int rank : {200, 0, 299, 7, 6}) EXPECT_EQ(candidates.best(rank), order[rank]);
}

TEST(Candidates, ShareTheLineByTheirProbabilities) {
  // Of 8, 4, 2 and 2 sixteenths, top-p 0.75 leaves two, so that [0, 1) is divided at 2/3.
  const std::vector<float> logits{std::log(2.F), std::log(8.F), std::log(2.F), std::log(4.F)};
  Candidates two(logits, {.top_p = 0.74});
  EXPECT_EQ(two.kept(), 2);
  EXPECT_NEAR(two.mass(), 0.75, 1e-7);
  EXPECT_EQ(two.draw(0), 0);
  EXPECT_EQ(two.draw(0.666), 0);
  EXPECT_EQ(two.draw(0.667), 1);
  EXPECT_EQ(two.draw(0x1.fffffffffffffp-1), 1);
  Candidates all(logits, {});
  EXPECT_EQ(all.draw(0.51), 1);
  EXPECT_EQ(all.draw(0.76), 2);
  EXPECT_EQ(all.best(all.draw(0.99)), 2);  // the larger of two ids with equal probability
}

TEST(Draw, IsGivenBySeedAndPosition) {
  const std::vector<float> logits = normal_numbers(500, 2, 2);
  EXPECT_EQ(draws(logits, {.temperature = 2}, 1, 50), draws(logits, {.temperature = 2}, 1, 50));
  EXPECT_NE(draws(logits, {.temperature = 2}, 1, 50), draws(logits, {.temperature = 2}, 2, 50));
  // Four equal tokens divide [0, 1) in the order of their ids, so that the number's first two bits are the
  // id.
  std::mt19937_64 generator(1);
  for (int position = 0; position < 100; ++position) {
    const int id = static_cast<int>(generator() >> 62);
    EXPECT_EQ(draw_token(std::vector<float>{0, 0, 0, 0}, {}, 1, position), id);
  }
}

TEST(Draw, EveryOptionHasAMeaning) {
  const std::vector<float> logits = {0, 1, 2, -kInfinity};
  const double nan = static_cast<double>(kNan);
  for (const double top_p : {0.0, -1.0}) EXPECT_THAT(drawn(logits, {.top_p = top_p}), ElementsAre(2));
  for (const SamplingOptions& options :
       {SamplingOptions{.top_k = -5}, SamplingOptions{.top_p = nan}, SamplingOptions{.top_p = 2},
        SamplingOptions{.temperature = static_cast<double>(kInfinity)}})
    EXPECT_THAT(drawn(logits, options), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawn(logits, {.top_k = 2, .top_p = nan}), ElementsAre(1, 2));
  EXPECT_THAT(drawn({-3}, {}), ElementsAre(0));
}

}  // namespace
}  // namespace headscope::model::sampling_test
