// Values that are not finite are propagated and located.
#include "model/pass/not_finite.h"

#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::model::not_finite_test {
namespace {

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
}  // namespace headscope::model::not_finite_test
