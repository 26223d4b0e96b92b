// Statistics of a pass; values that are not finite are propagated and located.
#include "model/pass/statistics.h"
#include "model/files/error.h"
#include "model/pass/not_finite.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model::statistics_test {
namespace {

std::vector<int> ids_of(const std::vector<Guess>& guesses) {
  std::vector<int> ids;
  for (const Guess& guess : guesses) ids.push_back(guess.id);
  return ids;
}

TEST(LogSumExp, IsThatOfDoublesForAnyLengthAndSize) {
  for (const std::size_t n : {1U, 15U, 16U, 1000U, 50257U}) {
    for (const float offset : {0.0F, 1000.0F, -1000.0F, 1e6F}) {
      std::vector<float> logits(n);
      for (std::size_t i = 0; i < n; ++i) logits[i] = offset + 5 * std::sin(static_cast<float>(i) * 1.7F);
      double sum = 0;
      for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - offset);
      EXPECT_NEAR(log_sum_exp(logits), offset + std::log(sum), 3e-7) << n << " " << offset;
    }
  }
}

TEST(LargestLogits, ComeBestFirstAndTiesByTheSmallerId) {
  const std::vector<float> logits = {1, 5, 3, 5, -2, 5, 4};
  EXPECT_THAT(ids_of(largest_logits(logits, 1)), ElementsAre(1));
  EXPECT_THAT(ids_of(largest_logits(logits, 4)), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(ids_of(largest_logits(logits, 100)), ElementsAre(1, 3, 5, 6, 2, 0, 4));
  EXPECT_TRUE(largest_logits(logits, 0).empty());
  EXPECT_TRUE(largest_logits(logits, -3).empty());
  for (int id = 0; id < 7; ++id) {
    const std::vector<int> order = ids_of(largest_logits(logits, 7));
    EXPECT_EQ(rank_of(logits, id), std::find(order.begin(), order.end(), id) - order.begin());
  }
}

TEST(LargestLogits, NaNComesLastAndHasNoRank) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {nan, 1, -infinity, 7, nan, 7};
  EXPECT_THAT(ids_of(largest_logits(logits, 6)), ElementsAre(3, 5, 1, 2, 0, 4));
  EXPECT_THAT(ids_of(largest_logits(logits, 5)), ElementsAre(3, 5, 1, 2, 0));
  EXPECT_THAT(ids_of(largest_logits(logits, 2)), ElementsAre(3, 5));
  for (int id = 0; id < 6; ++id) EXPECT_EQ(rank_of(logits, id), -1);
  EXPECT_TRUE(std::isnan(log_sum_exp(logits)));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>(40, nan))));
  EXPECT_EQ(rank_of(std::vector<float>(40, nan), 3), -1);
}

/// A model with more positions than are computed together, and with equal logits for ids that are far apart:
/// row i of the embedding is row i % kDifferent.
class Equals : public ::testing::Test {
 protected:
  static constexpr int kVocabulary = 3 * 1024 + 475, kDifferent = 700, kLength = 140;

  static void SetUpTestSuite() {
    const testing::TemporaryFolder folder;
    const testing::Gpt2Shape shape{.layers = 1, .positions = kLength, .vocabulary = kVocabulary};
    std::vector<testing::RawTensor> tensors = gpt2_tensors(shape);
    ASSERT_EQ(tensors[0].name, "wte.weight");
    std::string& bytes = tensors[0].bytes;
    const std::size_t row = bytes.size() / kVocabulary;
    for (std::size_t i = kDifferent; i < kVocabulary; ++i) {
      bytes.replace(i * row, row, bytes, i % kDifferent * row, row);
    }
    write_gpt2(folder, gpt2_config(shape), tensors);
    transformer_ = Transformer::load(folder.path());
    Workspace workspace(1);
    std::vector<int> tokens;
    for (int i = 0; i < kLength; ++i) tokens.push_back(i * i * 97 % kVocabulary);
    tokens[5] = 0;
    tokens[6] = kVocabulary - 1;
    tokens[7] = 3 * kDifferent;
    run_ = transformer_->forward(tokens, workspace);
    logits_ = testing::all_logits(*transformer_, *run_, workspace);
  }
  static void TearDownTestSuite() {
    run_.reset();
    transformer_.reset();
  }

