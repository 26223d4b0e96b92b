// Nothing that the worker keeps from one request is used for a different one: each test changes one thing and
// expects the answers of a new worker.
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/worker.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::app::worker_keeps_test {
namespace {

using model::Site;

template <class Q>
std::shared_ptr<const AnswerOf<Q>> answer_of(const Snapshot& snapshot, const Question& question) {
  const auto known = snapshot.answers->find(question);
  return known ? std::static_pointer_cast<const AnswerOf<Q>>(known->value) : nullptr;
}

class WorkerKeeps : public ::testing::Test {
 protected:
  WorkerKeeps() {
    want_.model = headscope::testing::source_dir() / "assets" / "models" / "tales";
    want_.load_request = 1;
    want_.prompt.text = "The old king had three daughters";
  }

  std::shared_ptr<const Snapshot> settled() {
    worker_.want(want_);
    return worker_.settle();
  }
  std::shared_ptr<const Snapshot> afresh() const {
    Worker fresh({.threads = 1, .wake = nullptr});
    fresh.want(want_);
    return fresh.settle();
  }
  void expect_logits_as_afresh() {
    want_.questions = {NextAfter{-1}};
    const auto found = settled(), expected = afresh();
    EXPECT_EQ(found->error, expected->error);
    const auto next = answer_of<NextAfter>(*found, NextAfter{-1});
    ASSERT_TRUE(next);
    EXPECT_EQ(next->logits, answer_of<NextAfter>(*expected, NextAfter{-1})->logits);
  }

  WorkerRequest want_;
  std::function<void(const Snapshot&)> on_snapshot_;  // on the worker's thread; set only while it is idle
  Worker worker_{{.threads = 2, .wake = [this] {
                    if (on_snapshot_) on_snapshot_(*worker_.snapshot());
                  }}};  // last: its thread calls the member above
};

TEST_F(WorkerKeeps, NoPlanForOtherEdits) {
  for (const int head : {2, 1}) {
    want_.prompt.edits = {model::ScaleValues{{{Site::z, 3}, head, {}, {}}, 0}};
    expect_logits_as_afresh();
  }
}

TEST_F(WorkerKeeps, NoPlanForAnotherModel) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  want_.prompt.edits = {model::PatchFrom{{{Site::attn_out, 0}, {}, {0, 1}, {}}, {11, 12}, {}}};
  expect_logits_as_afresh();
  want_.model = other.path();
  ++want_.load_request;
  expect_logits_as_afresh();
}

TEST_F(WorkerKeeps, NoComparisonOfTokensThatStoodForOthers) {
  const Question difference = Question(PatternOf{0, 0}).difference();
  want_.questions = {difference};
  want_.second = Prompt{"The king had three daughters", {}, false};
  for (const Alignment alignment : {Alignment::position, Alignment::subsequence}) {
    want_.alignment = alignment;
    const auto found = settled(), expected = afresh();
    ASSERT_EQ(found->run->aligned, expected->run->aligned);
    EXPECT_EQ(answer_of<PatternOf>(*found, difference)->values,
              answer_of<PatternOf>(*expected, difference)->values);
  }
}

TEST_F(WorkerKeeps, TheDifferencesOfTwoQuestionsApart) {
  const Question difference = Question(PatternOf{0, 0}).difference(),
                 another = Question(PatternOf{0, 1}).difference();
  EXPECT_FALSE(difference == another);
  EXPECT_FALSE(Question(PatternOf{0, 0}).on_baseline() == Question(PatternOf{0, 1}).on_baseline());
}

TEST_F(WorkerKeeps, TheModelWhereTheLoadOfAnotherIsGivenUp) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  const auto previous = settled();
  want_.model = other.path();
  ++want_.load_request;
  WorkerRequest given_up = want_;
  given_up.load_cancel = given_up.load_request;
  on_snapshot_ = [&](const Snapshot& shown) {
    if (shown.busy == Busy::loading) worker_.want(given_up);
  };
  const auto shown = settled();
  on_snapshot_ = nullptr;
  EXPECT_EQ(shown->model, previous->model);
  EXPECT_EQ(shown->error, "");
  EXPECT_NE(shown->busy, Busy::loading);
}

}  // namespace
}  // namespace headscope::app::worker_keeps_test
