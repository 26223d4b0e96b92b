// Sweeps: every cell compared with the float64 reference with the same edit.
#include "app/run/analyses/sweep.h"

#include "tests/app/run/parts.h"
#include "tests/app/run/run_of_model.h"
#include "tests/model/every_edit.h"
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

}  // namespace
}  // namespace headscope::app::sweep_test
