// Sweeps: every cell against the float64 reference with the same edit; and their first-order estimates, which
// are a tape's derivatives.
#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "app/run/analyses/sweep.h"
#include "model/files/error.h"
#include "tests/app/run/parts.h"
#include "tests/app/run/run_of_model.h"
#include "tests/model/every_edit.h"
#include "tests/model/gradients_fixture.h"
#include "tests/model/path_by_hand.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app::sweep_test {
namespace {

using model::Site;

using model::kHeads;
using model::kLayers;
using model::RecordedValues;
using model::tokens_of;

constexpr Metric kMetrics[] = {Metric::logit, Metric::difference, Metric::probability, Metric::divergence};

class SweepTest : public model::SmallModel {
 protected:
  PromptRun run_of(const std::vector<int>& ids, const model::Edits& edits = {}) {
    PromptRun made = run_of_model(transformer_, run(ids, plan(edits)));
    if (!edits.empty()) compare_with_unedited(made, run(ids));
    return made;
  }

  Sweep sweep(const SweepOf& question, const PromptRun& run) { return question.compute(run, {workspace_}); }

  static std::vector<double> reference_logits(const std::vector<int>& ids, const model::Edits& edits,
                                              int position, const RecordedValues& sources) {
    return reference_->run(ids, model::by_hand(edits, sources)).logits[position];
  }
  static std::vector<double> log_probabilities(std::vector<double> logits) {
    double sum = 0;
    for (const double x : logits) sum += std::exp(x);
    for (double& x : logits) x -= std::log(sum);
    return logits;
  }

  static double metric(Metric which, const Sweep& sweep, const std::vector<double>& run,
                       const std::vector<double>& edited) {
    const auto token = static_cast<std::size_t>(sweep.measured.token.id()),
               against = static_cast<std::size_t>(sweep.measured.other.id());
    const auto logs = log_probabilities(edited), run_logs = log_probabilities(run);
    if (which == Metric::logit) return edited[token] - run[token];
    if (which == Metric::difference) return edited[token] - edited[against] - run[token] + run[against];
    if (which == Metric::probability) return std::exp(logs[token]) - std::exp(run_logs[token]);
    double divergence = 0;
    for (std::size_t i = 0; i < run.size(); ++i)
      divergence += std::exp(run_logs[i]) * (run_logs[i] - logs[i]);
    return divergence / std::log(2.0);  // bits
  }

  static int cell_count(const SweepOf& question) {
    const int positions = question.edited_positions();
    return std::map<SweepOver, int>{{SweepOver::heads, kLayers * kHeads},
                                    {SweepOver::positions, kLayers * positions},
                                    {SweepOver::senders, kLayers * (kHeads + 1)},
                                    {SweepOver::head_positions, kLayers * kHeads * positions},
                                    {SweepOver::mlps, kLayers},
                                    {SweepOver::neurons, question.neurons}}
        .at(question.over);
  }

