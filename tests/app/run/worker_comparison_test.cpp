// The worker's answers about a run, its baseline and their difference.
#include "app/run/analyses/patterns.h"
#include "tests/app/run/worker_fixture.h"

namespace headscope::app::worker_comparison_test {
namespace {

TEST(Alignment, IsByPositionOrByTheLongestCommonSubsequence) {
  const std::vector<int> tokens{5, 6, 7, 8}, others{5, 9, 6, 8};
  EXPECT_EQ(aligned_positions(tokens, others, Alignment::position), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(aligned_positions(tokens, others, Alignment::subsequence), (std::vector<int>{0, 2, -1, 3}));
  EXPECT_EQ(aligned_positions(tokens, std::vector<int>{6}, Alignment::position),
            (std::vector<int>{0, -1, -1, -1}));
  EXPECT_EQ(aligned_positions(tokens, {}, Alignment::subsequence), (std::vector<int>(4, -1)));
  // If several are possible, the one with the earliest tokens.
  EXPECT_EQ(aligned_positions(std::vector<int>{1, 1, 2}, std::vector<int>{1, 2}, Alignment::subsequence),
            (std::vector<int>{0, -1, 1}));
}

/// The lengths of the prompt and of its baseline. Nothing can be subtracted from 0.
struct Length {
  int tokens = 0;
  std::optional<Length> minus(const Length& before, const PromptRun&) const {
    if (tokens == 0) return std::nullopt;
    return Length{tokens - before.tokens};
  }
  std::size_t bytes() const { return sizeof tokens; }
};
struct LengthOf {
  static constexpr std::string_view kName = "length";
  static constexpr bool kQuick = true;
  bool operator==(const LengthOf&) const = default;
  Length compute(const PromptRun& run, const Computation<Length>&) const { return {run.run->length()}; }
};

TEST_F(WorkerOfTales, AQuestionIsAskedOfEitherSideAndOfTheDifference) {
  const Question length(LengthOf{}), there = length.on_baseline(), difference = length.difference();
  EXPECT_FALSE(there == length);
  EXPECT_FALSE(difference == there);
  EXPECT_TRUE(difference == Question(LengthOf{}).difference());
  ASSERT_TRUE(length.has_difference());
  EXPECT_FALSE(Question(say("hello")).has_difference());
  EXPECT_EQ(there.name(), "length");
  EXPECT_EQ(difference.name(), "difference in length");
  want_.questions = {length, there, difference};
  want_.second = Prompt{"The king", {}, false};
  const auto tokens = [](const Snapshot& shown, const Question& question) {
    const auto known = shown.answers->find(question);
    return known ? std::static_pointer_cast<const Length>(known->value)->tokens : -1;
  };
  auto shown = show("The old king had a");
  EXPECT_EQ(tokens(*shown, length), 5);
  EXPECT_EQ(tokens(*shown, there), 2);
  EXPECT_EQ(tokens(*shown, difference), 3);
  // Answers about another comparison are not used for this one.
  want_.second = Prompt{"The", {}, false};
  shown = settled();
  EXPECT_EQ(tokens(*shown, length), 5);
  EXPECT_EQ(tokens(*shown, there), 1);
  EXPECT_EQ(tokens(*shown, difference), 4);
  // Without a baseline both sides are the run itself.
  want_.second = {};
  shown = settled();
  EXPECT_EQ(shown->run->baseline, nullptr);
  EXPECT_EQ(tokens(*shown, there), 5);
  EXPECT_EQ(tokens(*shown, difference), 0);
}

/// Counts up to the prompt's length, and shows each number.
struct CountOf {
  static constexpr std::string_view kName = "count";
  bool operator==(const CountOf&) const = default;
  Length compute(const PromptRun& run, const Computation<Length>& computation) const {
    Length count = computation.partial != nullptr ? *computation.partial : Length();
    for (; count.tokens < run.run->length(); ++count.tokens) computation.show(count, 0.5);
    return count;
  }
};

TEST_F(WorkerOfTales, ADifferenceIsShownAsFarAsTheRunsAnswerGoes) {
  const Question count(CountOf{}), difference = count.difference();
  want_.second = Prompt{"The king", {}, false};
  want_.questions = {difference};
  const auto shown = show("The old king had a");
  const auto number = [](const Answer& answer) {
    return std::static_pointer_cast<const Length>(answer.value)->tokens;
  };
  const auto kept = shown->answers->find(difference);
  ASSERT_TRUE(kept && kept->whole && kept->value);
  EXPECT_EQ(number(*kept), 3);
  for (const Question& side : difference.sides()) {
    ASSERT_TRUE(shown->answers->find(side)) << "what grows can go on";
    EXPECT_TRUE(shown->answers->find(side)->whole);
  }
  model::Workspace workspace(1);
  std::vector<int> parts;
  Question::ComputeContext context{workspace};
  context.show = [&](const Answer& part, double) {
    EXPECT_FALSE(part.whole);
    parts.push_back(number(part));
  };
  EXPECT_EQ(number(difference.compute(*shown->run, context)), 3);
  EXPECT_EQ(parts, (std::vector<int>{-1, 0, 1, 2})) << "beside the whole of the baseline";
}

// --- nothing that is kept from one request is used for a different one ---

/// The answers of a new worker.
std::shared_ptr<const Snapshot> afresh(const WorkerRequest& want) {
  Worker fresh({.threads = 1, .wake = nullptr});
  fresh.want(want);
  return fresh.settle();
}

TEST_F(WorkerOfTales, NoPlanIsKeptForAnotherModel) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  want_.prompt.edits = {model::PatchFrom{{{model::Site::attn_out, 0}, {}, {0, 1}, {}}, {11, 12}, {}}};
  want_.questions = {NextAfter{-1}};
  show("The old king had three daughters");
  const auto found = open(other.path()), expected = afresh(want_);
  EXPECT_EQ(found->error, expected->error);
  ASSERT_TRUE(answer_of(*found, NextAfter{-1}));
  EXPECT_EQ(answer_of(*found, NextAfter{-1})->logits, answer_of(*expected, NextAfter{-1})->logits);
}

TEST_F(WorkerOfTales, NoComparisonOfTokensThatStoodForOthers) {
  const Question difference = Question(PatternOf{0, 0}).difference();
  want_.prompt.text = "The old king had three daughters";
  want_.questions = {difference};
  want_.second = Prompt{"The king had three daughters", {}, false};
  for (const Alignment alignment : {Alignment::position, Alignment::subsequence}) {
    want_.alignment = alignment;
    const auto found = settled(), expected = afresh(want_);
    ASSERT_EQ(found->run->aligned, expected->run->aligned);
    const auto values = [&](const Snapshot& shown) {
      return std::static_pointer_cast<const Pattern>(shown.answers->find(difference)->value)->values;
    };
    EXPECT_EQ(values(*found), values(*expected));
  }
}

TEST_F(WorkerOfTales, TheModelIsKeptWhereTheLoadOfAnotherIsGivenUp) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  const auto previous = show("Once");
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
}  // namespace headscope::app::worker_comparison_test
