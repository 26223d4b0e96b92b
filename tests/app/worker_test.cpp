// What the window gets of the worker: its snapshots, whatever is wanted in between and whatever fails.
#include "app/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/gpt2_folder.h"

namespace headscope::app {
namespace {

/// The worker with the model that comes with the program. What a test wants to see or to disturb on the
/// worker's thread it sets while the worker is settled.
class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    want_.model = std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets" / "models" / "tales";
    want_.load_request = 1;
  }

  std::shared_ptr<const Snapshot> settled() {
    worker_.want(want_);
    return worker_.settle();
  }

  std::shared_ptr<const Snapshot> show(const std::string& text) {
    want_.prompt.text = text;
    return settled();
  }

  std::shared_ptr<const Snapshot> open(const std::filesystem::path& model) {
    want_.model = model;
    ++want_.load_request;
    return settled();
  }

  Wanted wanting(const std::string& text) const {
    Wanted want = want_;
    want.prompt.text = text;
    return want;
  }

  /// What is wanted, one after the other, from within the next pass on the worker's thread.
  void interrupt_with(std::vector<Wanted> wishes) {
    on_snapshot_ = [this, wishes = std::move(wishes)](const Snapshot& shown) mutable {
      if (shown.run) shown_prompts_.push_back(shown.run->prompt.text);
      if (shown.busy != "running" || shown.fraction == 0) return;
      for (const Wanted& wish : std::exchange(wishes, {})) worker_.want(wish);
    };
  }

  Wanted want_;
  std::function<void(const Snapshot&)> on_snapshot_;
  std::function<void(std::string_view)> before_step_;
  std::vector<std::string> shown_prompts_;
  Worker worker_{{.threads = 2,
                  .wake =
                      [this] {
                        if (on_snapshot_) on_snapshot_(*worker_.snapshot());
                      },
                  .before_step =
                      [this](std::string_view step) {
                        if (before_step_) before_step_(step);
                      }}};  // last: its thread calls the others
};

TEST_F(WorkerTest, AnEditComputesWhatComesAfterItAndAFormerPromptNothing) {
  const std::string text = "Once upon a time there was a king who had three sons";
  const auto first = show(text);
  const int length = first->run->run->length();
  EXPECT_EQ(first->run->run->computed_positions, length);

  const auto longer = show(text + ", and");
  EXPECT_EQ(longer->run->run->computed_positions, longer->run->run->length() - length);

  const auto other = show("Twice" + text.substr(4));
  EXPECT_GT(other->run->run->computed_positions, length / 2);

  for (const auto& [prompt, expected] : {std::pair{text + ", and", longer}, {text, first}}) {
    const auto again = show(prompt);
    EXPECT_EQ(again->run->run->computed_positions, 0) << prompt;
    EXPECT_EQ(again->head->stages.pattern, expected->head->stages.pattern);
    EXPECT_EQ(again->next->logits, expected->next->logits);
  }
  EXPECT_LE(other->cache_bytes, other->cache_budget);
}

TEST_F(WorkerTest, StatisticsGoOnFromTheFormerPromptToTheBit) {
  const auto before = show("Once upon a time there was a king");
  const auto after = show("Once upon a time there was a queen who lived by the sea");
  Worker fresh({.threads = 1, .wake = nullptr});
  fresh.want(want_);
  const auto expected = fresh.settle();
  ASSERT_EQ(after->statistics->positions.size(), expected->statistics->positions.size());
  ASSERT_EQ(after->statistics->tokens, after->run->run->tokens);
  for (std::size_t i = 0; i < expected->statistics->positions.size(); ++i) {
    const auto& found = after->statistics->positions[i];
    const auto& wanted = expected->statistics->positions[i];
    EXPECT_EQ(found.log_sum_exp, wanted.log_sum_exp) << i;
    EXPECT_EQ(found.next_rank, wanted.next_rank) << i;
    if (found.next_rank >= 0) {
      EXPECT_EQ(found.next_logit, wanted.next_logit) << i;
    }
    ASSERT_EQ(found.top.size(), wanted.top.size());
    for (std::size_t k = 0; k < found.top.size(); ++k) EXPECT_EQ(found.top[k].id, wanted.top[k].id);
  }
}

TEST_F(WorkerTest, SettlesWhenAWishIsTakenBackAtOnce) {
  show("Once upon a time");
  for (int i = 0; i < 200; ++i) {
    Wanted other = want_;
    other.selection.head = 1;
    worker_.want(other);
    EXPECT_EQ(settled()->head->head, 0);
  }
}

// --- steps that fail ---

struct FailingStep {
  const char* name;  // for the test
  std::string_view step;
};
void PrintTo(const FailingStep& step, std::ostream* out) {
  *out << step.name;
}

class AStepThatFails : public WorkerTest, public ::testing::WithParamInterface<FailingStep> {};

TEST_P(AStepThatFails, IsTriedOnceAndTheRestGoesOn) {
  const auto former = show("Once upon a time there was a king");
  int tried = 0;
  before_step_ = [&](std::string_view step) {
    if (step == GetParam().step && ++tried > 0) throw std::bad_alloc();
  };
  show("Once upon a time there was a queen by the sea");
  want_.selection = {1, 2, 3};
  const auto shown = settled();
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(shown->error_count, 1U);
  EXPECT_EQ(shown->error, "There is not enough memory for " + std::string(GetParam().step) + ".");
  EXPECT_EQ(shown->busy, "");
  const auto is_new = [&](std::string_view step) { return step != GetParam().step; };
  EXPECT_EQ(shown->run->prompt == want_.prompt, is_new("running the prompt"));
  if (GetParam().step == "running the prompt") {
    EXPECT_EQ(shown->run, former->run) << "the former stays";
    EXPECT_EQ(shown->statistics, former->statistics);
  } else {
    EXPECT_EQ(shown->head->layer == 1 && shown->head->head == 2, is_new("the head"));
    EXPECT_EQ(shown->next->position == 3, is_new("the next token"));
    EXPECT_EQ(shown->thumbnails->of_head[0].size == shown->run->run->length(), is_new("the small maps"));
    EXPECT_EQ(shown->statistics != nullptr, is_new("the token statistics"));
  }

  want_.load_cancel = want_.load_request;  // on which no step depends
  EXPECT_EQ(settled()->error_count, 1U);
  EXPECT_EQ(tried, 1);
}

