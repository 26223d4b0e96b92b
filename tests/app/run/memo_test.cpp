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
      run->pages.push_back(std::make_shared<model::Page>(run->config, first));
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

TEST(Memo, AnswersOfTheModelAreOfEveryRunAndCountOnce) {
  Memo memo(2 * kPage + 100);
  memo.remember(make_run({1, 2}));
  memo.keep(BlobOfModel{{1}}, blob(60), {});
  memo.remember(make_run({3}));
  EXPECT_NE(memo.find(BlobOfModel{{1}}), nullptr);
  EXPECT_NE(memo.newest_answers().find(BlobOfModel{{1}}), nullptr);
  EXPECT_EQ(memo.bytes(), 2 * kPage + 60);
  memo.keep(BlobOf{2, 60}, blob(60), {BlobOfModel{{1}}});  // the run is dropped, but not the requested answer
  EXPECT_NE(memo.find(BlobOfModel{{1}}), nullptr);
  EXPECT_EQ(memo.bytes(), kPage + 120);
  memo.find(BlobOf{2, 60});
  memo.keep(BlobOf{3, kPage}, blob(kPage), {});
  EXPECT_EQ(memo.find(BlobOfModel{{1}}), nullptr);
}

TEST(Memo, RunsAndAnswersShareOneBudgetAndTheLongestUnusedGoesFirst) {
  Memo memo(2 * kPage + 100);
  memo.remember(make_run({1, 2}));
  memo.keep(BlobOf{1, 60}, blob(60), {});
  memo.keep(BlobOf{2, 30}, blob(30), {});
  EXPECT_EQ(memo.bytes(), kPage + 90);
  memo.remember(make_run({3}));
  memo.keep(BlobOf{3, 40}, blob(40),
            {});  // the answer to the first question must be dropped, the second may stay
  EXPECT_EQ(memo.bytes(), 2 * kPage + 70);
  memo.remember(make_run({1, 2}));
  EXPECT_EQ(memo.find(BlobOf{1, 60}), nullptr);
  EXPECT_NE(memo.find(BlobOf{2, 30}), nullptr);
}

TEST(Memo, AFailureIsForgottenWithTheNextRun) {
  Memo memo(100 * kPage);
  memo.remember(make_run({1, 2}));
  memo.keep(BlobOf{1}, std::make_shared<const Answer>(Answer{nullptr, 0, true, "It failed."}), {});
  ASSERT_NE(memo.find(BlobOf{1}), nullptr);
  EXPECT_EQ(memo.find(BlobOf{1})->failure, "It failed.");
  memo.remember(make_run({3}));
  memo.remember(make_run({1, 2}));
  EXPECT_EQ(memo.find(BlobOf{1}), nullptr);
}

TEST(AnswerList, ACopySharesTheAnswersAndDoesNotSeeWhatIsSetLater) {
  AnswerList list;
  const auto first = blob(1), second = blob(10);
  for (int i = 0; i < 1000; ++i) list.set(BlobOf{i}, first);
  const auto uses = first.use_count();
  const AnswerList copy = list;
  list.set(BlobOf{7}, second);
  list.set(BlobOf{1000}, second);
  list.set(BlobOf{8}, nullptr);
  EXPECT_LE(first.use_count(), uses + uses / 10) << "only the parts that change are copied";
  EXPECT_EQ(copy.find(BlobOf{7}), first);
  EXPECT_EQ(copy.find(BlobOf{8}), first);
  EXPECT_EQ(copy.find(BlobOf{1000}), nullptr);
  EXPECT_EQ(copy.size(), 1000U);
  EXPECT_EQ(copy.bytes(), 1000U);
  EXPECT_EQ(list.find(BlobOf{7}), second);
  EXPECT_EQ(list.find(BlobOf{8}), nullptr);
  EXPECT_EQ(list.size(), 1000U);
  EXPECT_EQ(list.bytes(), 998U + 20U);
  list.erase_if([&](const AnswerList::Entry& kept) { return kept.answer == first; });
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.bytes(), 20U);
  EXPECT_EQ(list.find(BlobOf{1000}), second);
}

struct SameHash : BlobOf {
  std::size_t hash() const { return 1; }
};

TEST(AnswerList, EqualHashesAreToldApart) {
  AnswerList list;
  for (int i = 0; i < 100; ++i) list.set(SameHash{{i}}, blob(static_cast<std::size_t>(i)));
  EXPECT_EQ(list.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(list.find(SameHash{{i}}), nullptr);
    EXPECT_EQ(list.find(SameHash{{i}})->bytes, static_cast<std::size_t>(i));
  }
  for (int i = 0; i < 100; i += 2) list.set(SameHash{{i}}, nullptr);
  EXPECT_EQ(list.size(), 50U);
  EXPECT_EQ(list.find(SameHash{{2}}), nullptr);
  EXPECT_NE(list.find(SameHash{{3}}), nullptr);
}

TEST(Memo, WhatIsSaidOfABaselineHoldsForEveryRunThatIsComparedWithIt) {
  Memo memo(100 * kPage);
  const auto baseline = make_run({1, 2});
  const Question there = Question(BlobOf{1}).on_baseline(), between = Question(BlobOf{1}).difference();
  memo.set_baseline(baseline);
  memo.remember(make_run({3}));
  memo.keep(there, blob(1), {});
  memo.keep(between, blob(1), {});
  memo.remember(make_run({4}));
  EXPECT_NE(memo.find(there), nullptr);
  EXPECT_EQ(memo.find(between), nullptr) << "that is of the run, too";
  memo.remember(make_run({5}));
  memo.forget_unasked({between});
  EXPECT_NE(memo.find(there), nullptr) << "the difference is made of it";
  memo.remember(make_run({6}));
  memo.forget_unasked({});
  EXPECT_EQ(memo.find(there), nullptr) << "nobody asked for a while";

  memo.keep(there, blob(1), {});
  memo.set_baseline(make_run({1, 2, 3}));
  memo.remember(make_run({7}));
  EXPECT_EQ(memo.find(there), nullptr);
}

TEST(Memo, ForgetsWhatWasMadeFromWhatIsAnotherNow) {
  using Source = Memo::Source;
  const Question own = BlobOf{1}, there = own.on_baseline(), model = BlobOfModel{{1}},
                 second = model.on_baseline();
  for (const Source changed : {Source::edits, Source::baseline, Source::comparison, Source::second_model}) {
    SCOPED_TRACE(static_cast<int>(changed));
    Memo memo(100 * kPage);
    memo.remember(make_run({1, 2}));
    for (const Question& question : {own, there, model, second}) memo.keep(question, blob(1), {});
    memo.set_previous_answer(own, blob(1));
    memo.forget(changed);
    EXPECT_NE(memo.find(own), nullptr);
    EXPECT_NE(memo.find(model), nullptr);
    EXPECT_EQ(memo.find(there) == nullptr, changed == Source::comparison || changed == Source::second_model);
    EXPECT_EQ(memo.find(second) == nullptr, changed == Source::second_model);
    EXPECT_EQ(memo.previous_answer(own) == nullptr,
              changed == Source::edits || changed == Source::second_model);
  }
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
  EXPECT_GE(models.bytes(), first->transformer->weight_bytes());
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
