// What is kept: runs, answers and models.
#include "app/run/memo.h"
#include "app/run/kept_models.h"
#include "model/files/error.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::app::memo_test {
namespace {

model::Config small_config() {
  model::Config config;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_embd = 8;
  config.n_ctx = 200;
  return config;
}

/// A run of the tokens that shares `shared` pages with `base`.
std::shared_ptr<const model::Run> make_run(std::vector<int> tokens, const model::Run* base = nullptr,
                                           std::size_t shared = 0) {
  auto run = std::make_shared<model::Run>();
  run->config = small_config();
  run->tokens = std::move(tokens);
  for (int first = 0; first < run->length(); first += model::Page::kPositions) {
    const std::size_t page = run->pages.size();
    if (page < shared) {
      run->pages.push_back(base->pages[page]);
    } else {
      run->pages.push_back(std::make_shared<model::Page>(run->config));
    }
  }
  return run;
}

std::vector<int> count_from(int first, int n) {
  std::vector<int> tokens(n);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

const std::size_t kPage = model::Page::bytes(small_config());

TEST(Memo, TheBaseIsTheRunThatSharesMost) {
  Memo memo;
  EXPECT_EQ(memo.best_base({1, 2}), nullptr);
  memo.remember(make_run({1, 2, 3, 4}));
  memo.remember(make_run({1, 2, 9}));
  EXPECT_EQ(memo.best_base({1, 2, 3, 5})->tokens, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(memo.best_base({1, 2})->tokens, (std::vector<int>{1, 2, 9}));  // equally good, and newer
  EXPECT_EQ(memo.best_base({7}), nullptr);
}

TEST(Memo, CountsEveryPageOnceAndForgetsARunThatAnotherGoesOnFrom) {
  Memo memo;
  const auto first = make_run(count_from(0, 100));
  memo.remember(first);
  EXPECT_EQ(memo.bytes(), 2 * kPage);
  memo.remember(make_run(count_from(5, 70), first.get(), 1));
  EXPECT_EQ(memo.bytes(), 3 * kPage);
  EXPECT_EQ(memo.size(), 2U);
  memo.remember(make_run(count_from(0, 130), first.get(), 1));
  EXPECT_EQ(memo.size(), 2U);
}

TEST(Memo, ForgetsTheLongestUnusedButNeverTheNewest) {
  Memo memo(4 * kPage);
  for (int i = 0; i < 5; ++i) memo.remember(make_run({i, 7}));
  memo.remember_part(make_run({40, 41}));
  EXPECT_EQ(memo.make_room_for({70, 71}, small_config()), nullptr);
  EXPECT_EQ(memo.size(), 3U);
  EXPECT_NE(memo.best_base({4}), nullptr);   // the newest
  EXPECT_NE(memo.best_base({40}), nullptr);  // an abandoned run comes after it
  EXPECT_NE(memo.best_base({3}), nullptr);
  EXPECT_EQ(memo.best_base({2}), nullptr);
  memo.make_room_for(count_from(70, 190), small_config());
  EXPECT_EQ(memo.size(), 1U);
  EXPECT_NE(memo.best_base({4}), nullptr);
}

TEST(Memo, OfABaseThatStandsInTheWayTheWholePagesStayThatAreShared) {
  Memo memo(4 * kPage);
  memo.remember(make_run(count_from(0, 150)));
  memo.remember(make_run({9}));
  std::vector<int> tokens = count_from(0, 190);
  tokens[100] = 7;
  const auto base = memo.make_room_for(tokens, small_config());
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(base->tokens, count_from(0, 64));
  EXPECT_EQ(memo.bytes(), 2 * kPage);
}

/// A question whose answer has a given number of bytes.
struct Blob {
  std::size_t size = 0;
  std::size_t bytes() const { return size; }
};
struct BlobOf {
  static constexpr std::string_view kName = "blob";
  static constexpr bool kQuick = true;
  std::int64_t name = 0;  // as wide as the size: hashed by its bytes
  std::size_t size = 0;
  bool operator==(const BlobOf&) const = default;
  Blob compute(const PromptRun&, const Computation<Blob>&) const { return {size}; }
};

std::shared_ptr<const Answer> blob(std::size_t size) {
  return std::make_shared<const Answer>(Answer{std::make_shared<const Blob>(Blob{size}), size, true, {}});
}

struct BlobOfModel : BlobOf {
  static constexpr bool kModelOnly = true;
};

constexpr std::size_t kEntry = AnswerCache::kEntryBytes;
const auto kModel = std::make_shared<const LoadedModel>();

PromptRun prompt_run(std::vector<int> tokens) {
  return {kModel, {}, {}, make_run(std::move(tokens))};
}

TEST(Memo, RunsAndAnswersShareOneBudgetAndTheLongestUnusedGoesFirst) {
  Memo memo(2 * kPage + 2 * kEntry + 100);
  memo.show(prompt_run({1, 2}));
  memo.keep(BlobOf{1, 60}, blob(60));
  memo.keep(BlobOfModel{{2}}, blob(30));
  EXPECT_EQ(memo.bytes(), kPage + 90 + 2 * kEntry);
  memo.show(prompt_run({3}));
  EXPECT_NE(memo.find(BlobOfModel{{2}}), nullptr) << "that is of every run";
  memo.keep(BlobOf{3, 40}, blob(40));
  EXPECT_EQ(memo.bytes(), 2 * kPage + 70 + 2 * kEntry);
  memo.show(prompt_run({1, 2}));
  EXPECT_EQ(memo.find(BlobOf{1, 60}), nullptr);
  EXPECT_NE(memo.find(BlobOfModel{{2}}), nullptr);
}

TEST(Memo, WhatIsWantedIsNotDroppedForOthers) {
  Memo memo(kPage + 2 * kEntry + 100);
  memo.show(prompt_run({1, 2}));
  memo.keep(BlobOf{1, 60}, blob(60));
  memo.want({BlobOf{1, 60}});
  memo.keep(BlobOf{2, 60}, blob(60));
  EXPECT_NE(memo.find(BlobOf{1, 60}), nullptr);
  memo.want({});
  memo.keep(BlobOf{3, 60}, blob(60));
  EXPECT_EQ(memo.find(BlobOf{2, 60}), nullptr);
}

TEST(Memo, WhatWasWantedOfTheRunBeforeGoesAndItsRunStays) {
  Memo memo(2 * kPage + 2 * kEntry + 100);
  memo.show(prompt_run({1, 2}));
  memo.keep(BlobOf{1, 60}, blob(60));
  memo.want({BlobOf{1, 60}});
  memo.show(prompt_run({3}));
  memo.keep(BlobOf{2, 60}, blob(60));
  EXPECT_EQ(memo.bytes(), 2 * kPage + kEntry + 60);
  EXPECT_NE(memo.best_base({1, 2}), nullptr);
}

TEST(Memo, AFailureIsForgottenWithTheNextRun) {
  Memo memo(100 * kPage);
  memo.show(prompt_run({1, 2}));
  memo.keep(BlobOf{1}, std::make_shared<const Answer>(Answer{nullptr, 0, true, "It failed."}));
  ASSERT_NE(memo.find(BlobOf{1}), nullptr);
  EXPECT_EQ(memo.find(BlobOf{1})->failure, "It failed.");
  memo.show(prompt_run({3}));
  memo.show(prompt_run({1, 2}));
  EXPECT_EQ(memo.find(BlobOf{1}), nullptr);
}

TEST(Memo, AnAnswerIsOfWhatItDependsOn) {
  const Question own = BlobOf{1}, there = own.on_baseline(), between = own.difference();
  const auto compared = [](int token, std::vector<int> baseline, std::vector<int> aligned) {
    PromptRun run = prompt_run({token});
    run.baseline = std::make_shared<const PromptRun>(prompt_run(std::move(baseline)));
    run.aligned = std::move(aligned);
    return run;
  };
  Memo memo(100 * kPage);
  memo.show(compared(3, {1, 2}, {0}));
  for (const Question& question : {own, there, between}) memo.keep(question, blob(1));
  memo.show(compared(4, {1, 2}, {0}));
  EXPECT_EQ(memo.find(own), nullptr);
  EXPECT_NE(memo.find(there), nullptr);
  EXPECT_EQ(memo.find(between), nullptr);
  memo.show(compared(3, {1, 2}, {-1}));
  EXPECT_NE(memo.find(own), nullptr);
  EXPECT_NE(memo.find(there), nullptr);
  EXPECT_EQ(memo.find(between), nullptr);
  memo.show(compared(3, {1}, {0}));
  EXPECT_EQ(memo.find(there), nullptr);
  EXPECT_EQ(memo.find(between), nullptr);
  memo.show(compared(3, {1, 2}, {0}));
  EXPECT_NE(memo.find(between), nullptr);
}

TEST(Memo, APreviousAnswerIsOfOtherTokensAlone) {
  const auto made = [](std::vector<int> tokens, model::Edits edits, std::string stamp = {}) {
    auto run = std::make_shared<model::Run>(*make_run(std::move(tokens)));
    run->plan = std::make_shared<const model::Plan>(
        run->config, std::move(edits), std::vector<std::shared_ptr<const model::Plan::Source>>(1));
    auto model = std::make_shared<LoadedModel>();
    model->weights_stamp = std::move(stamp);
    return PromptRun{std::move(model), {}, {}, std::move(run)};
  };
  const model::Edits own_mask = {model::SetMask{0, 1, {{true}}}}, other = {model::SetMask{1, 1, {{true}}}},
                     unmasked = {model::SetMask{}}, mean = {model::SetMean{{{model::Site::z, 0}, 1, {}, {}}}};
  const Question own = BlobOf{1};
  for (const auto& [edits, now, known] : {std::tuple(own_mask, made({3}, own_mask), true),
                                          {own_mask, made({1, 2}, own_mask), false},
                                          {own_mask, made({3}, other), false},
                                          {own_mask, made({3}, own_mask, "another model"), false},
                                          {own_mask, prompt_run({3}), false},
                                          {unmasked, made({3}, unmasked), false},
                                          {mean, made({3}, mean), false}}) {
    Memo memo(100 * kPage);
    memo.show(made({1, 2}, edits));
    memo.keep(own, blob(1));
    memo.show(now);
    EXPECT_EQ(memo.previous_answer(own) != nullptr, known);
    EXPECT_EQ(memo.previous_answer(own.on_baseline()) != nullptr, known) << "the baseline is the run itself";
    EXPECT_EQ(memo.previous_answer(own.difference()), nullptr);
  }
}

TEST(SnapshotAnswers, StayAtTheirFirstReply) {
  Memo memo(100 * kPage);
  memo.show(prompt_run({1, 2}));
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->answers = memo.answers();
  SnapshotAnswers answers(snapshot);
  EXPECT_EQ(answers.ask(BlobOf{1}), nullptr);
  memo.keep(BlobOf{1}, blob(1));
  EXPECT_EQ(answers.ask(BlobOf{1}), nullptr) << "a picture shows one state";
  EXPECT_THAT(answers.asked(), ElementsAre(Question(BlobOf{1})));
}

/// Questions that all have one hash: a text has no bytes of its own to hash.
struct SameHash : BlobOf {
  std::string text = {};
  bool operator==(const SameHash&) const = default;
};

TEST(Memo, QuestionsWithEqualHashesAreToldApart) {
  Memo memo(100 * kPage);
  memo.show(prompt_run({1}));
  for (int i = 0; i < 3; ++i) memo.keep(SameHash{{i}}, blob(static_cast<std::size_t>(i)));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(memo.find(SameHash{{i}})->bytes, static_cast<std::size_t>(i));
}

using model::Precision;
constexpr std::size_t kPlenty = std::size_t{1} << 30;

struct OnDisk {
  OnDisk() { testing::write_other_model(folder); }
  testing::TemporaryFolder folder;
  const std::filesystem::path& path() const { return folder.path(); }
};

TEST(KeptModels, AreLoadedOnce) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto first = models.find_or_load(disk.path(), Precision::f32);
  EXPECT_EQ(models.find_or_load(disk.path(), Precision::f32), first);
  EXPECT_NE(models.find_or_load(disk.path(), Precision::bf16), first);
  EXPECT_EQ(models.find_or_load(disk.path(), Precision::f32), first);
  EXPECT_EQ(models.count(), 2U);
  EXPECT_GE(models.bytes(), first->transformer->report().bytes);
}

TEST(KeptModels, AreLoadedAgainWhenAFileChanges) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto first = models.find_or_load(disk.path(), Precision::f32);
  const auto weights = disk.path() / "model.safetensors";
  const auto time = std::filesystem::last_write_time(weights);
  std::filesystem::last_write_time(weights, time + std::chrono::milliseconds(1));
  const auto second = models.find_or_load(disk.path(), Precision::f32);
  EXPECT_NE(second, first);
  EXPECT_EQ(models.count(), 1U);
  disk.folder.write("merges.txt", testing::bytes_of_file(disk.path() / "merges.txt") + "\n");
  EXPECT_NE(models.find_or_load(disk.path(), Precision::f32), second);
  std::filesystem::remove(weights);
  EXPECT_THROW(models.find_or_load(disk.path(), Precision::f32), model::LoadError);
  EXPECT_EQ(models.count(), 0U);
}

TEST(KeptModels, AFolderIsOneHoweverItIsNamed) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto model = models.find_or_load(disk.path(), Precision::f32);
  EXPECT_EQ(models.find_or_load(disk.path() / "", Precision::f32), model);
  EXPECT_EQ(models.find_or_load(disk.path() / ".", Precision::f32), model);
  EXPECT_EQ(models.find_or_load(disk.path() / ".." / disk.path().filename(), Precision::f32), model);
  EXPECT_EQ(models.count(), 1U);
}

