// Saliency compared with derivatives at the embeddings in double precision.
#include "app/run/analyses/saliency.h"

#include "model/files/error.h"
#include "tests/app/run/run_of_model.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app::saliency_test {
namespace {

using model::Edits;
using model::kVocabulary;
using model::kWidth;
using model::Site;
using model::tokens_of;
using testing::ReferenceGradients;

constexpr const char* kEmbed = "hook_embed";

class SaliencyTest : public model::GradientsFixture {
 protected:
  PromptRun prompt_run(const std::vector<int>& ids, const Edits& edits = {}) {
    return run_of_model(transformer_, run(ids, edits));
  }
  Saliency saliency(const SaliencyOf& question, const PromptRun& of) {
    return question.compute(of, {workspace_});
  }
  /// The metric and its derivatives in double precision, of logarithms in bits.
  static ReferenceGradients::Result reference(const PromptRun& of, const model::Metric& metric,
                                              const Edits& more = {}) {
    Edits edits = of.run->plan ? of.run->plan->edits() : Edits();
    edits.insert(edits.end(), more.begin(), more.end());
    ReferenceGradients::Result result = reference_->run(of.run->tokens, edits, metric);
    const bool is_logarithm = std::holds_alternative<model::LogProbability>(metric) ||
                              std::holds_alternative<model::PromptLoss>(metric);
    const double unit = is_logarithm ? 1 / std::log(2.0) : 1;
    result.metric *= unit;
    for (double& slope : result.gradients.at(kEmbed)) slope *= unit;
    return result;
  }
  /// The shares by integrated gradients in double precision, by many steps of equal length.
  static std::vector<double> integrated(const PromptRun& of, const model::Metric& metric,
                                        const std::vector<float>& start) {
    constexpr int kSteps = 100;
    const auto values = reference(of, metric).values.at(kEmbed);
    std::vector<double> parts(values.size() / kWidth);
    for (int step = 0; step < kSteps; ++step) {
      const auto part = static_cast<float>((step + 0.5) / kSteps);
      const auto slopes = reference(of, metric, path(start, part)).gradients.at(kEmbed);
      for (std::size_t i = 0; i < slopes.size(); ++i)
        parts[i / kWidth] += slopes[i] / kSteps * (values[i] - static_cast<double>(start[i % kWidth]));
    }
    return parts;
  }
  static Edits path(const std::vector<float>& start, float part) {
    const model::EditSite all{{Site::embed}, {}, {}, {}};
    return {model::ScaleValues{all, part}, model::AddVector{all, start, 1 - part}};
  }
  static std::vector<float> mean_embedding() {
    const testing::ReferenceGpt2 model(folder_->path());
    const std::vector<double>& wte = model.parameter("wte.weight");
    std::vector<double> sum(kWidth);
    for (std::size_t i = 0; i < wte.size(); ++i) sum[i % kWidth] += wte[i] / kVocabulary;
    return {sum.begin(), sum.end()};
  }
};

struct Case {
  const char* name;
  SaliencyOf question;
  model::Metric metric;
};

std::vector<Case> cases() {
  const auto token = &TokenRef::of;
  return {{"logit", {logit_at(4, token(7))}, model::TokenLogit{7, 4}},
          {"difference", {difference_at(6, token(7), token(60))}, model::LogitDifference{7, 60, 6}},
          {"logprob", {{Metric::log_probability, token(3)}}, model::LogProbability{3, 6}},
          {"loss", {.measured = {Metric::loss}}, model::PromptLoss{}}};
}

const Edits kEdits{model::ScaleValues{{{Site::embed}, {}, {1}, {}}, 2},
                   model::SetValues{{{Site::mlp_out, 1}, {}, {3}, {}}, {0.5F}}, model::SetMask{2, {}, {}}};

TEST_F(SaliencyTest, IsTheReferencesAtTheEmbeddings) {
  for (const Edits& edits : {Edits(), kEdits}) {
    const PromptRun of = prompt_run(tokens_of(7), edits);
    for (Case one : cases()) {
      SCOPED_TRACE(one.name);
      const auto expected = reference(of, one.metric);
      const std::vector<double>&values = expected.values.at(kEmbed), &slopes = expected.gradients.at(kEmbed);
      const Saliency product = saliency(one.question, of);
      one.question.method = SaliencyMethod::gradient_norm;
      const Saliency norm = saliency(one.question, of);
      ASSERT_EQ(product.parts.size(), 7U);
      EXPECT_NEAR(product.value, expected.metric, 1e-5);
      double sum = 0, largest = 0;
      for (std::size_t i = 0; i < 7; ++i) {
        double dot = 0, square = 0;
        for (std::size_t j = i * kWidth; j < (i + 1) * kWidth; ++j) {
          dot += slopes[j] * values[j];
          square += slopes[j] * slopes[j];
        }
        EXPECT_NEAR(product.parts[i], dot, 1e-4 * std::max(1.0, std::abs(dot)));
        EXPECT_NEAR(norm.parts[i], std::sqrt(square), 1e-4 * std::max(1.0, std::sqrt(square)));
        sum += dot;
        largest = std::max(largest, std::abs(dot));
      }
      EXPECT_NEAR(product.sum(), sum, 1e-3);
      EXPECT_GT(largest, 1e-3);
    }
  }
}

TEST_F(SaliencyTest, ByIntegratedGradientsIsTheReferences) {
  for (const Edits& edits : {Edits(), kEdits}) {
    const PromptRun of = prompt_run(tokens_of(7), edits);
    for (const auto& [baseline, start] : {std::pair(SaliencyBaseline::zero, std::vector<float>(kWidth)),
                                          std::pair(SaliencyBaseline::mean, mean_embedding())})
      for (Case one : cases()) {
        // Edits and metrics have a test without integration.
        if (one.name != std::string_view(edits.empty() ? "difference" : "loss")) continue;
        SCOPED_TRACE(one.name + std::string(edits.empty() ? "" : ", edited") +
                     (baseline == SaliencyBaseline::zero ? ", from zero" : ", from the mean"));
        one.question.method = SaliencyMethod::integrated;
        one.question.baseline = baseline;
        const Saliency found = saliency(one.question, of);
        const double value = reference(of, one.metric).metric,
                     before = reference(of, one.metric, path(start, 0)).metric;
        EXPECT_NEAR(found.value, value, 1e-5);
        EXPECT_NEAR(found.start, before, 1e-5);
        EXPECT_NEAR(found.sum(), value - before, 1e-3 * std::abs(value - before)) << "completeness";
        EXPECT_NEAR(found.error(), found.sum() - (value - before), 2e-5);
        const std::vector<double> expected = integrated(of, one.metric, start);
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(found.parts[i], expected[i], 1e-3 * std::max(1.0, std::abs(expected[i])));
      }
  }
}

TEST_F(SaliencyTest, ReachesTheMeasuredPositionAndWithEditsLaterOnes) {
  const PromptRun plain = prompt_run(tokens_of(7));
  const Saliency found = saliency({.measured = {.position = 3}}, plain);
  EXPECT_EQ(found.reach(), 4);
  for (std::size_t i = 4; i < 7; ++i) EXPECT_EQ(found.parts[i], 0);
  EXPECT_EQ(saliency({.measured = {Metric::loss}}, plain).reach(), 7);
  EXPECT_EQ(
      saliency({.measured = {.position = 3}}, prompt_run(tokens_of(7), {model::SetMask{1, {}, {}}})).reach(),
      7);
}

TEST_F(SaliencyTest, DifferencesAreTokenByToken) {
  PromptRun run = prompt_run(tokens_of(4));
  run.baseline = std::make_shared<const PromptRun>(prompt_run(tokens_of(4, 1)));
  run.aligned = {0, 2, -1, 3};
  Saliency after, before;
  after.parts = {1, 2, 3, 4};
  before.parts = {0.5, 10, 0.25, 1};
  after.value = 5, before.value = 2;
  after.start = 1, before.start = 4;
  const Saliency found = after.minus(before, run).value();
  EXPECT_EQ(found.parts, (std::vector<double>{0.5, 1.75, 3, 3}));
  EXPECT_EQ(found.unmatched, -10);
  EXPECT_EQ(found.value, 3);
  EXPECT_EQ(found.start, -3);
  EXPECT_EQ(found.sum(), after.sum() - before.sum());
  run.aligned = {1, 0, 3, 2};
  EXPECT_EQ(after.minus(before, run)->unmatched, 0) << "to the bit: nothing is left out";
  after.whole = false;
  EXPECT_FALSE(after.minus(before, run).has_value());
}

TEST_F(SaliencyTest, WhatCannotBeIsOneSentence) {
  const PromptRun of = prompt_run(tokens_of(5));
  const auto said = [&](const SaliencyOf& question, const PromptRun& run) {
    const std::string words = testing::message_of<model::RunError>([&] { saliency(question, run); });
    EXPECT_TRUE(testing::is_sentence(words)) << words;
    return words;
  };
  EXPECT_THAT(said({.measured = {.token = TokenRef::of(90)}}, of), HasSubstr("there is no token 90"));
  EXPECT_THAT(said({.measured = {.position = 5}}, of),
              HasSubstr("there is no position 5: the last one is 4"));
  EXPECT_THAT(said({.measured = {Metric::loss}}, prompt_run(tokens_of(1))),
              HasSubstr("the prompt has 1 token"));
  EXPECT_THAT(
      said({.measured = {}, .method = SaliencyMethod::integrated, .baseline = SaliencyBaseline::end_of_text},
           of),
      HasSubstr("needs a token of that name, but the model has none"));
}

}  // namespace
}  // namespace headscope::app::saliency_test