  /// Checks every cell, and that the edits reported by the question are the expected ones.
  void expect_reference(const SweepOf& question, const std::vector<int>& ids, const model::Edits& base = {}) {
    const Sweep found = sweep(question, run_of(ids, base));
    const auto sources = question.from.tokens.empty()
                             ? RecordedValues()
                             : model::record_by_hand(*reference_, question.from.tokens);
    ASSERT_EQ(std::ssize(found.readings), cell_count(question));
    EXPECT_EQ(found.known_count(), found.layers * found.columns);
    const auto run = reference_logits(ids, base, question.measured.position, sources);
    double largest = 0;
    for (std::size_t cell = 0; cell < found.readings.size(); ++cell) {
      model::Edits all = base;
      const model::Edits own = question.edits(question.place_of(found, cell));
      EXPECT_EQ(own.empty(), !question.has_edits(question.place_of(found, cell)));
      if (own.empty()) {
        EXPECT_TRUE(std::isnan(found.readings[cell].logit)) << "nothing to patch from is no change of 0";
        continue;
      }
      all.insert(all.end(), own.begin(), own.end());
      const auto* path = std::get_if<model::PatchFrom>(&own.front());
      const auto edited =
          path != nullptr && path->direct
              ? model::logits_by_hand(*reference_, ids, {*path}, sources, base).at(question.measured.position)
              : reference_logits(ids, all, question.measured.position, sources);
      for (const Metric which : kMetrics) {
        const double expected = metric(which, found, run, edited);
        largest = std::max(largest, std::abs(expected));
        EXPECT_NEAR(found.readings[cell].of(which) - found.before.of(which), expected, 2e-5)
            << cell << " " << static_cast<int>(which);
      }
    }
    EXPECT_GT(largest, 1e-4) << "something has an effect";
  }
};

TEST_F(SweepTest, OverHeadsIsTheReferences) {
  for (const Site site : sites_of(SweepOver::heads))
    for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch})
      for (const int position : {8, 5}) {
        if (site == Site::pattern && edit == SweepEdit::mean) continue;
        SCOPED_TRACE(model::hook_name({site, 0}) + " " + std::to_string(static_cast<int>(edit)) + " " +
                     std::to_string(position));
        SweepOf question{.site = site, .edit = edit, .measured = difference_at(position)};
        if (edit == SweepEdit::patch) question.from = {tokens_of(9, 3), {0, 1, 2, 3, 4, 5, 6, 7, 8}};
        expect_reference(question, tokens_of(9));
      }
}

TEST_F(SweepTest, PatternsArePatchedFromPromptsOfAnotherLength) {
  SweepOf question{.site = Site::pattern, .edit = SweepEdit::patch, .measured = difference_at(5)};
  question.from = {tokens_of(9, 4), {0, 1, 2, 3, 4, 5}};
  expect_reference(question, tokens_of(6));
  question.from = {tokens_of(4, 4), {0, 1, 2, 3, -1, -1}};
  expect_reference(question, tokens_of(6));
}

/// Without the mask, queries have weights on later keys.
TEST_F(SweepTest, PatternsOfAnEditedMaskAreZeroedWhereverTheyAre) {
  const model::Edits base{model::SetMask{1, {}, {}}};
  expect_reference({.site = Site::v, .measured = difference_at(4)}, tokens_of(8), base);
  const Sweep pattern =
                  sweep({.site = Site::pattern, .measured = difference_at(4)}, run_of(tokens_of(8), base)),
              z = sweep({.measured = difference_at(4)}, run_of(tokens_of(8), base));
  for (std::size_t cell = 0; cell < z.readings.size(); ++cell)
    EXPECT_NEAR(pattern.readings[cell].logit, z.readings[cell].logit, 1e-6) << "z = sum of 0 times values";
}

TEST_F(SweepTest, OverPositionsHeadsAtThemAndMlpsIsTheReferences) {
  struct Case {
    SweepOver over;
    int tokens, position;
    PatchPrompt from;
  };
  for (const auto& [over, tokens, position, from] :
       {Case{SweepOver::positions, 8, 6, {tokens_of(8, 5), {0, 1, 2, 3, 4, 5, 6, 7}}},
        Case{SweepOver::head_positions, 6, 4, {tokens_of(8, 4), {0, 1, -1, 5, 6, 7}}},
        Case{SweepOver::mlps, 7, 6, {tokens_of(9, 4), {0, 1, -1, 5, 6, 8, 2}}}})
    for (const Site site : sites_of(over))
      for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch}) {
        SCOPED_TRACE(model::hook_name({site, 0}) + " " + std::to_string(static_cast<int>(edit)));
        SweepOf question{.over = over, .site = site, .edit = edit, .measured = difference_at(position)};
        if (edit == SweepEdit::patch) question.from = from;
        expect_reference(question, tokens_of(tokens));
      }
}

