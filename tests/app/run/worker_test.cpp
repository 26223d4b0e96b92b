// The worker: what it computes, keeps and stops, of a run, its baseline and their difference.
#include "app/run/analyses/circuit.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "tests/app/run/worker_fixture.h"

namespace headscope::app::worker_test {
namespace {

TEST_F(WorkerOfTales, AnEditComputesWhatComesAfterItAndAPreviousPromptNothing) {
  want_.questions = {PatternOf{0, 0}, NextAfter{-1}};
  const std::string text = "Once upon a time there was a king who had three sons";
  const auto first = show(text);
  const int length = first->run->run->length();
  EXPECT_EQ(first->run->run->computed_positions, length);

  const auto longer = show(text + ", and");
  EXPECT_EQ(longer->run->run->computed_positions, longer->run->run->length() - length);

  const auto other = show("Twice" + text.substr(4));
  EXPECT_GT(other->run->run->computed_positions, length / 2);

  for (const auto& [prompt, expected] : {std::pair{text + ", and", longer}, {text, first}}) {
    const auto unedited = show(prompt);
    EXPECT_EQ(unedited->run->run->computed_positions, 0) << prompt;
    EXPECT_EQ(answer_of(*unedited, PatternOf{0, 0})->values, answer_of(*expected, PatternOf{0, 0})->values);
    EXPECT_EQ(answer_of(*unedited, NextAfter{-1})->logits, answer_of(*expected, NextAfter{-1})->logits);
  }
}

TEST_F(WorkerOfTales, StatisticsGoOnFromThePreviousPromptToTheBit) {
  want_.questions = {StatisticsOfTokens{}};
  show("Once upon a time there was a king");
  const auto settled_after = show("Once upon a time there was a queen who lived by the sea");
  const auto settled_fresh = afresh(want_);
  const auto after = answer_of(*settled_after, StatisticsOfTokens{});
  const auto expected = answer_of(*settled_fresh, StatisticsOfTokens{});
  ASSERT_EQ(after->positions.size(), expected->positions.size());
  ASSERT_EQ(after->tokens, settled_after->run->run->tokens);
  for (std::size_t i = 0; i < expected->positions.size(); ++i) {
    const auto& found = after->positions[i];
    const auto& wanted = expected->positions[i];
    EXPECT_EQ(found.log_sum_exp, wanted.log_sum_exp) << i;
    EXPECT_EQ(found.next_rank, wanted.next_rank) << i;
    if (found.next_rank >= 0) {
      EXPECT_EQ(found.next_logit, wanted.next_logit) << i;
    }
    ASSERT_EQ(found.top.size(), wanted.top.size());
    for (std::size_t k = 0; k < found.top.size(); ++k) EXPECT_EQ(found.top[k].id, wanted.top[k].id);
  }
}

TEST_F(WorkerOfTales, WhatTakesNoTimeComesWithTheRun) {
  want_.questions = {PatternOf{1, 1}, say("waits")};
  want_.prompt.text = "Once upon a time";
  want_until(1);
  const auto snapshot = worker_.snapshot();
  ASSERT_NE(snapshot->run, nullptr);
  EXPECT_NE(answer_of(*snapshot, PatternOf{1, 1}), nullptr);
  log_->open();
  EXPECT_EQ(answer_of(*worker_.settle(), say("waits"))->text, "waits of Once upon a time");
}

TEST_F(WorkerOfTales, WhatIsKeptOfThePreviousPromptsAnswerComesWithTheRun) {
  const SayOn on{"on", log_};
  want_.questions = {on};
  show("Once");
  const auto first_said_of = [&](const std::string& prompt) {
    std::vector<std::string> said;
    on_snapshot_ = [&](const Snapshot& shown) {
      if (!shown.run || shown.run->prompt.text != prompt) return;
      const auto answer = answer_of(shown, on);
      said.push_back(answer ? answer->text : "nothing");
    };
    const auto last = answer_of(*show(prompt), on);
    on_snapshot_ = nullptr;
    EXPECT_EQ(last->text, "on of " + prompt) << "it goes on";
    return said.empty() ? "" : said.front();
  };
  EXPECT_EQ(first_said_of("Twice"), "kept from on of Once");
  EXPECT_EQ(first_said_of("Apart"), "nothing");
}

TEST_F(WorkerOfTales, WhatIsOfTheModelAloneIsComputedOnceForAllPrompts) {
  const SayOfModel once{"once", log_};
  want_.questions = {once};
  const auto first = answer_of(*show("Once"), once);
  want_.questions = {once, say("one")};
  EXPECT_EQ(answer_of(*show("Twice"), once), first);
  EXPECT_THAT(log_->names(), ElementsAre("once", "one"));
  want_.questions.push_back(SayOfModel{"waits", log_});
  want_until(3);
  log_->open();
  const SayOfModel waits{"waits", log_};
  EXPECT_EQ(answer_of(*show("Thrice"), waits)->text.substr(0, 9), "waits of ");
  ++want_.load_request;
  EXPECT_NE(answer_of(*settled(), once), first) << "of this model";
}

TEST_F(WorkerOfTales, WhatNobodyAsksAnyMoreIsStoppedAndGoesOnWhereItWas) {
  want_.prompt.text = "Once";
  want_.questions = {say("waits")};
  want_until(1);
  want_.questions = {say("other")};
  EXPECT_EQ(answer_of(*settled(), say("other"))->text, "other of Once");
  log_->open();
  want_.questions = {say("waits")};
  EXPECT_EQ(answer_of(*settled(), say("waits"))->tries, 2);
}

TEST_F(WorkerOfTales, WhatIsNewAndInFrontComesBeforeWhatIsUnderWay) {
  want_.prompt.text = "Once";
  want_.questions = {say("waits"), say("later")};
  want_until(1);
  want_.questions = {say("urgent"), say("waits"), say("later")};
  want_until(3);
  EXPECT_THAT(log_->names(), ElementsAre("waits", "urgent", "waits"));
  EXPECT_EQ(answer_of(*worker_.snapshot(), say("urgent"))->text, "urgent of Once");
  log_->open();
  EXPECT_NE(answer_of(*worker_.settle(), say("later")), nullptr);
}

TEST_F(WorkerOfTales, AFailedAnswerIsASentenceAndIsNotTriedAgain) {
  want_.questions = {say("fails"), say("one")};
  auto snapshot = show("Once");
  EXPECT_EQ(snapshot->answers.find(say("fails"))->failure, "The word cannot be said.");
  EXPECT_EQ(answer_of(*snapshot, say("one"))->text, "one of Once");
  want_.questions = {say("fails"), say("two")};
  settled();
  EXPECT_THAT(log_->names(), ElementsAre("fails", "one", "two"));
  show("Twice");  // its input has changed
  EXPECT_THAT(log_->names(), ElementsAre("fails", "one", "two", "fails", "two"));
}

TEST_F(WorkerOfTales, WhatMemoryIsWantingForIsSaidOfTheAnswerAndTheRestGoesOn) {
  want_.questions = {say("grows"), say("one")};
  const auto snapshot = show("Once");
  EXPECT_EQ(snapshot->answers.find(say("grows"))->failure, "There is not enough memory for a word.");
  EXPECT_EQ(answer_of(*snapshot, say("one"))->text, "one of Once");
  EXPECT_EQ(snapshot->busy, Busy::settled);
}

TEST_F(WorkerOfTales, WhereThereIsNoMemoryForASentenceItIsSaidLater) {
  show("Once");
  int failures = 2;
  on_snapshot_ = [&](const Snapshot& shown) {
    if ((shown.busy == Busy::running || !shown.error.empty()) && failures-- > 0) throw std::bad_alloc();
  };
  EXPECT_EQ(show("Twice")->error, "There is not enough memory for running the prompt.");
  on_snapshot_ = nullptr;
}

TEST_F(WorkerOfTales, AQuickAnswerThatFailsDoesNotKeepTheRunBack) {
  const SayQuickly fails{"fails", log_};
  want_.questions = {fails, PatternOf{1, 0}, NextAfter{-1}, StatisticsOfTokens{}};
  show("Once upon a time there was a king");
  const auto shown = show("Once upon a time there was a queen by the sea");
  EXPECT_EQ(shown->run->prompt, want_.prompt);
  EXPECT_EQ(shown->answers.find(fails)->failure, "The word cannot be said.");
  EXPECT_EQ(answer_of(*shown, PatternOf{1, 0})->length, shown->run->run->length());
  EXPECT_EQ(answer_of(*shown, NextAfter{-1})->position, shown->run->run->length() - 1);
  EXPECT_NE(answer_of(*shown, StatisticsOfTokens{}), nullptr);
  EXPECT_THAT(log_->names(), ElementsAre("fails", "fails")) << "once a prompt";
  want_.load_cancel = want_.load_request;  // no answer depends on it
  settled();
  EXPECT_THAT(log_->names(), ElementsAre("fails", "fails"));
}

// --- prompts that arrive while another is computed ---

TEST_F(WorkerOfTales, ANewPromptStopsThePassOfThePreviousOne) {
  show("Once");
  interrupt_with({wanting("Thrice")});
  EXPECT_EQ(show("Twice upon a time there was a king")->run->prompt.text, "Thrice");
  EXPECT_EQ(std::ranges::count(shown_prompts_, "Twice upon a time there was a king"), 0);
}

TEST_F(WorkerOfTales, APromptThatWasLeftAndComesBackIsComputed) {
  show("Once");
  const std::string text = "Twice upon a time there was a king";
  interrupt_with({wanting("Thrice"), wanting(text)});
  const auto shown = show(text);
  EXPECT_EQ(shown->run->prompt.text, text);
  EXPECT_EQ(shown->error, "");
}

TEST_F(WorkerOfTales, AQuestionNeverStopsAPass) {
  show("Once");
  const std::string text = "Twice upon a time there was a king";
  WorkerRequest other = wanting(text);
  other.questions = {say("one")};
  double done = 0;
  bool stepped_back = false;
  interrupt_with({other});
  on_snapshot_ = [&, interrupt = on_snapshot_](const Snapshot& shown) {
    if (shown.busy == Busy::running && shown.fraction < done) stepped_back = true;
    done = shown.busy == Busy::running ? shown.fraction : 0;
    interrupt(shown);
  };
  EXPECT_EQ(show(text)->run->prompt.text, text);
  EXPECT_FALSE(stepped_back) << "the pass began again";
  EXPECT_THAT(log_->names(), ElementsAre("one"));
}

// --- another model ---

TEST_F(WorkerOfTales, AWishThatIsTakenBackAtOnceSettles) {
  show("Once");
  for (int i = 0; i < 50; ++i) {
    WorkerRequest other = want_;
    other.questions = {say("one")};
    worker_.want(other);
    worker_.want(want_);
    EXPECT_EQ(worker_.settle()->run->prompt.text, "Once");
  }
}

TEST_F(WorkerOfTales, AFailedLoadOrRunIsSaidOnceAndNotTriedAgain) {
  show("Once");
  want_.prompt.ids = {1 << 20};
  const auto failed = settled();
  EXPECT_EQ(failed->error_count, 1U);
  EXPECT_THAT(failed->error, HasSubstr("1048576"));
  want_.questions = {say("one")};
  EXPECT_EQ(settled()->error_count, 1U);
  EXPECT_THAT(log_->names(), ElementsAre("one"));  // from the run that is still shown
  want_.prompt.ids.clear();
  want_.model = "/nowhere";
  ++want_.load_request;
  const auto no_model = settled();
  EXPECT_EQ(no_model->error_count, 2U);
  EXPECT_EQ(no_model->busy, Busy::settled);
  EXPECT_EQ(no_model->run->prompt.text, "Once");
}

// --- edits ---

TEST_F(WorkerOfTales, AnEditedRunStandsBesideTheCleanOne) {
  const auto clean = show("The old king had three daughters")->run;
  want_.prompt.edits = kHeadOff;
  const auto edited = settled()->run;
  ASSERT_NE(edited, clean);
  ASSERT_TRUE(edited->baseline);
  EXPECT_EQ(edited->baseline->run, clean->run) << "it is not computed again";
  EXPECT_NE(edited->run->resid(6, 5)[0], clean->run->resid(6, 5)[0]);
  EXPECT_EQ(edited->run->pages[0]->below(), clean->run->pages[0]) << "what comes before is shared";
  want_.prompt.edits = {};
  const auto unedited = settled()->run;
  EXPECT_EQ(unedited->run->pages, clean->run->pages) << "nor is it when one goes back";
  EXPECT_EQ(unedited->run->computed_positions, 0);
  EXPECT_EQ(unedited->baseline, nullptr);
}

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

/// As many tokens as are counted. Nothing can be subtracted from 0.
struct Length {
  int tokens = 0;
  std::optional<Length> minus(const Length& before, const PromptRun&) const {
    if (tokens == 0) return std::nullopt;
    return Length{tokens - before.tokens};
  }
  std::size_t bytes() const { return sizeof tokens; }
};

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
  const auto kept = shown->answers.find(difference);
  ASSERT_TRUE(kept && kept->whole && kept->value);
  EXPECT_EQ(number(*kept), 3);
  for (const Question& side : {count, count.on_baseline()}) {
    ASSERT_TRUE(shown->answers.find(side)) << "what grows can go on";
    EXPECT_TRUE(shown->answers.find(side)->whole);
  }
  model::Workspace workspace(1);
  std::vector<int> parts;
  Question::ComputeContext context{workspace};
  context.show = [&](const Answer& part, double) {
    if (!part.value) return;  // the progress alone
    EXPECT_FALSE(part.whole);
    parts.push_back(number(part));
  };
  EXPECT_EQ(number(difference.compute(*shown->run, context)), 3);
  EXPECT_EQ(parts, (std::vector<int>{-1, 0, 1, 2})) << "beside the whole of the baseline";
}

// --- nothing that is kept from one request is used for a different one ---

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

TEST_F(WorkerOfTales, ACircuitThatIsCutToAnotherSecondPromptIsAnotherOne) {
  const CircuitOf circuit{.method = CircuitMethod::attribution, .cut = {CircuitCut::second}};
  want_.prompt.text = "The old king had three daughters";
  want_.questions = {circuit};
  want_.second = Prompt{"The old queen had three daughters", {}, false};
  const double first = answer_of(*settled(), circuit)->cut_value;
  want_.second = Prompt{"The old king had three dogs", {}, false};
  EXPECT_NE(answer_of(*settled(), circuit)->cut_value, first);
}

TEST_F(WorkerOfTales, WhatEdgesCarryIsComputedOnceForAnyNumberOfEdges) {
  const CutOf cut{CircuitCut::zero};
  want_.prompt.text = "The old king";
  const auto writes_for = [&](EdgeList edges) {
    want_.questions = {CutMetricOf{logit_at(2, TokenRef::of(5)), cut, 1, std::move(edges)}};
    return answer_of(*settled(), CutWritesOf{cut});
  };
  const auto first = writes_for({1});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(writes_for({1, 2}), first);
}

TEST_F(WorkerOfTales, WhatIsKnownOfAnUneditedRunIsKnownWhenItBecomesABaseline) {
  want_.questions = {say("one")};
  const auto own = answer_of(*show("Once"), say("one"));
  want_.prompt.edits = kHeadOff;
  const Question there = Question(say("one")).on_baseline();
  want_.questions = {there};
  EXPECT_EQ(settled()->answers.find(there)->value, own);
  EXPECT_THAT(log_->names(), ElementsAre("one"));
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
}  // namespace headscope::app::worker_test
