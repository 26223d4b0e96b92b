// First-order estimates of sweeps: every cell compared with the directional derivative in double precision,
// and the order in which the exact cells follow.
#include "app/run/analyses/sweep.h"

#include <numeric>

#include "model/files/error.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/sentences.h"

namespace headscope::app::sweep_estimates_test {
namespace {

using model::Edits;
using model::kHeads;
using model::kLayers;
using model::kWidth;
using model::Site;
using model::tokens_of;
using testing::ReferenceGradients;

using SweepEstimates = model::GradientsFixture;

PromptRun run_of(const std::shared_ptr<const model::Transformer>& transformer,
                 std::shared_ptr<const model::Run> run) {
  LoadedModel model;
  model.transformer = transformer;
  PromptRun made;
  made.model = std::make_shared<const LoadedModel>(std::move(model));
  made.run = std::move(run);
  return made;
}

/// What a cell's edits replace values by, in double: [T, width].
std::vector<double> edited_values(const SweepOf& question, std::vector<double> values, int layer,
                                  const ReferenceGradients& reference) {
  const auto length = values.size() / kWidth;
  const std::string hook = model::hook_name({question.site, layer});
  if (question.edit == SweepEdit::zero) return std::vector<double>(values.size());
  if (question.edit == SweepEdit::mean) {
    std::vector<double> mean(kWidth);
    for (std::size_t i = 0; i < values.size(); ++i)
      mean[i % kWidth] += values[i] / static_cast<double>(length);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = mean[i % kWidth];
    return values;
  }
  const auto source = reference.run(question.from.tokens, {}, model::TokenLogit{0}).values.at(hook);
  for (std::size_t position = 0; position < length; ++position) {
    const int from =
        question.from.aligned.empty() ? static_cast<int>(position) : question.from.aligned[position];
    for (int unit = 0; from >= 0 && unit < kWidth; ++unit)
      values[position * kWidth + static_cast<std::size_t>(unit)] =
          source[static_cast<std::size_t>(from * kWidth + unit)];
  }
  return values;
}

/// The metric's derivative along a cell's edit, in double.
double directional(const SweepOf& question, const ReferenceGradients::Result& result, int layer, int column,
                   const ReferenceGradients& reference) {
  const std::string hook = model::hook_name({question.site, layer});
  const std::vector<double>&values = result.values.at(hook), &slopes = result.gradients.at(hook);
  const std::vector<double> edited = edited_values(question, values, layer, reference);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto unit = static_cast<int>(i % kWidth), position = static_cast<int>(i / kWidth);
    const SweepPlace at = question.place_of(layer, column);
    if (at.head.value_or(unit / (kWidth / kHeads)) == unit / (kWidth / kHeads) &&
        at.position.value_or(position) == position)
      sum += slopes[i] * (edited[i] - values[i]);
  }
  return sum;
}

void expect_derivatives(const SweepOf& question, const PromptRun& run, const ReferenceGradients& reference,
                        model::Workspace& workspace) {
  SweepOf asked = question;
  asked.estimates = true;
  const Sweep sweep = asked.compute(run, {workspace});
  const Edits base = run.run->plan ? run.run->plan->edits() : Edits();
  const auto of = [&](const model::Metric& metric) { return reference.run(run.run->tokens, base, metric); };
  const auto logit = of(model::TokenLogit{sweep.token, sweep.position}),
             difference = of(model::LogitDifference{sweep.token, sweep.against, sweep.position}),
             log = of(model::LogProbability{sweep.token, sweep.position});
  double largest = 0;
  ASSERT_EQ(sweep.estimates.size(), sweep.readings.size());
  for (int layer = 0; layer < kLayers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) {
      SCOPED_TRACE("layer " + std::to_string(layer) + ", column " + std::to_string(column));
      if (question.edits(layer, column).empty()) {
        EXPECT_TRUE(std::isnan(sweep.estimate(SweepMetric::logit, layer, column)));
        continue;
      }
      const auto expect = [&](SweepMetric metric, double expected) {
        EXPECT_NEAR(sweep.estimate(metric, layer, column), expected,
                    2e-5 * std::max(1.0, std::abs(expected)));
        largest = std::max(largest, std::abs(expected));
      };
      const auto along = [&](const ReferenceGradients::Result& result) {
        return directional(question, result, layer, column, reference);
      };
      expect(SweepMetric::logit, along(logit));
      expect(SweepMetric::difference, along(difference));
      expect(SweepMetric::probability, std::exp(log.metric) * along(log));
      EXPECT_TRUE(std::isnan(sweep.estimate(SweepMetric::divergence, layer, column))) << "it has none";
    }
  EXPECT_GT(largest, 1e-3) << "something has an effect";
}

TEST_F(SweepEstimates, ReachLaterPositionsWhereTheyAct) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(7), {model::SetMask{1, {}, {}}}));
  for (const auto& [over, site] :
       {std::pair(SweepOver::positions, Site::resid_pre), {SweepOver::head_positions, Site::v}})
    expect_derivatives({.over = over, .site = site, .position = 4, .positions = 7}, run, *reference_,
                       workspace_);
}

