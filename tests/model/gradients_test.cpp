// Derivatives compared with a tape in float64: of every metric, through passes without edits and with every
// kind of edit; and those of single steps.
#include "model/files/error.h"
#include "model/gradient/steps.h"
#include "model/gradient/transposed_product.h"
#include "model/kernels/kernels.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"
#include "tests/support/packed_weights.h"
#include "tests/support/parameter_names.h"
#include "tests/support/random_numbers.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/sentences.h"

namespace headscope::model::gradients_test {
namespace {

std::vector<Metric> every_metric(int vocabulary, int length) {
  return {TokenLogit{3},
          LogitDifference{1, vocabulary - 1},
          LogProbability{2},
          Divergence{normal_numbers(vocabulary)},
          TokenLogit{0, 0},
          LogitDifference{5, 6, length / 2},
          LogProbability{vocabulary - 2, length / 2},
          Divergence{normal_numbers(vocabulary, 1, 2), 0},
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
  std::vector<float> nan = normal_numbers(kVocabulary), hidden(kVocabulary, -kInfinity);
  nan[4] = std::numeric_limits<float>::quiet_NaN();
  const char* ids = "but the model's vocabulary has the ids 0 to 89";
  const char* positions = "but the run has positions 0 to 3";
  const std::vector<std::pair<Metric, const char*>> all{
      {TokenLogit{90}, ids},
      {LogitDifference{0, 90}, "names the token 90"},
      {LogProbability{90}, ids},
      {TokenLogit{0, 4}, positions},
      {Divergence{normal_numbers(kVocabulary), 4}, positions},
      {Divergence{normal_numbers(89)}, "has 89 logits, but the model has 90"},
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
  std::vector<float> baseline = normal_numbers(kVocabulary);
  baseline[3] = -kInfinity;
  expect_reference(*run(tokens_of(5)), Divergence{baseline});
}

TEST_F(GradientsTest, ARunOfAnotherModelIsRejected) {
  const auto other = Transformer::load(folder_->path());
  const auto foreign = other->forward(tokens_of(4), workspace_);
  EXPECT_THAT(message_of<RunError>([&] { transformer_->gradients(*foreign, TokenLogit{}, workspace_); }),
              HasSubstr("another model's"));
}

class GradientEditsTest : public GradientsFixture {
 protected:
  void expect_right(const Edits& edits, int length, const Metric& metric = LogProbability{7}) {
    expect_reference_gradients(*reference_, *transformer_, *run(tokens_of(length), edits), metric,
                               workspace_);
  }
};

class GradientOfEveryKind : public GradientEditsTest, public ::testing::WithParamInterface<EditCase> {};

INSTANTIATE_TEST_SUITE_P(Sites, GradientOfEveryKind, ::testing::ValuesIn(edit_cases()), name_of);

TEST_P(GradientOfEveryKind, IsTheReferences) {
  const Edits edits = edits_from(GetParam(), transformer_->config());
  expect_right(edits, 8);
  expect_right(edits, 8, PromptLoss{});
}

TEST_F(GradientEditsTest, OfLogitsCountForEveryMetric) {
  const EditSite all{{Site::logits}, {}, {}, {}}, some{{Site::logits}, {}, {2, 7}, {7, 3}};
  for (const Edits& edits :
       {Edits{ScaleValues{all, 0.5F}}, Edits{SetValues{some, {0.5F, 2}}},
        Edits{ScaleValues{some, 3}, AddVector{all, {1}, 2}}, Edits{PatchFrom{some, tokens_of(8, 3), {}}}})
    for (const Metric& metric :
         {Metric{TokenLogit{7}}, Metric{LogitDifference{3, 9, 2}}, Metric{PromptLoss{}}})
      expect_right(edits, 8, metric);
}

class GradientOfEveryList : public GradientEditsTest, public ::testing::WithParamInterface<EditList> {};
INSTANTIATE_TEST_SUITE_P(Lists, GradientOfEveryList, ::testing::ValuesIn(edit_lists()),
                         [](const auto& list) { return list.param.name; });

TEST_P(GradientOfEveryList, IsTheReferences) {
  expect_right(GetParam().edits, GetParam().length, PromptLoss{});
}

// --- products ---

class TransposedProduct : public ::testing::TestWithParam<Precision> {
 protected:
  std::mt19937 generator_{7};
  Buffer transposed_;
};

TEST_P(TransposedProduct, IsThatOfDoublesForAnyShape) {
  for (const PanelKernels& kernels : runnable_kernels()) {
    Workers workers(2, kernels);
    for (const auto& [depth, cols] : {std::pair{1, 1},
                                      {5, 3},
                                      {130, 64},
                                      {30, 193},
                                      {300, 400},
                                      {513, 17},
                                      {40, 2 * kColumnsTransposed + 70}}) {
      const PackedWeights w(depth, cols, GetParam(), generator_);
      for (const int rows : {1, 2, 41, 63, 129, 300}) {
        const NumberMatrix x(rows, cols, Precision::f32, generator_, 7);
        Surrounded y(rows, depth);
        product_with_transposed(x.view(), w.matrix(), {}, workers, transposed_, y.view());
        expect_product(
            y, x, [&](int j, int k) { return w(k, j); }, rows, cols, depth);
      }
    }
  }
}

TEST_P(TransposedProduct, IsTheSameToTheBitForAnyNumberOfThreadsAndRows) {
  constexpr int kDepth = 150, kCols = 301, kRows = 140;
  const PackedWeights w(kDepth, kCols, GetParam(), generator_);
  const NumberMatrix x(kRows, kCols, Precision::f32, generator_);
  Workers one(1);
  Surrounded expected(kRows, kDepth), single(1, kDepth);
  product_with_transposed(x.view(), w.matrix(), {}, one, transposed_, expected.view());
  for (const int threads : {2, 3, 16}) {
    Workers workers(threads);
    Surrounded y(kRows, kDepth);
    product_with_transposed(x.view(), w.matrix(), {}, workers, transposed_, y.view());
    EXPECT_EQ(y.values(), expected.values()) << threads;
  }
  product_with_transposed(x.view().middle_rows(77, 1), w.matrix(), {}, one, transposed_, single.view());
  for (int k = 0; k < kDepth; ++k) EXPECT_EQ(single(0, k), expected(77, k)) << k;
}

INSTANTIATE_TEST_SUITE_P(Precisions, TransposedProduct,
                         ::testing::Values(Precision::f32, Precision::f16, Precision::bf16),
                         [](const auto& test) { return testing::name_of(test.param); });

// --- activations ---

// Against differences of the reference, on either side: at a kink they are not the same.
TEST(ActivationSlopes, AreThoseOfDoubles) {
  std::vector<float> values;
  for (float x = -12; x < 12; x += 0.007F) values.push_back(x);
  constexpr double kStep = 1e-5;
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation : testing::kActivations) {
      std::vector<float> slopes = values;
      activation_slopes(kernels.rows, activation, slopes);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<double>(values[i]);
        const double at = testing::activated(activation, x),
                     after = testing::activated(activation, x + kStep),
                     before = testing::activated(activation, x - kStep);
        if (std::abs(after - 2 * at + before) > 1e-3 * kStep) continue;
        ASSERT_NEAR(slopes[i], (after - before) / (2 * kStep), 4e-6)
            << kernels.name << " " << function_of(activation).name << " at " << values[i];
      }
    }
}

TEST(ActivationSlopes, AreThatOfAStraightLineFarOut) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const PanelKernels& kernels : runnable_kernels())
    for (const Activation activation :
         {Activation::gelu_new, Activation::gelu, Activation::quick_gelu, Activation::relu, Activation::silu,
          Activation::mish, Activation::tanh, Activation::sigmoid}) {
      const float right = activation == Activation::tanh || activation == Activation::sigmoid ? 0 : 1;
      std::vector<float> row{30,   150,   1e6F,   3e38F,      kInfinity,
                             -150, -1e6F, -3e38F, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
      activation_slopes(kernels.rows, activation, row);
      for (std::size_t i = 0; i + 1 < row.size(); ++i)
        EXPECT_NEAR(row[i], i < 5 ? right : 0, 1e-12) << function_of(activation).name << " " << i;
      EXPECT_TRUE(std::isnan(row.back())) << function_of(activation).name;
    }
}

TEST(SoftmaxGradient, IsZeroWhereNothingIsSeen) {
  std::vector<float> weights{0, 0.5F, 0.5F, 0}, gradient{3, 1, 2, -7};
  softmax_gradient(weights, gradient);
  EXPECT_EQ(gradient, (std::vector<float>{0, -0.25F, 0.25F, 0}));
  std::vector<float> none(3, 0.0F), of_none{1, 2, 3};
  softmax_gradient(none, of_none);
  EXPECT_EQ(of_none, none);
}

}  // namespace
}  // namespace headscope::model::gradients_test