TEST_F(SweepTest, ReachesLaterPositionsWhereTheyAct) {
  const model::Edits base{model::SetMask{1, {}, {}}};
  EXPECT_EQ(acting_positions(run_of(tokens_of(8)), 4), 5);
  EXPECT_EQ(acting_positions(run_of(tokens_of(8), base), 4), 8);
  EXPECT_EQ(acting_positions(run_of(tokens_of(8), {model::SetMean{{{Site::z, 1}, 0, {}, {}}}}), 4), 8);
  for (const auto& [over, site] :
       {std::pair(SweepOver::positions, Site::resid_pre), {SweepOver::head_positions, Site::v}}) {
    const SweepOf question{.over = over, .site = site, .measured = difference_at(4), .positions = 8};
    expect_reference(question, tokens_of(8), base);
    const Sweep found = sweep(question, run_of(tokens_of(8), base));
    EXPECT_GT(std::abs(found.difference(Metric::logit, 1, 7)), 1e-4) << "position 7";
  }
}

TEST_F(SweepTest, OverNeuronsIsTheReferences) {
  const model::Edits base{model::ScaleValues{{{Site::z, 1}, 2, {}, {}}, -1}};
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch})
    for (const model::Edits& edits : {model::Edits{}, base}) {
      SCOPED_TRACE(static_cast<int>(edit));
      SweepOf question{.over = SweepOver::neurons,
                       .site = Site::mlp_post,
                       .edit = edit,
                       .measured = logit_at(6),
                       .neurons = 9};
      if (edit == SweepEdit::patch) question.from = {tokens_of(9, 4), {0, 1, -1, 5, 6, 8, 2}};
      expect_reference(question, tokens_of(7), edits);
    }
}

TEST_F(SweepTest, OfAnEditedRun) {
  const model::Edits base{model::ScaleValues{{{Site::z, 1}, 2, {}, {}}, -1}, model::SetMask{2, {}, {}}};
  expect_reference({.measured = difference_at(7)}, tokens_of(8), base);
  expect_reference({.over = SweepOver::positions, .site = Site::mlp_out, .measured = difference_at(7)},
                   tokens_of(8), base);
}

TEST_F(SweepTest, OverSendersIsTheReferencesWithAllElseHeld) {
  const std::vector<std::pair<PatchPrompt, SweepEdit>> sources = {
      {{}, SweepEdit::zero},
      {{}, SweepEdit::mean},
      {{tokens_of(9, 3), {0, 1, 2, 3, 4, 5, 6, 7, 8}}, SweepEdit::patch},
      {{tokens_of(9, 4), {0, 1, -1, 5, 6, 8, 2, 3, 3}}, SweepEdit::patch}};
  const model::Edits base{model::ScaleValues{{{Site::z, 0}, 2, {}, {}}, -1},
                          model::ScaleValues{{{Site::resid_mid, 1}, {}, {2}, {}}, 2}};
  for (const model::EditSite& at :
       {model::EditSite{{Site::q, 2}, 1, {}, {}}, model::EditSite{{Site::k, 1}, {}, {}, {}},
        model::EditSite{{Site::resid_post, kLayers - 1}, {}, {}, {}}})
    for (const auto& [from, edit] : sources)
      for (const model::Edits& edits : {model::Edits{}, base}) {
        SCOPED_TRACE(hook_name(at.point) + " " + std::to_string(static_cast<int>(edit)));
        const SweepOf question{.over = SweepOver::senders,
                               .receiver = {at, kHeads},
                               .edit = edit,
                               .from = from,
                               .measured = difference_at(8)};
        expect_reference(question, tokens_of(9), edits);
        for (int layer = 0; layer < kLayers; ++layer)
          for (int column = 0; column <= kHeads; ++column) {
            const model::Edits cell = question.edits(layer, column);
            const bool before = at.point.site == Site::resid_post || layer < at.point.layer;
            ASSERT_EQ(cell.size(), before ? 1U : 0U);
            if (before) {
              EXPECT_EQ(point_of(std::get<model::PatchFrom>(cell.front()).edits.front()),
                        (model::HookPoint{column == kHeads ? Site::mlp_out : Site::z, layer}));
            }
          }
      }
}

