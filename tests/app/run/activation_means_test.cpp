// Means over lists of prompts, compared with those of the float64 reference, and what takes them: single
// edits, sweeps and circuits.
#include "app/run/analyses/activation_means.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "app/run/analyses/circuit.h"
#include "app/run/analyses/sweep.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/model/every_edit.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/textbook.h"

namespace headscope::app::activation_means_test {
namespace {

using namespace testing;
using model::hook_name;
using model::HookPoint;
using model::Site;
using model::tokens_of;

constexpr int kLayers = 2, kHeads = 3, kWidth = 12, kDHead = 4, kVocabulary = 4096;

class ActivationMeansTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_other_model(
        *folder_,
        {.layers = kLayers, .heads = kHeads, .width = kWidth, .positions = 40, .vocabulary = kVocabulary});
    model_ = load_model(folder_->path(), {});
    reference_ = std::make_unique<ReferenceGpt2>(folder_->path());
  }
  static void TearDownTestSuite() {
    model_.reset();
    reference_.reset();
    folder_.reset();
  }

  static OverPrompts list(const std::vector<std::vector<int>>& prompts) {
    std::vector<Prompt> all;
    for (const std::vector<int>& ids : prompts) all.push_back({.text = "", .ids = ids});
    return {list_of(all, "list.jsonl"), false};
  }

  PromptRun run_of(const std::vector<int>& ids) {
    PromptRun run;
    run.model = model_;
    run.run = model_->transformer->forward(ids, workspace_);
    return run;
  }

  ActivationMeans means_over(const MeansOverList& question) {
    return question.compute(run_of({0}), {workspace_});
  }
  MeanSource source(const MeansOverList& question) {
    return {question.over, std::make_shared<const ActivationMeans>(means_over(question))};
  }
  Sweep sweep(const SweepOf& question, const PromptRun& run) { return question.compute(run, {workspace_}); }

  static std::vector<HookPoint> every_point() {
    std::vector<HookPoint> points = all_hook_points(model_->transformer->config());
    std::erase_if(points,
                  [](HookPoint point) { return model::has_cells(point.site) || point.site == Site::logits; });
    return points;
  }

