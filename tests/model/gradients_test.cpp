// Derivatives of every metric at every site, compared with a tape in float64.

#include "model/files/error.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::gradients_test {
namespace {

/// Logits of another distribution over `count` tokens.
std::vector<float> some_logits(int count, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal;
  std::vector<float> logits;
  for (int i = 0; i < count; ++i) logits.push_back(normal(random));
  return logits;
}

std::vector<Metric> every_metric(int vocabulary, int length) {
  return {TokenLogit{3},
          LogitDifference{1, vocabulary - 1},
          LogProbability{2},
          Divergence{some_logits(vocabulary)},
          TokenLogit{0, 0},
          LogitDifference{5, 6, length / 2},
          LogProbability{vocabulary - 2, length / 2},
          Divergence{some_logits(vocabulary, 2), 0},
          PromptLoss{}};
}

class GradientsTest : public GradientsFixture {
 protected:
  void expect_reference(const model::Run& run, const Metric& metric) {
    expect_reference_gradients(*reference_, *transformer_, run, metric, workspace_);
  }
};

// --- against the reference ---

TEST_F(GradientsTest, OfEveryMetricAreTheReferences) {
  const std::vector<int> ids = tokens_of(9);
  const auto of = run(ids);
  for (const Metric& metric : every_metric(kVocabulary, 9)) {
    SCOPED_TRACE(metric.index());
    expect_reference(*of, metric);
  }
}

TEST_F(GradientsTest, OfSeveralPagesAndChunksAreTheReferences) {
  const auto of = run(tokens_of(132));
  expect_reference(*of, LogProbability{7});
  expect_reference(*of, PromptLoss{});
}

TEST_F(GradientsTest, OfWeightsIn16BitsAreTheReferences) {
  for (const Precision precision : {Precision::f16, Precision::bf16}) {
    LoadOptions options;
    options.precision = precision;
    const auto transformer = Transformer::load(folder_->path(), options);
    const auto of = transformer->forward(tokens_of(9), workspace_);
    expect_reference_gradients(*reference_, *transformer, *of, PromptLoss{}, workspace_);
  }
}

/// Models with every activation, with and without tied embeddings, scaled scores, other widths.
TEST(GradientsOfModels, AreTheReferences) {
  for (const std::string& name : testing::model_names()) {
    SCOPED_TRACE(name);
    const auto transformer = Transformer::load(testing::model_folder(name));
    const ReferenceGradients reference(testing::model_folder(name));
    Workspace workspace(2);
    const int vocabulary = transformer->config().vocab_size;
    const auto of = transformer->forward(tokens_of(transformer->config().n_ctx, 0, vocabulary), workspace);
    for (const Metric& metric :
         {Metric{LogitDifference{1, vocabulary - 1}}, Metric{LogProbability{2}}, Metric{PromptLoss{}}})
      expect_reference_gradients(reference, *transformer, *of, metric, workspace);
  }
}

// --- the same whatever the circumstances ---

TEST_F(GradientsTest, AreTheSameToTheBitForAnyNumberOfThreadsAndHooks) {
  const Edits edits{SetCells{{Site::pattern, 1}, 1, {{100, 2, 0.25F}}, true},
                    ScaleValues{{{Site::result, 0}, 2, {}, {}}, 2}};
  const auto of = run(tokens_of(132), edits);
  for (const Metric& metric : {Metric{PromptLoss{}}, Metric{TokenLogit{5}}}) {
    Activations first;
    for (const int threads : {1, 2, 3}) {
      Workspace workspace(threads);
      const Activations found = gradients_of(*transformer_, *of, metric, workspace);
      if (threads == 1) first = found;
      for (const auto& [name, tensor] : found)
        EXPECT_TRUE(same_bits(first.at(name).values, tensor.values)) << name << ", " << threads << " threads";
    }
    for (const HookPoint point : all_hook_points(transformer_->config())) {  // one hook at a time
      Hooks hooks;
      Activations alone;
      testing::assemble(transformer_->config(), point, of->length(), hooks, alone);
      GradientOptions options;
      options.hooks = &hooks;
      transformer_->gradients(*of, metric, workspace_, options);
      EXPECT_TRUE(same_bits(first.at(hook_name(point)).values, alone.at(hook_name(point)).values))
          << hook_name(point) << " alone";
    }
  }
}

// --- amount of computation ---

TEST_F(GradientsTest, EndAtTheFirstLayerWithAHook) {
  const auto of = run(tokens_of(9));
  const auto layers_with = [&](const std::vector<HookPoint>& points) {
    Hooks hooks;
    for (const HookPoint point : points) hooks.watch(point, [](const ConstActivation2d&) {});
    GradientOptions options;
    options.hooks = &hooks;
    int layers = -1;  // the last report is the end
    double last = -1;
    options.progress = [&](double fraction, const char* what) {
      EXPECT_STREQ(what, "computing gradients");
      EXPECT_GE(fraction, last);
      last = fraction;
      ++layers;
    };
    transformer_->gradients(*of, PromptLoss{}, workspace_, options);
    EXPECT_EQ(last, 1);
    return layers;
  };
  EXPECT_EQ(layers_with({}), 0);
  EXPECT_EQ(layers_with({{Site::logits}}), 0);
  EXPECT_EQ(layers_with({{Site::mlp_out, 2}}), 1);
  EXPECT_EQ(layers_with({{Site::mlp_out, 2}, {Site::q, 1}}), 2);
  EXPECT_EQ(layers_with({{Site::resid_pre, 0}}), 3);
  EXPECT_EQ(layers_with({{Site::pos_embed}}), 3);
}

TEST_F(GradientsTest, AreStopped) {
  const auto of = run(tokens_of(9));
  for (const HookPoint point : all_hook_points(transformer_->config())) {
    std::stop_source source;
    GradientOptions options;
    Hooks hooks;
    hooks.watch({Site::embed}, [](const ConstActivation2d&) { FAIL() << "the pass went on"; });
    const bool late =
        point.site < Site::resid_pre || (point.layer == 0 && point.site < Site::q && in_block(point.site));
    if (late) continue;  // nothing is polled after that
    hooks.watch(point, [&](const ConstActivation2d&) { source.request_stop(); });
    options.hooks = &hooks;
    options.stop = source.get_token();
    EXPECT_THROW(transformer_->gradients(*of, PromptLoss{}, workspace_, options), Stopped)
        << hook_name(point);
  }
}

// --- rejected metrics and runs ---

TEST_F(GradientsTest, AWrongMetricIsOneSentence) {
  const auto of = run(tokens_of(4)), single = run(tokens_of(1));
  std::vector<float> nan = some_logits(kVocabulary), hidden(kVocabulary, -kInfinity);
  nan[4] = std::numeric_limits<float>::quiet_NaN();
  const char* ids = "but the model's vocabulary has the ids 0 to 89";
  const char* positions = "but the run has positions 0 to 3";
  const std::vector<std::pair<Metric, const char*>> all{
      {TokenLogit{90}, ids},
      {LogitDifference{0, 90}, "names the token 90"},
      {LogProbability{90}, ids},
      {TokenLogit{0, 4}, positions},
      {Divergence{some_logits(kVocabulary), 4}, positions},
      {Divergence{some_logits(89)}, "has 89 logits, but the model has 90"},
      {Divergence{nan}, "is not a distribution"},
      {Divergence{hidden}, "is not a distribution"},
  };
  for (const auto& [metric, says] : all) {
    const std::string said =
        message_of<RunError>([&, &what = metric] { transformer_->gradients(*of, what, workspace_); });
    EXPECT_THAT(said, HasSubstr(says));
    EXPECT_TRUE(testing::is_sentence(said)) << said;
  }
  EXPECT_THAT(message_of<RunError>([&] { transformer_->gradients(*single, PromptLoss{}, workspace_); }),
              HasSubstr("the prompt has 1 token"));
}

TEST_F(GradientsTest, ABaselineMayHideTokens) {
  std::vector<float> baseline = some_logits(kVocabulary);
  baseline[3] = -kInfinity;
  expect_reference(*run(tokens_of(5)), Divergence{baseline});
}

TEST_F(GradientsTest, ARunOfAnotherModelIsRejected) {
  const auto other = Transformer::load(folder_->path());
  const auto foreign = other->forward(tokens_of(4), workspace_);
  EXPECT_THAT(message_of<RunError>([&] { transformer_->gradients(*foreign, TokenLogit{}, workspace_); }),
              HasSubstr("another model's"));
}

}  // namespace
}  // namespace headscope::model::gradients_test