TEST_F(SweepEstimates, AreDirectionalDerivatives) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(7)));
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch}) {
    SCOPED_TRACE(static_cast<int>(edit));
    SweepOf question{.edit = edit, .position = 5};
    if (edit == SweepEdit::patch) question.from.tokens = tokens_of(7, 3);
    for (const SweepOver over :
         {SweepOver::heads, SweepOver::positions, SweepOver::head_positions, SweepOver::mlps})
      for (const Site site : sites_of(over)) {
        if (site == Site::pattern) continue;
        SCOPED_TRACE(model::hook_name({site, 0}));
        question.over = over;
        question.site = site;
        expect_derivatives(question, run, *reference_, workspace_);
      }
  }
}

/// The metric's derivative along the edit of a head's pattern, in double.
double along_pattern(const SweepOf& question, const ReferenceGradients::Result& result,
                     const ReferenceGradients& reference, int layer, int head, int length) {
  const std::string hook = model::hook_name({Site::pattern, layer});
  std::vector<double> source;
  if (question.edit == SweepEdit::patch)
    source = reference.run(question.from.tokens, {}, model::TokenLogit{0}).values.at(hook);
  const auto keys = static_cast<int>(question.from.tokens.size());
  double sum = 0;
  for (int query = 0; query < length; ++query)
    for (int key = 0; key < length; ++key) {
      const auto cell = static_cast<std::size_t>((head * length + query) * length + key);
      const double value = result.values.at(hook)[cell];
      double edited = 0;
      if (question.edit == SweepEdit::patch) {
        edited = value;
        if (question.from.aligned.empty() || question.from.aligned[static_cast<std::size_t>(query)] == query)
          edited = key < keys ? source[static_cast<std::size_t>((head * keys + query) * keys + key)] : 0;
      }
      sum += result.gradients.at(hook)[cell] * (edited - value);
    }
  return sum;
}