  static std::span<const float> logits(int pos) {
    return std::span(logits_).subspan(static_cast<std::size_t>(pos) * kVocabulary, kVocabulary);
  }

  static inline std::shared_ptr<const Transformer> transformer_;
  static inline std::shared_ptr<const model::Run> run_;
  static inline std::vector<float> logits_;  // [kLength, kVocabulary]
};

/// All ids, best first.
std::vector<int> sorted_ids(std::span<const float> logits) {
  std::vector<int> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  return ids;
}

void expect_statistics(std::span<const float> logits, int next, int top, const PositionStatistics& found) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  const double log_sum_exp = most + std::log(sum);
  EXPECT_NEAR(found.log_sum_exp, log_sum_exp, 3e-7);

  const std::vector<int> order = sorted_ids(logits);
  ASSERT_EQ(found.top.size(), std::min(static_cast<std::size_t>(top), order.size()));
  for (std::size_t i = 0; i < found.top.size(); ++i) {
    const float logit = logits[order[i]];
    ASSERT_EQ(found.top[i].id, order[i]) << "guess " << i;
    ASSERT_EQ(found.top[i].logit, logit);
    const double probability = std::exp(logit - log_sum_exp);
    ASSERT_NEAR(found.top[i].probability, probability, 1e-6 * probability);
  }

  if (next < 0) {
    EXPECT_EQ(found.next_rank, -1);
    EXPECT_TRUE(std::isnan(found.next_logit));
    EXPECT_TRUE(std::isnan(found.next_probability));
    return;
  }
  const float logit = logits[next];
  EXPECT_EQ(found.next_logit, logit);
  EXPECT_EQ(found.next_rank, std::ranges::find(order, next) - order.begin());
  const double probability = std::exp(logit - log_sum_exp);
  EXPECT_NEAR(found.next_probability, probability, 1e-6 * probability);
}

TEST_F(Equals, AreThoseOfTheWholeVocabularyForAnyPositions) {
  Workspace workspace(2);
  for (const auto& [first, count] : {std::pair{0, 1}, {5, 2}, {128, 12}, {10, 130}, {0, 140}, {139, 1}}) {
    for (const int top : {1, 12}) {
      const auto found = transformer_->statistics(*run_, first, count, top, workspace);
      ASSERT_EQ(found.size(), static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) {
        SCOPED_TRACE("position " + std::to_string(first + i));
        const auto next = static_cast<std::size_t>(first + i + 1);
        expect_statistics(logits(first + i), next < run_->tokens.size() ? run_->tokens[next] : -1, top,
                          found[i]);
      }
    }
  }
}

// ---- the logit lens ----