  /// The reference's mean of each hook's head, [units], each token once.
  static std::map<std::pair<std::string, int>, std::vector<double>> reference_means(
      const std::vector<std::vector<int>>& prompts) {
    std::map<std::pair<std::string, int>, std::vector<double>> sums;
    double tokens = 0;
    for (const std::vector<int>& ids : prompts) {
      ReferenceGpt2::Edits watch;
      watch.edit = [&](const std::string& hook, int head, ReferenceGpt2::Rows& rows) {
        std::vector<double>& sum = sums[{hook, head}];
        sum.resize(rows.front().size());
        if (hook.ends_with("scores") || hook.ends_with("pattern")) return;
        for (const auto& row : rows)
          for (std::size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
      };
      reference_->run(ids, watch);
      tokens += static_cast<double>(ids.size());
    }
    for (auto& [place, sum] : sums)
      for (double& number : sum) number /= tokens;
    return sums;
  }

  model::Workspace workspace_{2};
  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline std::shared_ptr<const LoadedModel> model_;
  static inline std::unique_ptr<ReferenceGpt2> reference_;
};

const std::vector<std::vector<int>> kThree{tokens_of(5), tokens_of(1, 4), tokens_of(12, 2)};

TEST_F(ActivationMeansTest, AreTheReferencesAtEverySite) {
  const ActivationMeans found = means_over({list(kThree), every_point()});
  EXPECT_TRUE(found.whole);
  EXPECT_EQ(found.tokens, 18);
  EXPECT_EQ(found.progress.done, 3U);
  const auto expected = reference_means(kThree);
  for (const HookPoint point : every_point()) {
    const PointMeans& of = found.at(point);
    ASSERT_EQ(of.heads, model::has_heads(point.site) ? kHeads : 1);
    const std::size_t units = of.values.size() / static_cast<std::size_t>(of.heads);
    for (int head = 0; head < of.heads; ++head) {
      const auto wanted = expected.find({hook_name(point), head});
      ASSERT_NE(wanted, expected.end()) << hook_name(point);
      ASSERT_EQ(units, wanted->second.size()) << hook_name(point);
      for (std::size_t i = 0; i < units; ++i)
        EXPECT_NEAR(of.values[head * units + i], wanted->second[i], 1e-5 * (1 + std::abs(wanted->second[i])))
            << hook_name(point) << " head " << head << " unit " << i;
    }
  }
}

TEST_F(ActivationMeansTest, BecomeEditsOfThePlace) {
  const ActivationMeans means = means_over({list(kThree), {{Site::z, 1}, {Site::mlp_post, 0}}});
  const std::vector<float>&z = means.at({Site::z, 1}).values, &post = means.at({Site::mlp_post, 0}).values;
  EXPECT_EQ(means.edit({{Site::z, 1}, {}, {2}, {}}),
            (model::SetValues{{{Site::z, 1}, {}, {2}, {}}, z, "list.jsonl"}));
  EXPECT_EQ(means.edit({{Site::z, 1}, 2, {}, {}}).values,
            std::vector<float>(z.begin() + 2 * kDHead, z.begin() + 3 * kDHead));
  EXPECT_EQ(means.edit({{Site::z, 1}, {}, {}, {3, 0}}).values,
            (std::vector{z[3], z[0], z[7], z[4], z[11], z[8]}));
  EXPECT_EQ(means.edit({{Site::mlp_post, 0}, {}, {}, {5}}).values, std::vector{post[5]});
}

TEST_F(ActivationMeansTest, TakeThePlaceOfMeansInEditsAndInTheRunsThatThesePatchFrom) {
  const model::SetMean head{{{Site::z, 1}, 1, {}, {}}}, mlp{{{Site::mlp_out, 0}, {}, {3}, {}}};
  const model::ScaleValues other{{{Site::q, 0}, {}, {}, {}}, 2};
  const model::PatchFrom path{{{Site::resid_post, 1}, {}, {}, {}}, {}, {}, false, {mlp}, true};
  const model::Edits edits{other, head, path};
  EXPECT_EQ(points_of_means(edits), (std::vector<HookPoint>{{Site::z, 1}, {Site::mlp_out, 0}}));
  const ActivationMeans means = means_over({list(kThree), points_of_means(edits)});
  const model::Edits replaced = with_means(edits, means);
  ASSERT_EQ(replaced.size(), 3U);
  EXPECT_EQ(replaced[0], model::Edit(other));
  EXPECT_EQ(replaced[1], model::Edit(means.edit(head.at)));
  model::PatchFrom expected = path;
  expected.edits = {means.edit(mlp.at)};
  EXPECT_EQ(replaced[2], model::Edit(expected));
  EXPECT_TRUE(points_of_means({other}).empty());
  const model::PatchFrom second{{{Site::q, 1}, {}, {}, {}}, {}, {}, true, {head}};
  EXPECT_THAT(message_of<model::RunError>([&] { points_of_means({second}); }),
              HasSubstr("the means over a list are those of the first model"));
}

TEST_F(ActivationMeansTest, AreRefusedInOneSentence) {
  const auto said = [&](const MeansOverList& question) {
    return message_of<model::RunError>([&] { means_over(question); });
  };
  EXPECT_THAT(said({list({{kVocabulary}}), {{Site::z, 0}}}),
              AllOf(HasSubstr("no prompt of list.jsonl has activations whose mean could be taken: "),
                    HasSubstr("4096")));
  EXPECT_THAT(said({list(kThree), {{Site::pattern, 0}}}), HasSubstr("sets a mean over positions"));
  EXPECT_THAT(said({list(kThree), {{Site::z, 7}}}), HasSubstr("names layer 7"));
  const ActivationMeans skipped = means_over({list({{1, 2}, {kVocabulary}, {3}}), {{Site::z, 0}}});
  EXPECT_EQ(skipped.progress.skipped, 1U);
  EXPECT_EQ(skipped.tokens, 3);
}

TEST_F(ActivationMeansTest, AreWhatASweepSets) {
  const std::vector<int> ids = tokens_of(7, 1);
  for (const auto& [over, site] : {std::pair(SweepOver::heads, Site::z),
                                   {SweepOver::head_positions, Site::v},
                                   {SweepOver::mlps, Site::mlp_out},
                                   {SweepOver::positions, Site::resid_pre}}) {
    SweepOf question{.over = over,
                     .site = site,
                     .edit = SweepEdit::list_mean,
                     .measured = difference_at(6, TokenRef::of(7))};
    question.mean_over = source(question.means_over(list(kThree), model_->transformer->config()));
    const Sweep found = sweep(question, run_of(ids));
    ASSERT_EQ(found.known_count(), std::ssize(found.known));
    double largest = 0;
    for (std::size_t cell = 0; cell < found.readings.size(); ++cell) {
      const model::Edits edits = question.edits(question.place_of(found, cell));
      ASSERT_EQ(edits.size(), 1U) << "one edit, whatever the heads";
      const double logit = reference_->run(ids, model::by_hand(edits, {})).logits[6][7];
      EXPECT_NEAR(found.readings[cell].logit, logit, 2e-5) << cell;
      largest = std::max(largest, std::abs(logit - found.before.logit));
    }
    EXPECT_GT(largest, 1e-3) << "something has an effect";
  }
}

TEST_F(ActivationMeansTest, ACircuitsEdgesCarryThem) {
  const std::vector<int> ids = tokens_of(6, 1);
  const PromptRun run = run_of(ids);
  CircuitOf question;
  question.measured = logit_at(5, TokenRef::of(7));
  question.method = CircuitMethod::attribution;
  question.cut.cut = CircuitCut::list_mean;
  EXPECT_EQ(question.cut.problem(run), "edges are cut to the means of a list of prompts, but there are none");
  question.cut.mean_over = source(CutOf::means_over(list(kThree), model_->transformer->config()));
  EXPECT_EQ(question.cut.problem(run), "");
  const Circuit circuit = question.compute(run, {workspace_});
  // Without any edge the logits read the mean of each part, and the projections' biases, at every position.
  const auto means = reference_means(kThree);
  std::vector<double> stream = means.at({hook_name({Site::resid_pre, 0}), 0});
  const auto add = [&](const std::vector<double>& vector) {
    for (std::size_t i = 0; i < kWidth; ++i) stream[i] += vector[i];
  };
  for (int layer = 0; layer < kLayers; ++layer) {
    add(reference_->parameter("h." + std::to_string(layer) + ".attn.c_proj.bias"));
    for (int head = 0; head < kHeads; ++head)
      add(head_output(*reference_, layer, head, means.at({hook_name({Site::z, layer}), head})));
    add(means.at({hook_name({Site::mlp_out, layer}), 0}));
  }
  const double scale = norm_scale(stream, 1e-5);
  stream = centered(stream);
  double logit = 0;
  for (std::size_t i = 0; i < kWidth; ++i)
    logit += (stream[i] / scale * reference_->parameter("ln_f.weight")[i] +
              reference_->parameter("ln_f.bias")[i]) *
             reference_->parameter("wte.weight")[7 * kWidth + i];
  EXPECT_NEAR(circuit.cut_value, logit, 2e-5);
}

}  // namespace
}  // namespace headscope::app::activation_means_test