TEST_F(SweepEstimates, OfPatternsAreDirectionalDerivatives) {
  const std::vector<SweepOf> questions{{.site = Site::pattern, .position = 5, .estimates = true},
                                       {.site = Site::pattern,
                                        .edit = SweepEdit::patch,
                                        .from = {tokens_of(7, 3), {}},
                                        .position = 6,
                                        .estimates = true},
                                       {.site = Site::pattern,
                                        .edit = SweepEdit::patch,
                                        .from = {tokens_of(4, 2), {0, 1, 2, 3, -1, -1, -1}},
                                        .position = 6,
                                        .estimates = true}};
  const std::vector<Edits> edited_runs{
      {},
      {model::ScaleValues{{{Site::pattern, 1}, 1, {}, {}}, 0.5F}},
      {model::SetMask{1, {}, {}}, model::ScaleValues{{{Site::z, 0}, 2, {}, {}}, -1}}};
  for (const SweepOf& question : questions)
    for (const Edits& base : edited_runs) {
      SCOPED_TRACE(static_cast<int>(question.edit));
      const PromptRun run = run_of(transformer_, this->run(tokens_of(7), base));
      const Sweep sweep = question.compute(run, {workspace_});
      const auto logit = reference_->run(tokens_of(7), base, model::TokenLogit{sweep.token, sweep.position});
      double largest = 0;
      for (int layer = 0; layer < kLayers; ++layer)
        for (int head = 0; head < kHeads; ++head) {
          const double expected = along_pattern(question, logit, *reference_, layer, head, 7);
          largest = std::max(largest, std::abs(expected));
          EXPECT_NEAR(sweep.estimate(SweepMetric::logit, layer, head), expected,
                      2e-5 * std::max(1.0, std::abs(expected)))
              << layer << " " << head;
        }
      EXPECT_GT(largest, 1e-3);
    }
}

/// The reference's estimates of all neurons, [layers * units].
std::vector<double> along_neurons(const SweepOf& question, const ReferenceGradients::Result& result,
                                  const ReferenceGradients& reference, int length) {
  std::vector<double> all;
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string hook = model::hook_name({Site::mlp_post, layer});
    const std::vector<double>&values = result.values.at(hook), &slopes = result.gradients.at(hook);
    const std::size_t units = values.size() / static_cast<std::size_t>(length);
    std::vector<double> source;
    if (question.edit == SweepEdit::patch)
      source = reference.run(question.from.tokens, {}, model::TokenLogit{0}).values.at(hook);
    for (std::size_t unit = 0; unit < units; ++unit) {
      double mean = 0, sum = 0;
      for (std::size_t i = unit; i < values.size(); i += units) mean += values[i] / length;
      for (std::size_t i = unit; i < values.size(); i += units) {
        const double edited = question.edit == SweepEdit::zero   ? 0
                              : question.edit == SweepEdit::mean ? mean
                                                                 : source[i];
        sum += slopes[i] * (edited - values[i]);
      }
      all.push_back(sum);
    }
  }
  return all;
}

TEST_F(SweepEstimates, NeuronsAreThoseWithTheLargest) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(7)));
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch}) {
    SCOPED_TRACE(static_cast<int>(edit));
    SweepOf question{.over = SweepOver::neurons,
                     .site = Site::mlp_post,
                     .edit = edit,
                     .position = 5,
                     .neurons = 8,
                     .largest_of = SweepMetric::logit};
    if (edit == SweepEdit::patch) question.from.tokens = tokens_of(7, 3);
    const Sweep sweep = question.compute(run, {workspace_});
    const std::vector<double> all = along_neurons(
        question, reference_->run(tokens_of(7), {}, model::TokenLogit{sweep.token, sweep.position}),
        *reference_, 7);
    std::vector<double> sizes;
    for (const double estimate : all) sizes.push_back(std::abs(estimate));
    std::ranges::sort(sizes, std::greater());
    ASSERT_EQ(sweep.neurons.size(), 8U);
    const std::size_t units = all.size() / kLayers;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto [layer, unit] = sweep.neurons[i];
      const double expected = all[static_cast<std::size_t>(layer) * units + static_cast<std::size_t>(unit)];
      const double found = sweep.estimates[i].logit;
      EXPECT_NEAR(found, expected, 2e-5 * std::max(1.0, std::abs(expected)));
      EXPECT_NEAR(std::abs(found), sizes[i], 4e-5 * std::max(1.0, sizes[i])) << "in order of size";
    }
    EXPECT_GT(sizes[0], 1e-3);
  }
}