/// The rows of the stream at positions [first, first + count): [count * (n_layer + 1), d_model].
std::vector<float> stream_of(const model::Run& run, int first, int count) {
  std::vector<float> rows;
  for (int pos = first; pos < first + count; ++pos) {
    for (int layer = 0; layer <= run.config.n_layer; ++layer) {
      const std::span<const float> row = run.resid(layer, pos);
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return rows;
}

/// What ln_f and the unembedding make of a row, in double precision: the logits read it in place of the
/// stream.
std::vector<double> probabilities_in_double(const testing::ReferenceGpt2& model, std::span<const float> row) {
  testing::ReferenceGpt2::Edits lens;
  lens.reads = [&](StreamReader reader, const testing::ReferenceGpt2::Rows& stream) {
    return reader == StreamReader() ? testing::ReferenceGpt2::Rows(1, {row.begin(), row.end()}) : stream;
  };
  return model.run(std::vector{0}, lens).probabilities(0);
}

TEST(Lens, IsTheFinalNormAndTheUnembeddingOfEachRow) {
  const auto transformer = Transformer::load(testing::model_folder("plain"));
  Workspace workspace(2);
  const auto run = transformer->forward(tokens_of(20, 0, transformer->config().vocab_size), workspace);
  const int depth = run->config.n_layer + 1, first = 3, count = 5;
  const std::vector<float> rows = stream_of(*run, first, count);
  const std::vector<int> targets = {7, 0, run->config.vocab_size - 1, 11, 20};
  const auto found = transformer->lens(rows, depth, targets, 5, workspace);
  ASSERT_EQ(found.size(), static_cast<std::size_t>(depth * count));

  const testing::ReferenceGpt2 reference(testing::model_folder("plain"));
  const auto d_model = static_cast<std::size_t>(run->config.n_embd);
  const auto row = [&](int i) {
    return std::span(rows).subspan(static_cast<std::size_t>(i) * d_model, d_model);
  };
  double largest = 0;
  for (int i = 0; i < depth * count; ++i) {
    SCOPED_TRACE("row " + std::to_string(i));
    const LensReading& reading = found[i];
    const auto in_double = [&](int of) { return probabilities_in_double(reference, row(of)); };
    const std::vector<double> here = in_double(i), end = in_double(i / depth * depth + depth - 1);
    std::vector<double> sorted = here;
    std::ranges::sort(sorted, std::greater<>());
    ASSERT_EQ(reading.guesses.top.size(), 5U);
    for (std::size_t g = 0; g < 5; ++g) {
      const Guess& guess = reading.guesses.top[g];
      EXPECT_NEAR(guess.probability, sorted[g], 1e-6);
      EXPECT_NEAR(guess.probability, here[guess.id], 1e-6);
    }
    const double p = here[targets[i / depth]];
    EXPECT_NEAR(reading.guesses.next_probability, p, 1e-5 * p);
    const auto above = [&](double factor) {
      return std::ranges::count_if(here, [&](double other) { return other > factor * p; });
    };
    EXPECT_LE(reading.guesses.next_rank, above(1 - 1e-5));
    EXPECT_GE(reading.guesses.next_rank, above(1 + 1e-5));
    double divergence = 0;
    for (std::size_t id = 0; id < here.size(); ++id) divergence += end[id] * std::log(end[id] / here[id]);
    EXPECT_NEAR(reading.divergence, divergence, 1e-5);
    largest = std::max(largest, divergence);
    EXPECT_GE(reading.divergence, 0);
  }
  EXPECT_GT(largest, 0.01) << "the rows say all the same";
}

/// The rows may be anything, so layers do not matter: ten rows per position, computed a few positions at a
/// time.
std::vector<float> ten_rows_of(const model::Run& run, int positions) {
  std::vector<float> rows;
  for (int i = 0; i < 10 * positions; ++i) {
    const std::span<const float> row = run.resid(i % 10 == 9 ? 1 : i % 2, i % 10 == 9 ? i / 10 : i * 7 % 140);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

TEST_F(Equals, LensOfNaNHasNoRankAndNoDivergence) {
  Workspace workspace(2);
  std::vector<float> rows = ten_rows_of(*run_, 3);
  const std::size_t row = rows.size() / 30;
  rows[4 * row] = std::numeric_limits<float>::quiet_NaN();       // at the first position
  rows[19 * row + 1] = std::numeric_limits<float>::quiet_NaN();  // at the end of the second position
  const auto found = transformer_->lens(rows, 10, std::vector{1, 2, 3}, 5, workspace);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::isnan(found[i].divergence), i == 4 || (i >= 10 && i < 20)) << i;
    EXPECT_EQ(found[i].guesses.next_rank < 0, i == 4 || i == 19) << i;
    EXPECT_EQ(found[i].guesses.top.size(), 5U);
  }
}

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr int kWidth = 12, kHeads = 3, kDHead = 4, kVocabulary = 90;
constexpr int kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6, 8};
constexpr int kLength = std::size(kTokens);

/// A model in which element `at` of a tensor is `value`.
std::shared_ptr<const Transformer> model_with(const std::string& tensor, std::size_t at, float value) {
  const testing::TemporaryFolder folder;
  const testing::Gpt2Shape shape{
      .heads = kHeads, .width = kWidth, .positions = 100, .vocabulary = kVocabulary};
  std::vector<testing::RawTensor> tensors = gpt2_tensors(shape);
  for (testing::RawTensor& t : tensors) {
    if (t.name == tensor) std::memcpy(t.bytes.data() + at * sizeof(float), &value, sizeof(float));
  }
  write_gpt2(folder, gpt2_config(shape), tensors);
  return Transformer::load(folder.path());
}

class NotFiniteModel : public ::testing::Test {
 protected:
  std::string first_of(const std::string& tensor, std::size_t at, float value) {
    const auto transformer = model_with(tensor, at, value);
    const auto place = first_not_finite(*transformer->forward(kTokens, workspace_));
    return place ? name_of(*place) : "";
  }
  Workspace workspace_{2};
};

TEST_F(NotFiniteModel, AHeadWhoseQueriesAreNaNHasNoPatternButNaN) {
  const auto transformer = model_with("h.1.attn.c_attn.bias", 2 * kDHead + 1, kNotANumber);
  const auto found = transformer->forward(kTokens, workspace_);
  for (int head = 0; head < kHeads; ++head) {
    std::vector<float> pattern(kLength * kLength);
    transformer->pattern(*found, 1, head, pattern);
    const AttentionStages stages = transformer->attention(*found, 1, head);
    for (int query = 0; query < kLength; ++query) {
      for (int key = 0; key < kLength; ++key) {
        const auto cell = static_cast<std::size_t>(query * kLength + key);
        for (const float weight : {pattern[cell], stages.pattern[cell]}) {
          if (key > query) {
            ASSERT_EQ(weight, 0.0F) << head << " " << query << " " << key;
          } else {
            ASSERT_EQ(std::isnan(weight), head == 2) << head << " " << query << " " << key;
          }
        }
      }
    }
  }
  for (int position = 0; position < kLength; ++position) {
    EXPECT_TRUE(std::isnan(found->resid(2, position)[0])) << position;
  }
  for (const float logit : testing::all_logits(*transformer, *found, workspace_))
    EXPECT_TRUE(std::isnan(logit));
  for (const PositionStatistics& s : transformer->statistics(*found, 0, kLength, 3, workspace_)) {
    EXPECT_TRUE(std::isnan(s.log_sum_exp));
    EXPECT_TRUE(std::isnan(s.next_probability));
    EXPECT_EQ(s.next_rank, -1);
    ASSERT_EQ(s.top.size(), 3U);
    EXPECT_TRUE(std::isnan(s.top[0].probability));
  }
}

TEST_F(NotFiniteModel, TheFirstPlaceIsNamed) {
  EXPECT_EQ(first_of("", 0, 0), "");
  EXPECT_EQ(first_of("h.1.attn.c_attn.bias", 2 * kDHead + 1, kNotANumber),
            "blocks.1.attn.hook_q, head 2, position 0");
  EXPECT_EQ(first_of("h.0.attn.c_attn.bias", kWidth + kDHead, kNotANumber),
            "blocks.0.attn.hook_k, head 1, position 0");
  EXPECT_EQ(first_of("h.0.attn.c_attn.bias", 2 * kWidth, INFINITY),
            "blocks.0.attn.hook_v, head 0, position 0");
  EXPECT_EQ(first_of("wpe.weight", 5 * kWidth, -INFINITY), "blocks.0.hook_resid_pre, position 5");
  EXPECT_EQ(first_of("wte.weight", 9 * kWidth, kNotANumber), "blocks.0.hook_resid_pre, position 5");
  EXPECT_EQ(first_of("h.0.mlp.c_fc.bias", 0, kNotANumber), "blocks.1.hook_resid_pre, position 0");
  EXPECT_EQ(first_of("h.1.mlp.c_proj.bias", 3, INFINITY), "blocks.1.hook_resid_post, position 0");
}

/// A vocabulary row that occurs in no prompt affects only the logits.
TEST_F(NotFiniteModel, ALogitThatIsNaNLeavesNothingToBeSaidOfTheOthers) {
  const auto transformer = model_with("wte.weight", 50 * kWidth, kNotANumber);
  const auto found = transformer->forward(kTokens, workspace_);
  EXPECT_FALSE(first_not_finite(*found));
  for (const int threads : {1, 2}) {
    Workspace workspace(threads);
    for (const PositionStatistics& s : transformer->statistics(*found, 0, kLength, kVocabulary, workspace)) {
      EXPECT_TRUE(std::isnan(s.log_sum_exp));
      EXPECT_EQ(s.next_rank, -1);
      ASSERT_EQ(s.top.size(), static_cast<std::size_t>(kVocabulary));
      EXPECT_EQ(s.top.back().id, 50);
      for (std::size_t i = 2; i < s.top.size(); ++i) {
        EXPECT_TRUE(i + 1 == s.top.size() || s.top[i - 1].logit >= s.top[i].logit) << i;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::model::statistics_test
