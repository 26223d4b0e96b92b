// What holds for every analysis of a run: it stops when it is told, and refuses places that are not there.
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/head_circuit.h"
#include "app/run/analyses/heads.h"
#include "app/run/analyses/logit_flow.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/saliency.h"
#include "app/run/analyses/score_sources.h"
#include "app/run/analyses/search.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"

namespace headscope::app::every_question_test {
namespace {

TEST(EveryQuestion, StopsWhenItIsTold) {
  const Scenario& s = scenario(12);
  const OverPrompts list{testing::list_of({{.text = "The king", .ids = {}}}), false};
  std::stop_source stop;
  stop.request_stop();
  model::Workspace workspace(1);
  const Question::ComputeContext context{{workspace, stop.get_token()}};
  for (const Question& question :
       {Question(AttributionOf{logit_at(11)}), Question(SaliencyOf{.method = SaliencyMethod::integrated}),
        Question(NeuronsOf{2, logit_at(11, TokenRef::of(11))}), Question(LogitFlowOf{logit_at(11)}),
        Question(LensOf{0}), Question(ScoreSourcesOf{5, 0, 11, 3}), Question(CompositionOf{}),
        Question(CopyingOfHead{0, 0}), Question(PairsOfHead{0, 0, {}}), Question(RolloutOf{1}),
        Question(MetricsOnRepeated{{8, 4, 0}}), Question(MetricsOnList{list}),
        Question(ActivationsOf{{{1, 1}}, list})})
    EXPECT_THROW(static_cast<void>(question.compute(*s.run, context)), model::Stopped) << question.name();
}

TEST(EveryQuestion, RefusesPlacesThatAreNotThereInOneSentence) {
  const Scenario& s = scenario(12);
  const int vocabulary = s.config().vocab_size, neurons = s.config().n_inner;
  model::Workspace workspace(1);
  for (const Question& question :
       {Question(AttributionOf{logit_at(0, TokenRef::of(vocabulary))}),
        Question(AttributionOf{difference_at(0, TokenRef::best(), TokenRef::of(-1))}),
        Question(LogitFlowOf{logit_at(0, TokenRef::of(vocabulary))}), Question(ScoreSourcesOf{6, 0, 0, 0}),
        Question(ScoreSourcesOf{0, -1, 0, 0}), Question(ScoreSourcesOf{0, 0, 12, 0}),
        Question(ScoreSourcesOf{0, 0, 0, 12}), Question(CopyingOfHead{6, 0}),
        Question(ActivationsOf{{{6, 0}}}), Question(ActivationsOf{{{0, neurons}}})}) {
    const Answer answer = question.compute(*s.run, {{workspace}});
    EXPECT_EQ(answer.value, nullptr) << question.name();
    EXPECT_TRUE(testing::is_sentence(answer.failure)) << question.name() << ": " << answer.failure;
  }
}

}  // namespace
}  // namespace headscope::app::every_question_test