TEST_F(SweepTest, ShowsPartsAndGoesOnWhereItWasStopped) {
  const PromptRun run = run_of(tokens_of(70));
  const SweepOf question{.over = SweepOver::positions,
                         .site = Site::resid_pre,
                         .measured = {.metric = Metric::divergence, .position = 69}};
  const Sweep whole = sweep(question, run);
  Sweep part = part_of(question, run, [](const Sweep& shown) { return shown.known_count() > 0; });
  EXPECT_LT(part.known_count(), 3 * 70);
  const auto first_known = static_cast<std::size_t>(std::ranges::find(part.known, true) - part.known.begin());
  EXPECT_GE(first_known, 2U * 70) << "without estimates the last layer comes first: it takes the least work";
  for (std::size_t i = 0; i < part.known.size(); ++i)
    EXPECT_TRUE(!part.known[i] || part.readings[i].logit == whole.readings[i].logit) << i;
  part.readings[first_known].logit = 1234;  // known cells are not recomputed
  const Sweep rest = gone_on(question, run, part);
  EXPECT_EQ(rest.known, whole.known);
  for (std::size_t i = 0; i < rest.readings.size(); ++i)
    EXPECT_EQ(rest.readings[i].logit, i == first_known ? 1234 : whole.readings[i].logit) << i;
}

TEST_F(SweepTest, AWholeRowIsPatchedAtAllPositionsThatStandForOthers) {
  SweepOf question;
  question.over = SweepOver::positions;
  question.site = model::Site::resid_pre;
  question.edit = SweepEdit::patch;
  question.from = {{5, 6, 7}, {0, -1, 2}};
  question.measured.position = 2;
  const auto row = std::get<model::PatchFrom>(question.edits(1, -1).at(0));
  EXPECT_EQ(row.at.positions, (std::vector<int>{0, 2}));
  EXPECT_EQ(row.positions, (std::vector<int>{0, 2}));
  EXPECT_TRUE(question.edits(1, 1).empty());
  question.edit = SweepEdit::zero;
  EXPECT_EQ(std::get<model::SetValues>(question.edits(1, -1).at(0)).at.positions, std::vector<int>{});
}

TEST_F(SweepTest, RefusesWhatCannotBe) {
  const PromptRun run = run_of(tokens_of(5));
  const auto said = [&](const SweepOf& question) {
    return message_of<model::RunError>([&] { sweep(question, run); });
  };
  EXPECT_EQ(said({.measured = difference_at(4, TokenRef::of(90))}),
            "there is no token 90: the vocabulary has ids 0 to 89");
  EXPECT_EQ(said({.measured = difference_at(5)}), "there is no position 5; the run has positions 0 to 4");
  EXPECT_EQ(said({.edit = SweepEdit::patch, .measured = difference_at(4)}),
            "there is nothing to patch this run from: set a second prompt or model, or edit it");
  EXPECT_EQ(said({.site = Site::pattern,
                  .edit = SweepEdit::patch,
                  .from = {tokens_of(6), {0, 1, -1, 4, 5}},
                  .measured = difference_at(4)}),
            "a pattern is patched from equal positions only, because its keys have positions, too; position "
            "3 corresponds to position 4 of the other prompt");
  EXPECT_EQ(said({.site = Site::mlp_out, .measured = difference_at(4)}),
            "a sweep does not edit blocks.0.hook_mlp_out of each of these places: choose another site");
  const auto into = [&](const model::EditSite& at) {
    return said({.over = SweepOver::senders, .receiver = {at, kHeads}, .measured = difference_at(4)});
  };
  EXPECT_EQ(into({{Site::q, 0}, 1, {}, {}}), "nothing sends to layer 0: choose a receiver in a later layer");
}

using model::Edits;
using model::HookPoint;
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

TEST_F(SweepEstimates, ComeFirstAndThenTheCellsWithTheLargest) {
  const PromptRun run = run_of(tokens_of(70));
  for (const Metric metric : {Metric::logit, Metric::difference, Metric::probability}) {
    const SweepOf question{
        .over = SweepOver::positions, .site = Site::mlp_out, .measured = {.metric = metric, .position = 69}};
    std::vector<Sweep> parts;
    std::stop_source stop;
    const auto show = [&](const std::optional<Sweep>& part, double done) {
      parts.push_back(part.value());
      EXPECT_NEAR(done, part->known_count() / (kLayers * 70.0), 1e-9);
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
}  // namespace headscope::app::sweep_test