TEST_F(SweepEstimates, OfPatchesThatReachSomePositionsAreThese) {
  SweepOf question{.edit = SweepEdit::patch, .position = 5};
  question.from = {tokens_of(9, 4), {0, 1, -1, 5, 6, 8}};
  const PromptRun run = run_of(transformer_, this->run(tokens_of(6)));
  expect_derivatives(question, run, *reference_, workspace_);
  question.over = SweepOver::positions;
  question.site = Site::resid_pre;
  expect_derivatives(question, run, *reference_, workspace_);
}

TEST_F(SweepEstimates, OfAnEditedRunAreAtWhatItsEditsLeft) {
  const Edits base{model::ScaleValues{{{Site::z, 1}, 2, {}, {}}, -1},
                   model::SetValues{{{Site::mlp_out, 1}, {}, {3}, {}}, {0.5F}}, model::SetMask{2, {}, {}}};
  const PromptRun run = run_of(transformer_, this->run(tokens_of(6), base));
  expect_derivatives({.position = 5}, run, *reference_, workspace_);
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean})
    expect_derivatives({.over = SweepOver::positions, .site = Site::mlp_out, .edit = edit, .position = 5},
                       run, *reference_, workspace_);
}

TEST_F(SweepEstimates, ExactCellsAreTheSameWithThemAndWithout) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(40)));
  for (const SweepMetric first :
       {SweepMetric::logit, SweepMetric::difference, SweepMetric::probability, SweepMetric::divergence}) {
    const SweepOf plain{.over = SweepOver::positions, .site = Site::resid_pre, .position = 39};
    SweepOf ranked = plain;
    ranked.estimates = true;
    ranked.largest_of = first;
    EXPECT_TRUE(ranked == plain) << "they are one question";
    const Sweep without = plain.compute(run, {workspace_}), with = ranked.compute(run, {workspace_});
    EXPECT_TRUE(without.estimates.empty());
    EXPECT_EQ(with.known, without.known);
    for (std::size_t i = 0; i < with.readings.size(); ++i)
      for (const auto number : {&SweepReading::logit, &SweepReading::against, &SweepReading::probability,
                                &SweepReading::divergence})
        EXPECT_EQ(with.readings[i].*number, without.readings[i].*number);
  }
}

TEST_F(SweepEstimates, ComeFirstAndThenTheCellsWithTheLargest) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(70)));
  for (const SweepMetric metric : {SweepMetric::logit, SweepMetric::difference, SweepMetric::probability}) {
    const SweepOf question{.over = SweepOver::positions,
                           .site = Site::mlp_out,
                           .position = 69,
                           .estimates = true,
                           .largest_of = metric};
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

TEST_F(SweepEstimates, AreComparedWithTheCellsThatAreKnown) {
  const PromptRun run = run_of(transformer_, this->run(tokens_of(6)));
  const Sweep sweep = SweepOf{.position = 5, .estimates = true}.compute(run, {workspace_});
  std::vector<double> estimated, exact;
  for (int layer = 0; layer < kLayers; ++layer)
    for (int head = 0; head < kHeads; ++head) {
      estimated.push_back(sweep.estimate(SweepMetric::logit, layer, head));
      exact.push_back(sweep.difference(SweepMetric::logit, layer, head));
    }
  EXPECT_EQ(sweep.estimate_correlation(SweepMetric::logit), rank_correlation(estimated, exact));
  EXPECT_TRUE(std::isnan(sweep.estimate_correlation(SweepMetric::divergence)));
  Sweep part = sweep;
  part.known.assign(part.known.size(), false);
  EXPECT_TRUE(std::isnan(part.estimate_correlation(SweepMetric::logit)));
  part.known[0] = part.known[1] = true;
  part.estimates[0].logit = 1, part.estimates[1].logit = 2;
  part.readings[0].logit = 5, part.readings[1].logit = 4;
  EXPECT_EQ(part.estimate_correlation(SweepMetric::logit), -1);
}

}  // namespace
}  // namespace headscope::app::sweep_estimates_test
