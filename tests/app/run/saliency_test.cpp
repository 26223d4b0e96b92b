// Saliency, and sources of a score: shares and products against definitions in double precision, and their
// sums.
#include "app/run/analyses/saliency.h"
#include "app/run/analyses/score_sources.h"
#include "model/files/error.h"
#include "model/pass/hooks.h"
#include "tests/app/run/run_of_model.h"
#include "tests/app/view_fixture.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/textbook.h"

namespace headscope::app::saliency_test {
namespace {

using Vector = std::vector<double>;
using Kind = StreamSource::Kind;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// The parts of q and k by the textbook, from the reference's own pass.
class Textbook {
 public:
  Textbook(const ReferenceGpt2::Result& result, const std::vector<int>& ids, const model::Config& config,
           int layer, int head)
      : of_(result), ids_(ids), config_(config), layer_(layer), head_(head) {}

  /// [sources][d_head]; column 0: q, 1: k.
  std::vector<Vector> parts(int position, int column) const {
    const Vector stream = of_.blocks[at(layer_)].resid_pre[at(position)];
    const double scale = norm_scale(stream, config_.layer_norm_epsilon);
    std::vector<Vector> parts;
    const auto add = [&](const Vector& written) {
      Vector x = centered(written);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] *= row(block(layer_) + "ln_1.weight")[i] / scale;
      parts.push_back(read(x, column));
    };
    add(row("wte.weight", ids_[at(position)]));
    add(row("wpe.weight", position));
    for (int layer = 0; layer < layer_; ++layer) {
      for (int head = 0; head < config_.n_head; ++head)
        add(head_output(reference_model(), layer, head, of_.heads[at(layer)][at(head)].z[at(position)]));
      add(row(block(layer) + "attn.c_proj.bias"));
      add(of_.blocks[at(layer)].mlp_out[at(position)]);
    }
    parts.push_back(read(row(block(layer_) + "ln_1.bias"), column));
    Vector bias;
    for (int j = 0; j < config_.d_head(); ++j)
      bias.push_back(reference_model().parameter(block(layer_) + "attn.c_attn.bias")[at(first(column) + j)]);
    parts.push_back(bias);
    return parts;
  }
  double score(int query, int key) const {
    return of_.heads[at(layer_)][at(head_)].scaled[at(query)][at(key)];
  }

 private:
  const ReferenceGpt2::Result& of_;
  std::vector<int> ids_;
  model::Config config_;
  int layer_, head_;

