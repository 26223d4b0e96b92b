// First-order estimates of sweeps: every cell compared with the directional derivative in double precision,
// the order in which the exact cells follow, and how well the order of the estimates is theirs.
#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "app/run/analyses/sweep.h"
#include "model/files/error.h"
#include "tests/app/run/run_of_model.h"
#include "tests/model/gradients_fixture.h"
#include "tests/model/path_by_hand.h"
#include "tests/support/sentences.h"

namespace headscope::app::sweep_estimates_test {
namespace {

using model::Edits;
using model::HookPoint;
using model::kHeads;
using model::kLayers;
using model::Site;
using model::tokens_of;
using testing::ReferenceGradients;

constexpr SweepEdit kEdits[] = {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch};

/// A tensor of the reference by head, [pos][units] or [query][key].
model::SourceValues by_head(HookPoint point, const std::vector<double>& flat, std::size_t length) {
  const std::size_t heads = has_heads(point.site) ? kHeads : 1, width = flat.size() / length / heads;
  model::SourceValues values;
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t pos = 0; pos < length; ++pos) {
      const std::size_t row = has_cells(point.site) ? head * length + pos : pos * heads + head;
      const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(row * width);
      values[static_cast<int>(head)].emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  return values;
}

class SweepEstimates : public model::GradientsFixture {
 protected:
  PromptRun run_of(const std::vector<int>& ids, const Edits& edits = {}) {
    return run_of_model(transformer_, run(ids, edits));
  }

  static model::RecordedValues sources_of(const SweepOf& question) {
    if (question.edit != SweepEdit::patch) return {};
    return model::record_by_hand(testing::ReferenceGpt2(folder_->path()), question.from.tokens);
  }

  /// The metric's derivative along a place's edits, in double, in a run with the edits `base`.
  static double along(const SweepOf& question, const SweepPlace& place,
                      const ReferenceGradients::Result& result, const model::RecordedValues& sources,
                      const Edits& base, std::size_t length) {
    const HookPoint point{question.site, place.layer};
    const std::string hook = hook_name(point);
    Edits edits = question.edits(place);
    for (const model::Edit& edit : base)
      if (std::holds_alternative<model::SetMask>(edit)) edits.push_back(edit);
    model::SourceValues slopes = by_head(point, result.gradients.at(hook), length);
    double sum = 0;
    for (const auto& [head, values] : by_head(point, result.values.at(hook), length)) {
      model::HeadValues edited = values;
      model::ByHand<double>(edits, sources)(hook, head, edited);
      for (std::size_t pos = 0; pos < length; ++pos)
        for (std::size_t i = 0; i < edited[pos].size(); ++i)
          sum += slopes[head][pos][i] * (edited[pos][i] - values[pos][i]);
    }
    return sum;
  }

