// The logit lens as a question: its rows, its parts, what is kept of it.
#include "app/run/logit_lens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/run/token_pass.h"
#include "model/error.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

using namespace testing;

void expect_same(const LogitLens& found, const LogitLens& expected) {
  ASSERT_EQ(found.places, expected.places);
  ASSERT_EQ(found.readings.size(), expected.readings.size());
  EXPECT_EQ(found.tokens, expected.tokens);
  for (std::size_t i = 0; i < found.readings.size(); ++i) {
    SCOPED_TRACE(i);
    const model::LensReading &a = found.readings[i], &b = expected.readings[i];
    EXPECT_EQ(a.divergence, b.divergence);
    EXPECT_EQ(a.guesses.next_probability, b.guesses.next_probability);
    EXPECT_EQ(a.guesses.next_rank, b.guesses.next_rank);
    ASSERT_EQ(a.guesses.top.size(), b.guesses.top.size());
    for (std::size_t g = 0; g < a.guesses.top.size(); ++g) {
      EXPECT_EQ(a.guesses.top[g].id, b.guesses.top[g].id);
      EXPECT_EQ(a.guesses.top[g].probability, b.guesses.top[g].probability);
    }
  }
}

TEST(LensOf, ReadsTheRowsOfThePassAtEveryPlace) {
  const Scenario& s = scenario(40);
  const auto lens = s.ask(LensOf{});
  const int layers = s.config().n_layer;
  ASSERT_EQ(lens->places, 2 * layers + 1);
  ASSERT_EQ(lens->positions(), 40);
  model::Workspace workspace(1);
  for (const int position : {0, 15, 16, 39}) {
    // The same rows by another way: the whole pass of one position.
    const auto pass = s.ask(PassOfToken{position});
    for (int place = 0; place < lens->places; ++place) {
      SCOPED_TRACE(std::to_string(position) + " at " + std::to_string(place));
      const auto [layer, mid] = lens_place(place);
      const std::vector<float>& row =
          mid ? pass->blocks[static_cast<std::size_t>(layer)]->resid_mid : pass->resid(layer);
      const std::vector<int> target{lens->answer(position)};
      const auto alone = s.run->model->transformer->lens(row, 1, target, LogitLens::kGuesses, workspace);
      const model::PositionStatistics &a = lens->at(position, place).guesses, &b = alone.at(0).guesses;
      EXPECT_EQ(a.log_sum_exp, b.log_sum_exp);
      EXPECT_EQ(a.next_probability, b.next_probability);
      EXPECT_EQ(a.next_rank, b.next_rank);
      EXPECT_EQ(a.top.size(), 5U);
      EXPECT_EQ(a.top.front().id, b.top.front().id);
    }
  }
}

TEST(LensOf, EndsInTheModelsOwnGuess) {
  const Scenario& s = scenario(40);
  const auto lens = s.ask(LensOf{});
  const auto statistics = s.ask(StatisticsOfTokens{});
  for (int position = 0; position < 40; ++position) {
    const model::LensReading& end = lens->at(position, lens->places - 1);
    const auto& top = statistics->positions[static_cast<std::size_t>(position)].top;
    EXPECT_EQ(end.divergence, 0);
    EXPECT_EQ(end.guesses.next_rank, 0);
    EXPECT_EQ(lens->answer(position), top.front().id);
    EXPECT_EQ(end.guesses.next_probability, top.front().probability);
    for (std::size_t g = 0; g < top.size(); ++g) EXPECT_EQ(end.guesses.top[g].id, top[g].id);
  }
}

TEST(LensOf, GoesOnFromWhatWasShownBeforeItWasStopped) {
  const Scenario& s = scenario(40);
  model::Workspace workspace(1);
  std::stop_source stop;
  LogitLens begun;
  std::vector<int> shown;
  const Work<LogitLens> work{workspace, stop.get_token(), nullptr, nullptr, [&](LogitLens part, double done) {
                               EXPECT_DOUBLE_EQ(done, part.positions() / 40.0);
                               shown.push_back(part.positions());
                               begun = std::move(part);
                               stop.request_stop();
                             }};
  EXPECT_THROW(LensOf{}.compute(*s.run, work), model::Stopped);
  EXPECT_THAT(shown, ::testing::ElementsAre(16));
  EXPECT_GT(begun.bytes(), 16U * static_cast<std::size_t>(begun.places) * 5 * sizeof(model::Guess));
  shown.clear();
  const LogitLens rest =
      LensOf{}.compute(*s.run, {workspace, {}, &begun, nullptr, [&](const LogitLens& part, double) {
                                  shown.push_back(part.positions());
                                }});
  EXPECT_THAT(shown, ::testing::ElementsAre(32));
  expect_same(rest, *s.ask(LensOf{}));
}

TEST(LensOf, TakesTheSameTokensFromTheFormerRun) {
  const Scenario &longer = scenario(40), &shorter = scenario(23);
  model::Workspace workspace(1);
  const auto former = shorter.ask(LensOf{});
  std::vector<int> shown;
  const LogitLens found = LensOf{}.compute(
      *longer.run, {workspace, {}, nullptr, former.get(), [&](const LogitLens& part, double) {
                      shown.push_back(part.positions());
                    }});
  EXPECT_THAT(shown, ::testing::ElementsAre(39)) << "the first 23 are not computed again";
  expect_same(found, *longer.ask(LensOf{}));
  // And fewer tokens from a longer one, without any work.
  const auto nothing = [](const LogitLens&, double) { ADD_FAILURE(); };
  expect_same(LensOf{}.compute(*shorter.run, {workspace, {}, nullptr, &found, nothing}), *former);
}

}  // namespace
}  // namespace headscope::app