  static std::string block(int layer) { return "h." + std::to_string(layer) + "."; }
  int first(int column) const { return column * config_.n_embd + head_ * config_.d_head(); }
  static Vector row(const std::string& name, int index = 0) { return row_of(reference_model(), name, index); }
  Vector read(const Vector& x, int column) const {
    return times_columns(reference_model().parameter(block(layer_) + "attn.c_attn.weight"), x, first(column),
                         config_.d_head());
  }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

void expect_textbook(const ScoreSources& s, int query, int key, const Textbook& textbook, double factor) {
  const auto q = textbook.parts(query, 0), k = textbook.parts(key, 1);
  ASSERT_EQ(s.sources.size(), q.size());
  const double largest = largest_of(s.products);
  for (int i = 0; i < s.count(); ++i)
    for (int j = 0; j < s.count(); ++j)
      ASSERT_NEAR(s.product(i, j), factor * dot(q[at(i)], k[at(j)]), 2e-5 * largest) << i << " " << j;
  EXPECT_NEAR(s.score, textbook.score(query, key), 2e-5 * std::max(largest, std::abs(s.score)));
  EXPECT_LT(std::abs(s.rounding_error()), 1e-5 * largest);
}

TEST(ScoreSourcesOf, AreTheTextbooksAtTheFirstAndTheLastLayer) {
  for (const int length : {1, 12, 256}) {
    const Scenario& s = scenario(length);
    const double factor = 1 / std::sqrt(static_cast<double>(s.config().d_head()));
    for (const int layer : {0, 3, s.config().n_layer - 1})
      for (const auto& [query, key] : std::vector<std::pair<int, int>>{
               {length - 1, 0}, {length - 1, length / 2}, {length / 2, length / 2}}) {
        SCOPED_TRACE(std::to_string(length) + " tokens, layer " + std::to_string(layer) + ", " +
                     std::to_string(query) + " " + std::to_string(key));
        const auto answer = s.ask(ScoreSourcesOf{layer, 5, query, key});
        EXPECT_EQ(answer->count(), 2 + layer * (s.config().n_head + 2) + 2);
        const Textbook textbook(reference(s), s.run->tokens.ids(), s.config(), layer, 5);
        expect_textbook(*answer, query, key, textbook, factor);
      }
  }
}

/// An edit of one unit at every position, and whether it is outside the parts of layer 3.
constexpr std::pair<const char*, bool> kOneUnit[]{
    {"embed[*][2]+=1.5", false},     {"L0.resid_pre[*][5]+=1", true},  {"L1.attn_out[*][7]*=0.5", true},
    {"L2.resid_mid[*][3]+=2", true}, {"L2.resid_post[*][9]*=3", true}, {"L3.resid_pre[*][11]+=1", true},
    {"L1.mlp_out[*][4]=0", false},   {"L3.ln1_scale*=1.25", false},    {"L3.ln1[*][6]+=1", true},
    {"L3H2.q[*][3]+=1", true},       {"L3H2.k[*][8]*=2", true},        {"L3H4.q[*][3]+=1", false},
    {"L3.resid_mid[*][1]+=1", false}};

TEST(ScoreSourcesOf, WhatEditsAddIsAPartOfItsOwn) {
  for (const auto& [text, outside] : kOneUnit) {
    SCOPED_TRACE(text);
    const Scenario s = with_edits(text);
    const Scenario plain(kRobot);
    const int query = s.length() - 1, key = 4;
    const auto a = s.ask(ScoreSourcesOf{3, 2, query, key});
    EXPECT_EQ(a->edited(), outside);
    const double largest = largest_of(a->products);
    EXPECT_LT(std::abs(a->rounding_error()), 1e-5 * largest);
    // The reference's score, with the same edit.
    const model::Edits& edits = s.run->prompt.edits;
    const auto result = reference_model().run(s.run->tokens.ids(), model::by_hand(edits, {}));
    EXPECT_NEAR(a->score, result.heads[3][2].scaled[at(query)][at(key)], 2e-5 * largest);
    // What the parts are does not depend on an edit after them.
    if (model::has_heads(point_of(edits.front()).site)) {
      const auto b = plain.ask(ScoreSourcesOf{3, 2, query, key});
      for (int i = 0; i < b->count(); ++i)
        for (int j = 0; j < b->count(); ++j) ASSERT_EQ(a->product(i, j), b->product(i, j));
    }
  }
}

TEST(ScoreSourcesOf, ADifferenceIsThatOfTheCounterparts) {
  const Scenario s = of_two(), second(PromptRun(*s.run->baseline));
  const int query = counterpart_of(*s.run, 3), key = counterpart_of(*s.run, 1);
  EXPECT_EQ(std::pair(query, key), std::pair(4, 2));
  const auto difference = s.ask_difference(ScoreSourcesOf{3, 2, 3, 1});
  const auto after = s.ask(ScoreSourcesOf{3, 2, 3, 1}), before = second.ask(ScoreSourcesOf{3, 2, query, key});
  EXPECT_EQ(difference->score, after->score - before->score);
  for (std::size_t i = 0; i < after->products.size(); ++i)
    EXPECT_EQ(difference->products[i], after->products[i] - before->products[i]);
  const Scenario edits = edited("L1.attn_out[*][7]*=0.5");
  const auto both = edits.ask_difference(ScoreSourcesOf{3, 2, 5, 4});
  EXPECT_TRUE(both->edited()) << "the unedited run has a part of 0 there";
  const auto whole = edits.ask(ScoreSourcesOf{3, 2, 5, 4});
  EXPECT_NEAR(both->sum(), both->score, 1e-5 * largest_of(whole->products));
}

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
  const Saliency found = after.minus(before, run);
  EXPECT_EQ(found.parts, (std::vector<double>{0.5, 1.75, 3, 3}));
  EXPECT_EQ(found.unmatched, -10);
  EXPECT_EQ(found.value, 3);
  EXPECT_EQ(found.start, -3);
  EXPECT_EQ(found.sum(), after.sum() - before.sum());
  run.aligned = {1, 0, 3, 2};
  EXPECT_EQ(after.minus(before, run).unmatched, 0) << "to the bit: nothing is left out";
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