  void expect_derivatives(const SweepOf& question, const PromptRun& run) {
    const Sweep sweep = question.compute(run, {workspace_});
    const Edits base = run.run->plan ? run.run->plan->edits() : Edits();
    const model::RecordedValues sources = sources_of(question);
    const auto of = [&](const model::Metric& metric) {
      return reference_->run(run.run->tokens, base, metric);
    };
    const auto logit = of(model::TokenLogit{sweep.measured.token.id(), sweep.measured.position}),
               difference = of(model::LogitDifference{sweep.measured.token.id(), sweep.measured.other.id(),
                                                      sweep.measured.position}),
               log = of(model::LogProbability{sweep.measured.token.id(), sweep.measured.position});
    double largest = 0;
    ASSERT_EQ(sweep.estimates.size(), sweep.readings.size());
    for (int layer = 0; layer < kLayers; ++layer)
      for (int column = 0; column < sweep.columns; ++column) {
        SCOPED_TRACE("layer " + std::to_string(layer) + ", column " + std::to_string(column));
        if (question.edits(layer, column).empty()) {
          EXPECT_TRUE(std::isnan(sweep.estimate(Metric::logit, layer, column)));
          continue;
        }
        const auto expect = [&](Metric metric, const ReferenceGradients::Result& result, double factor) {
          const double expected = factor * along(question, question.place_of(layer, column), result, sources,
                                                 base, run.run->tokens.size());
          EXPECT_NEAR(sweep.estimate(metric, layer, column), expected,
                      2e-5 * std::max(1.0, std::abs(expected)));
          largest = std::max(largest, std::abs(expected));
        };
        expect(Metric::logit, logit, 1);
        expect(Metric::difference, difference, 1);
        expect(Metric::probability, log, std::exp(log.metric));
        EXPECT_TRUE(std::isnan(sweep.estimate(Metric::divergence, layer, column))) << "it has none";
      }
    EXPECT_GT(largest, 1e-3) << "something has an effect";
  }
};

TEST_F(SweepEstimates, AreDirectionalDerivatives) {
  const PromptRun run = run_of(tokens_of(7));
  for (const SweepEdit edit : kEdits)
    for (const SweepOver over :
         {SweepOver::heads, SweepOver::positions, SweepOver::head_positions, SweepOver::mlps})
      for (const Site site : sites_of(over)) {
        if (site == Site::pattern && edit == SweepEdit::mean) continue;
        SCOPED_TRACE(model::hook_name({site, 0}) + " " + std::to_string(static_cast<int>(edit)));
        SweepOf question{.over = over, .site = site, .edit = edit, .measured = difference_at(5)};
        if (edit == SweepEdit::patch) question.from = {tokens_of(7, 3), {0, 1, 2, 3, 4, 5, 6}};
        expect_derivatives(question, run);
      }
}

TEST_F(SweepEstimates, OfAnEditedRunAreAtWhatItsEditsLeft) {
  const Edits open{model::SetMask{1, {}, {}}},
      many{model::ScaleValues{{{Site::z, 1}, 2, {}, {}}, -1},
           model::SetValues{{{Site::mlp_out, 1}, {}, {3}, {}}, {0.5F}}, model::SetMask{2, {}, {}}};
  for (const SweepOf& question : {SweepOf{.over = SweepOver::positions, .site = Site::resid_pre},
                                  SweepOf{.over = SweepOver::head_positions, .site = Site::v}}) {
    SweepOf later = question;  // reaches later positions where they act
    later.measured = difference_at(4), later.positions = 7;
    expect_derivatives(later, run_of(tokens_of(7), open));
  }
  expect_derivatives({.measured = difference_at(5)}, run_of(tokens_of(6), many));
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean})
    expect_derivatives(
        {.over = SweepOver::positions, .site = Site::mlp_out, .edit = edit, .measured = difference_at(5)},
        run_of(tokens_of(6), many));
}

TEST_F(SweepEstimates, OfPatternsOfEditedRunsAreDirectionalDerivatives) {
  for (const Edits& base :
       {Edits{}, Edits{model::ScaleValues{{{Site::pattern, 1}, 1, {}, {}}, 0.5F}},
        Edits{model::SetMask{1, {}, {}}, model::ScaleValues{{{Site::z, 0}, 2, {}, {}}, -1}}})
    for (const PatchPrompt& from : {PatchPrompt{}, PatchPrompt{tokens_of(7, 3), {0, 1, 2, 3, 4, 5, 6}},
                                    PatchPrompt{tokens_of(4, 2), {0, 1, 2, 3, -1, -1, -1}}})
      expect_derivatives({.site = Site::pattern,
                          .edit = from.tokens.empty() ? SweepEdit::zero : SweepEdit::patch,
                          .from = from,
                          .measured = difference_at(6)},
                         run_of(tokens_of(7), base));
}

TEST_F(SweepEstimates, OfPatchesThatReachSomePositionsAreThese) {
  SweepOf question{.edit = SweepEdit::patch, .measured = difference_at(5)};
  question.from = {tokens_of(9, 4), {0, 1, -1, 5, 6, 8}};
  expect_derivatives(question, run_of(tokens_of(6)));
  question.over = SweepOver::positions;
  question.site = Site::resid_pre;
  expect_derivatives(question, run_of(tokens_of(6)));
}

