// Variants of a run that share their products: each is bit-identical to computing it alone.

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::variants_test {
namespace {

using Plans = std::vector<std::shared_ptr<const Plan>>;

class VariantsTest : public SmallModel {
 protected:
  /// Plans with every kind at every site, masks, position ids, lists, and no edits.
  Plans every_plan() {
    Plans plans{nullptr, plan({})};
    for (const EditCase& what : edit_cases()) plans.push_back(plan(edits_from(what, transformer_->config())));
    for (const std::optional<int> layer : {std::optional<int>(), std::optional(0), std::optional(2)}) {
      plans.push_back(plan({SetMask{layer, {}, {}}}));
      plans.push_back(plan({SetMask{layer, 1, some_mask()}}));
    }
    plans.push_back(plan({SetPositionIds{{0, 0, -1, 7}}}));
    plans.push_back(plan({SetPositionIds{{0, 1, 2, 3, -1}}}));
    for (const Site site :
         {Site::resid_pre, Site::q, Site::k, Site::v, Site::z, Site::attn_out, Site::mlp_out}) {
      const std::optional<int> head = has_heads(site) ? std::optional(2) : std::nullopt;
      plans.push_back(plan({SetMean{{{site, kLayers - 1}, head, {}, {}}}}));
      plans.push_back(plan({SetValues{{{site, kLayers - 1}, head, {3, 6}, {}}, {0}}}));
      plans.push_back(plan({SetValues{{{site, 0}, head, {}, {}}, {0}}}));
    }
    plans.push_back(
        plan({ScaleValues{{{Site::z, 0}, 0, {7}, {}}, 2}, SetMean{{{Site::mlp_post, 2}, {}, {}, {4}}},
              SetMean{{{Site::ln_final_scale}, {}, {}, {}}}}));
    return plans;
  }

  std::map<std::size_t, std::vector<float>> together(const model::Run& clean, const Plans& plans, int first,
                                                     int count, Workspace& workspace) {
    std::map<std::size_t, std::vector<float>> found;
    transformer_->variants(clean, plans, first, count, workspace, [&](std::size_t i, ConstFloatRows logits) {
      EXPECT_FALSE(found.contains(i));
      EXPECT_EQ(logits.rows, count);
      EXPECT_EQ(logits.cols, transformer_->config().vocab_size);
      for (int row = 0; row < logits.rows; ++row)
        found[i].insert(found[i].end(), logits.row(row).begin(), logits.row(row).end());
    });
    return found;
  }

  std::vector<float> alone(const model::Run& clean, const std::shared_ptr<const Plan>& plan, int first,
                           int count) {
    ForwardOptions options;
    options.plan = plan;
    options.clean = &clean;
    const auto edited = transformer_->forward(clean.tokens, workspace_, options);
    std::vector<float> logits(static_cast<std::size_t>(count) *
                              static_cast<std::size_t>(transformer_->config().vocab_size));
    transformer_->logits(*edited, first, count, workspace_, logits);
    return logits;
  }

  void expect_same(std::span<const int> ids, const Plans& plans, int first, int count, int threads = 2) {
    SCOPED_TRACE(std::to_string(ids.size()) + " tokens, positions from " + std::to_string(first) + ", " +
                 std::to_string(count) + " of them, threads " + std::to_string(threads));
    const auto clean = run(ids);
    Workspace workspace(threads);
    const auto found = together(*clean, plans, first, count, workspace);
    ASSERT_EQ(found.size(), plans.size());
    for (const auto& [i, logits] : found) {
      const std::vector<float> expected = alone(*clean, plans[i], first, count);
      EXPECT_TRUE(testing::same_bits(logits, expected))
          << "plan " << i << " at " << (plans[i] == nullptr ? "nothing" : hook_name(plans[i]->first_point()));
    }
  }
};

TEST_F(VariantsTest, AreToTheBitWhatEachIsAlone) {
  const Plans plans = every_plan();
  expect_same(tokens_of(8), plans, 7, 1);
  expect_same(tokens_of(8), plans, 4, 1);
  expect_same(tokens_of(8), plans, 0, 8);
  expect_same(tokens_of(11), plans, 3, 4);
  expect_same(tokens_of(150), plans, 149, 1);
  expect_same(tokens_of(150), plans, 60, 70);
  for (const int threads : {1, 3, 5}) expect_same(tokens_of(70), plans, 69, 1, threads);
}

TEST_F(VariantsTest, MayBeginBehindTheFirstPages) {
  Plans plans;
  for (int pos = 0; pos < 150; pos += 21)
    for (int layer = 0; layer < kLayers; ++layer)
      for (const Site site : {Site::resid_pre, Site::attn_out, Site::mlp_out, Site::k})
        plans.push_back(plan({ScaleValues{{{site, layer}, {}, {pos}, {}}, -2}}));
  expect_same(tokens_of(150), plans, 149, 1);
  expect_same(tokens_of(150), plans, 100, 3);
}

TEST_F(VariantsTest, OfAnyPromptAndOfNone) {
  const Plans plans = {plan({SetValues{{{Site::z, 1}, 0, {}, {}}, {0}}}), plan({SetMask{}}), nullptr};
  expect_same(tokens_of(1), plans, 0, 1);
  expect_same(tokens_of(200), plans, 199, 1);
  expect_same(tokens_of(5), {}, 4, 1);
  EXPECT_TRUE(together(*run(tokens_of(5)), plans, 2, 0, workspace_).empty()) << "of no position";
}

/// Widths of whole panels, for which queries are projected separately.
class WideVariantsTest : public VariantsTest {
 protected:
  static void SetUpTestSuite() {
    load_shape({.layers = 3, .heads = 3, .width = 192, .positions = 200, .vocabulary = 90});
  }
};

TEST_F(WideVariantsTest, AreToTheBitWhatEachIsAlone) {
  Plans plans;
  for (int layer = 0; layer < 3; ++layer)
    for (const Site site :
         {Site::resid_pre, Site::q, Site::k, Site::pattern, Site::z, Site::result, Site::mlp_post})
      plans.push_back(plan({ScaleValues{{{site, layer}, {}, {}, {}}, 0.5F}}));
  expect_same(tokens_of(70), plans, 69, 1);
  expect_same(tokens_of(70), plans, 10, 20);
}

TEST_F(VariantsTest, StopBetweenLayersAndVariants) {
  const auto clean = run(tokens_of(100));
  const Plans plans(60, plan({ScaleValues{{{Site::resid_pre, 0}, {}, {}, {}}, 0.5F}}));
  std::stop_source before;
  before.request_stop();
  int visited = 0;
  EXPECT_THROW(transformer_->variants(
                   *clean, plans, 99, 1, workspace_, [&](std::size_t, ConstFloatRows) { ++visited; },
                   before.get_token()),
               Stopped);
  EXPECT_EQ(visited, 0);
  std::stop_source stop;
  EXPECT_THROW(transformer_->variants(
                   *clean, plans, 99, 1, workspace_,
                   [&](std::size_t, ConstFloatRows) {
                     ++visited;
                     stop.request_stop();
                   },
                   stop.get_token()),
               Stopped);
  EXPECT_GT(visited, 0);
  EXPECT_LT(visited, 60);
  EXPECT_EQ(together(*clean, plans, 99, 1, workspace_).size(), 60U) << "the workspace is as good as before";
}

TEST_F(VariantsTest, BeginWithAnUneditedRun) {
  const std::vector<int> ids = tokens_of(6);
  const Plans plans = {plan({ScaleValues{{{Site::z, 0}, 0, {}, {}}, 0}})};
  const auto visit = [](std::size_t, ConstFloatRows) {};
  ForwardOptions options;
  options.plan = plans.front();
  const auto edited = transformer_->forward(ids, workspace_, options);
  EXPECT_THAT(message_of<RunError>([&] { transformer_->variants(*edited, plans, 5, 1, workspace_, visit); }),
              HasSubstr("need an unedited run"));
  EXPECT_EQ(message_of<RunError>([&] { transformer_->variants(*run(ids), plans, 6, 1, workspace_, visit); }),
            "there is no position 6; the run has positions 0 to 5");
}

}  // namespace
}  // namespace headscope::model::variants_test
