// Tried continuations of prompts, as values.
#include "app/run/tries.h"

#include "tests/support/matchers.h"

namespace headscope::app::tries_test {
namespace {

using ::testing::IsNan;

using Ids = std::vector<int>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

Tries step(Tries tries, const Ids& before, const Ids& now, const std::vector<double>& probabilities = {}) {
  return with_step(std::move(tries), before, now, probabilities);
}

TEST(Tries, TokenAfterTokenIsOneTextAndAnotherTokenAfterGoingBackIsAnother) {
  Tries tries = step({}, {1, 2}, {1, 2, 3}, {0.5});
  tries = step(std::move(tries), {1, 2, 3}, {1, 2, 3, 4}, {0.25});
  EXPECT_THAT(tries.at(0).ids, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tries[0].probabilities, ElementsAre(0.5, 0.25));
  EXPECT_EQ(step(tries, {1, 2, 3, 4}, {1, 2, 3}), tries);
  tries = step(std::move(tries), {1, 2, 3}, {1, 2, 3, 7}, {0.125});
  ASSERT_EQ(tries.size(), 2U);
  EXPECT_THAT(tries[1].ids, ElementsAre(1, 2, 3, 7));
  EXPECT_EQ(tries[1].start(), 2) << "both began at the same prompt";
  EXPECT_THAT(tries[1].probabilities, ElementsAre(0.5, 0.125)) << "what is known of the 3 stays known";
}

TEST(Tries, WhatAnEarlierBeginningTellsIsOfTheSameTokens) {
  Tries tries = step({}, {1, 2, 3, 4, 9}, {1, 2, 3, 4, 5, 6});
  tries = step(std::move(tries), {1, 2, 9}, {1, 2, 3, 4, 5, 7}, {0.5, 0.25, 0.125, 0.0625});
  const auto known = std::ranges::find(tries, Ids{1, 2, 3, 4, 5, 6}, &TriedText::ids);
  ASSERT_NE(known, tries.end());
  EXPECT_EQ(known->probabilities.at(static_cast<std::size_t>(4 - known->start())), 0.125) << "of the 5";
}

TEST(Tries, WhatWasLeftCanBeGoneBackTo) {
  const Tries tries = step({}, {1, 2, 3, 4}, {1, 2, 9}, {0.5});
  ASSERT_EQ(tries.size(), 2U);
  EXPECT_THAT(tries[0].ids, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(tries[0].start(), 2);
  EXPECT_THAT(tries[0].probabilities, ElementsAre(IsNan(), IsNan()));
  EXPECT_THAT(tries[1].ids, ElementsAre(1, 2, 9));
}

TEST(Tries, SeveralTokensAtOnceHaveTheProbabilitiesOfTheLast) {
  const Tries tries = step({}, {1}, {1, 2, 3, 4}, {0.5, 0.25});
  ASSERT_EQ(tries.size(), 1U);
  EXPECT_THAT(tries[0].probabilities, ElementsAre(IsNan(), 0.5, 0.25));
}

TEST(Tries, StepsBackBehindWhereItBeganLoseNothing) {
  Tries tries = step({}, {1, 2, 3}, {1, 2, 3, 4}, {0.5});
  tries = step(std::move(tries), {1, 2, 3, 4}, {1, 2, 3});
  tries = step(std::move(tries), {1, 2, 3}, {1, 2});
  ASSERT_EQ(tries_of(tries, Ids{1, 2}).size(), 1U);
  EXPECT_EQ(tries_of(tries, Ids{1, 2})[0]->ids, (Ids{1, 2, 3, 4}));
  EXPECT_THAT(tries[0].probabilities, ElementsAre(IsNan(), 0.5));
  tries = step(std::move(tries), {1, 2}, {1, 2, 3}, {0.25});
  EXPECT_THAT(tries[0].probabilities, ElementsAre(0.25, 0.5)) << "now it is known";
  // All in one step gives the same.
  tries = step(step({}, {1, 2, 3}, {1, 2, 3, 4}, {0.5}), {1, 2, 3, 4}, {1});
  ASSERT_EQ(tries_of(tries, Ids{1}).size(), 1U);
}

TEST(Tries, TheOldestAreForgotten) {
  Tries tries;
  for (int i = 0; i < 150; ++i) tries = step(std::move(tries), {1, 2}, {1, 2, 100 + i}, {0.5});
  EXPECT_EQ(tries.size(), kMaxTries);
  EXPECT_EQ(tries.back().ids.back(), 249);
}

}  // namespace
}  // namespace headscope::app::tries_test