TEST(KeptModels, TheOneUsedLongestAgoIsDropped) {
  const OnDisk a, b, c;
  KeptModels unlimited(kPlenty);
  static_cast<void>(unlimited.find_or_load(a.path(), Precision::f32));
  // Room for two, also while the files of another are read.
  const auto files = std::filesystem::file_size(a.path() / "model.safetensors") +
                     std::filesystem::file_size(a.path() / "vocab.json") +
                     std::filesystem::file_size(a.path() / "merges.txt") +
                     std::filesystem::file_size(a.path() / "config.json");
  KeptModels models(unlimited.bytes() + std::max<std::size_t>(unlimited.bytes(), files));
  const auto first = models.find_or_load(a.path(), Precision::f32);
  const auto second = models.find_or_load(b.path(), Precision::f32);
  EXPECT_EQ(models.find_or_load(a.path(), Precision::f32), first);
  static_cast<void>(models.find_or_load(c.path(), Precision::f32));
  EXPECT_EQ(models.count(), 2U);
  EXPECT_EQ(models.find_or_load(a.path(), Precision::f32), first);
  EXPECT_NE(models.find_or_load(b.path(), Precision::f32), second);
}

TEST(KeptModels, WhatIsLargerThanTheLimitIsNotKept) {
  const OnDisk disk;
  KeptModels models(1000);
  EXPECT_NE(models.find_or_load(disk.path(), Precision::f32), nullptr);
  EXPECT_EQ(models.count(), 0U);
  EXPECT_EQ(models.bytes(), 0U);
}

}  // namespace
}  // namespace headscope::app::memo_test