TEST_F(SweepEstimates, NeuronsAreThoseWithTheLargest) {
  const PromptRun run = run_of(tokens_of(7));
  for (const SweepEdit edit : kEdits) {
    SCOPED_TRACE(static_cast<int>(edit));
    SweepOf question{.over = SweepOver::neurons,
                     .site = Site::mlp_post,
                     .edit = edit,
                     .measured = {.position = 5},
                     .neurons = 8};
    if (edit == SweepEdit::patch) question.from = {tokens_of(7, 3), {0, 1, 2, 3, 4, 5, 6}};
    const Sweep sweep = question.compute(run, {workspace_});
    const auto result = reference_->run(
        tokens_of(7), {}, model::TokenLogit{sweep.measured.token.id(), sweep.measured.position});
    const model::RecordedValues sources = sources_of(question);
    std::vector<double> sizes;
    for (int layer = 0; layer < kLayers; ++layer)
      for (int neuron = 0; neuron < transformer_->config().n_inner; ++neuron)
        sizes.push_back(std::abs(along(question, {layer, {}, {}, neuron}, result, sources, {}, 7)));
    std::ranges::sort(sizes, std::greater());
    ASSERT_EQ(sweep.neurons.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
      const double expected = along(question, question.place_of(sweep, i), result, sources, {}, 7);
      const double found = sweep.estimates[i].logit;
      EXPECT_NEAR(found, expected, 2e-5 * std::max(1.0, std::abs(expected)));
      EXPECT_NEAR(std::abs(found), sizes[i], 4e-5 * std::max(1.0, sizes[i])) << "in order of size";
    }
    EXPECT_GT(sizes[0], 1e-3);
  }
}

TEST_F(SweepEstimates, DoNotChangeTheExactCellsByTheirOrder) {
  const PromptRun run = run_of(tokens_of(40));
  for (const Metric first : {Metric::logit, Metric::difference, Metric::probability}) {
    const SweepOf plain{.over = SweepOver::positions,
                        .site = Site::resid_pre,
                        .measured = {.metric = Metric::divergence, .position = 39}};
    SweepOf ranked = plain;
    ranked.measured.metric = first;
    const Sweep without = plain.compute(run, {workspace_}), with = ranked.compute(run, {workspace_});
    EXPECT_EQ(with.known, without.known);
    for (std::size_t i = 0; i < with.readings.size(); ++i)
      for (const auto number : {&SweepReading::logit, &SweepReading::against, &SweepReading::probability,
                                &SweepReading::divergence})
        EXPECT_EQ(with.readings[i].*number, without.readings[i].*number);
  }
}

TEST_F(SweepEstimates, ComeFirstAndThenTheCellsWithTheLargest) {
  const PromptRun run = run_of(tokens_of(70));
  for (const Metric metric : {Metric::logit, Metric::difference, Metric::probability}) {
    const SweepOf question{
        .over = SweepOver::positions, .site = Site::mlp_out, .measured = {.metric = metric, .position = 69}};
    std::vector<Sweep> parts;
    std::stop_source stop;
    const auto show = [&](const Sweep& part, double done) {
      parts.push_back(part);
      EXPECT_NEAR(done, part.known_count() / (kLayers * 70.0), 1e-9);
      if (parts.size() == 2) stop.request_stop();
    };
    EXPECT_THROW(question.compute(run, {workspace_, stop.get_token(), nullptr, nullptr, show}),
                 model::Stopped);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].known_count(), 0) << "all estimates are shown before any cell is computed";
    EXPECT_EQ(parts[0].estimates.size(), kLayers * 70U);
    std::vector<double> sizes;
    for (const SweepReading& estimate : parts[1].estimates) sizes.push_back(std::abs(estimate.of(metric)));
    std::vector<double> sorted = sizes;
    std::ranges::sort(sorted, std::greater());
    ASSERT_GT(parts[1].known_count(), 0);
    for (std::size_t cell = 0; cell < sizes.size(); ++cell)
      if (parts[1].known[cell]) {
        EXPECT_GE(sizes[cell], sorted[31]) << "one of the 32 largest";
      }
    // It goes on where it was stopped, without estimating again.
    Sweep part = parts[1];
    part.estimates[0].logit = 1234;
    const Sweep rest = question.compute(run, {workspace_, {}, &part});
    EXPECT_EQ(rest.known_count(), kLayers * 70);
    EXPECT_EQ(rest.estimates[0].logit, 1234);
  }
}

TEST(RankCorrelation, OfKnownLists) {
  using Values = std::vector<double>;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rank_correlation(Values{1, 2, 30}, Values{8, 7, -5}), -1) << "only the order counts";
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(rank_correlation(Values{10, 20, 30, 40, 50}, Values{2, 1, 4, 3, 5}), 0.8, 1e-15);
  // Equal values share their rank: 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(rank_correlation(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
  EXPECT_EQ(rank_correlation(Values{1, kNan, 2, 100, 3}, Values{4, 9, 5, kInfinity, 6}), 1) << "left out";
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, kNan}, Values{2, 3}))) << "fewer than two pairs";
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3})));
}

}  // namespace
}  // namespace headscope::app::sweep_estimates_test