TEST_P(AStepThatFails, IsTriedAgainWithAnotherPrompt) {
  show("Once upon a time there was a king");
  bool fails = true;
  before_step_ = [&](std::string_view step) {
    if (step == GetParam().step && fails) throw std::bad_alloc();
  };
  show("Once upon a time there was a queen by the sea");
  want_.selection = {1, 2, 3};
  EXPECT_EQ(settled()->error_count, 1U);
  fails = false;
  show("Once upon a time there was a princess");
  want_.selection = {2, 1, 0};
  const auto shown = settled();
  EXPECT_EQ(shown->error, "");
  EXPECT_EQ(shown->error_count, 1U);
  EXPECT_EQ(shown->run->prompt, want_.prompt);
  EXPECT_EQ(shown->head->layer, 2);
  EXPECT_EQ(shown->next->position, 0);
  EXPECT_EQ(shown->thumbnails->of_head[0].size, shown->run->run->length());
  EXPECT_NE(shown->statistics, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Steps, AStepThatFails,
                         ::testing::Values(FailingStep{"run", "running the prompt"},
                                           FailingStep{"head", "the head"},
                                           FailingStep{"next", "the next token"},
                                           FailingStep{"maps", "the small maps"},
                                           FailingStep{"statistics", "the token statistics"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(WorkerTest, AModelThatCannotBeLoadedIsTriedOnce) {
  const auto former = show("Once upon a time");
  int tried = 0;
  before_step_ = [&](std::string_view step) {
    if (step == "loading the model" && ++tried > 0) throw std::bad_alloc();
  };
  const auto shown = open(want_.model);
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(shown->error, "There is not enough memory for loading the model.");
  EXPECT_FALSE(shown->loading);
  EXPECT_EQ(shown->run, former->run);
  EXPECT_EQ(show("Twice upon a time")->run->prompt.text, "Twice upon a time");
  EXPECT_EQ(tried, 1);
}

// --- prompts that come while another is computed ---

TEST_F(WorkerTest, ANewPromptStopsThePassOfTheFormer) {
  show("Once");
  interrupt_with({wanting("Thrice")});
  EXPECT_EQ(show("Twice upon a time there was a king")->run->prompt.text, "Thrice");
  EXPECT_EQ(std::ranges::count(shown_prompts_, "Twice upon a time there was a king"), 0);
}

TEST_F(WorkerTest, APromptThatWasLeftAndComesBackIsComputed) {
  show("Once");
  const std::string text = "Twice upon a time there was a king";
  interrupt_with({wanting("Thrice"), wanting(text)});
  const auto shown = show(text);
  EXPECT_EQ(shown->run->prompt.text, text);
  EXPECT_EQ(shown->error, "");
}

// --- another model ---

class WorkerOfTwoModels : public WorkerTest {
 protected:
  WorkerOfTwoModels() { testing::write_other_model(other_); }

  testing::TemporaryFolder other_;
};

TEST_F(WorkerOfTwoModels, StatisticsAreThoseOfTheModelThatIsShown) {
  const auto former = show("Once upon a time there was a king");
  const auto shown = open(other_.path());
  ASSERT_EQ(shown->error, "");
  EXPECT_EQ(shown->run->run->tokens, former->run->run->tokens) << "the same, or nothing could be mixed up";
  Worker fresh({.threads = 1, .wake = nullptr});
  fresh.want(want_);
  const auto expected = fresh.settle();
  ASSERT_EQ(shown->statistics->positions.size(), expected->statistics->positions.size());
  for (std::size_t i = 0; i < expected->statistics->positions.size(); ++i) {
    EXPECT_EQ(shown->statistics->positions[i].log_sum_exp, expected->statistics->positions[i].log_sum_exp);
    EXPECT_NE(shown->statistics->positions[i].log_sum_exp, former->statistics->positions[i].log_sum_exp);
  }
}

TEST_F(WorkerOfTwoModels, SmallMapsOfTheFormerAreNeverShownBesideARunOfTheNext) {
  const auto former = show("Once upon a time there was a king");
  std::vector<std::shared_ptr<const Thumbnails>> seen;
  on_snapshot_ = [&](const Snapshot& shown) {
    if (shown.run->model != former->model && shown.thumbnails) seen.push_back(shown.thumbnails);
  };
  const auto shown = open(other_.path());
  ASSERT_FALSE(seen.empty());
  for (const auto& thumbnails : seen) {
    ASSERT_EQ(thumbnails->of_head.size(), shown->thumbnails->of_head.size());
    for (std::size_t i = 0; i < thumbnails->of_head.size(); ++i) {
      if (thumbnails->of_head[i].size == 0) continue;  // not there yet
      EXPECT_EQ(thumbnails->of_head[i].values, shown->thumbnails->of_head[i].values);
    }
  }
}

}  // namespace
}  // namespace headscope::app
