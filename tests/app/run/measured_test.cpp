// From what is asked for to the metric of one run.
#include "app/run/analyses/measured.h"

#include "model/files/error.h"
#include "model/pass/statistics.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"

namespace headscope::app::measured_test {
namespace {

class MeasuredTest : public ::testing::Test {
 protected:
  static PromptRun run_of(const std::string& text, const model::Edits& edits = {}) {
    return *Scenario(Prompt{text, {}, false, edits}).run;
  }
  std::vector<float> logits(const PromptRun& run, int position) {
    std::vector<float> all(run.run->config.vocab_size);
    run.model->transformer->logits(*run.run, position, 1, workspace_, all);
    return all;
  }
  int guess(const PromptRun& run, int position, int rank = 0) {
    return model::largest_logits(logits(run, position), rank + 1).back().id;
  }
  model::Metric metric(const Measured& of, const PromptRun& run) {
    return gradient_metric(resolved(of, run, workspace_), run, workspace_);
  }

  model::Workspace workspace_{1};
};

const char* const kText = "The old king had a dog";
const model::Edits kEdit{model::SetValues{{{model::Site::logits}, {}, {}, {17}}, {1000}}};

TEST_F(MeasuredTest, RanksAreGuessesAtThePosition) {
  const PromptRun run = run_of(kText);
  const int last = run.run->length() - 1;
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(run, last), last}}));
  EXPECT_EQ(metric({.metric = Metric::difference, .position = 1}, run),
            (model::Metric{model::LogitDifference{guess(run, 1), guess(run, 1, 1), 1}}));
  EXPECT_EQ(metric({Metric::log_probability, TokenRef::of(7)}, run),
            (model::Metric{model::LogProbability{7, last}}));
  EXPECT_EQ(metric({Metric::loss}, run), model::Metric{model::PromptLoss{}});
}

TEST_F(MeasuredTest, RanksOfAnEditedRunAreThoseOfTheUneditedOne) {
  PromptRun run = run_of(kText, kEdit);
  const PromptRun unedited = run_of(kText);
  const int last = run.run->length() - 1;
  ASSERT_NE(guess(run, last), guess(unedited, last));
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(run, last), last}}))
      << "no baseline";
  compare_with_unedited(run, unedited.run);
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(unedited, last), last}}));
}

TEST_F(MeasuredTest, ADivergenceIsFromTheBaselineAtTheCounterpart) {
  PromptRun run = run_of(kText);
  const auto other = std::make_shared<const PromptRun>(run_of("The old"));
  ASSERT_LT(other->run->length(), run.run->length());
  EXPECT_THAT(testing::message_of<model::RunError>([&] { metric({Metric::divergence}, run); }),
              HasSubstr("KL needs a baseline"));
  compare_with(run, other, Alignment::position);
  const int last = run.run->length() - 1;
  EXPECT_EQ(metric({.metric = Metric::divergence, .position = 0}, run),
            (model::Metric{model::Divergence{logits(*other, 0), 0}}));
  for (const int position : {-1, last})
    EXPECT_THAT(testing::message_of<model::RunError>(
                    [&] { metric({.metric = Metric::divergence, .position = position}, run); }),
                HasSubstr("after position " + std::to_string(last) + ", which has no counterpart"));
  const auto end = std::make_shared<const PromptRun>(run_of("He had a dog"));
  compare_with(run, end, Alignment::subsequence);
  ASSERT_EQ(run.aligned[last], end->run->length() - 1);
  for (const int position : {-1, last})
    EXPECT_EQ(metric({.metric = Metric::divergence, .position = position}, run),
              (model::Metric{model::Divergence{logits(*end, end->run->length() - 1), last}}));
}

}  // namespace
}  // namespace headscope::app::measured_test
