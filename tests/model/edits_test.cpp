// Edits: equal to the float64 reference with the same edits except for rounding, shown bit-identically by
// every answer, and unaffected by reuse of other runs.

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/model/path_by_hand.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::edits_test {
namespace {

class EditsTest : public SmallModel {
 protected:
  const Config& config() const { return transformer_->config(); }

  /// Records every activation of a pass.
  Activations record(std::span<const int> ids, const std::shared_ptr<const Plan>& plan) {
    return testing::record(*transformer_, ids, workspace_, all_hook_points(config()), 256, plan);
  }

  /// Checks that the answers for a run are the activations of the pass.
  void expect_answers_of(const model::Run& found, const Activations& pass) {
    const int length = found.length();
    const auto row = [&](const std::string& name, int pos, int width) {
      return std::span(pass.at(name).values).subspan(pos * width, static_cast<std::size_t>(width));
    };
    const std::vector<float> logits = testing::all_logits(*transformer_, found, workspace_);
    EXPECT_TRUE(same_bits(logits, pass.at("logits").values)) << "logits";
    const auto statistics = transformer_->statistics(found, 0, length, 3, workspace_);
    std::vector<float> ends;
    std::vector<int> answers;
    for (int pos = 0; pos < length; ++pos) {
      const auto expected = largest(row("logits", pos, kVocabulary));
      const auto& top = statistics[pos].top.front();
      EXPECT_EQ(std::pair(top.logit, top.id), expected) << "statistics of position " << pos;
      std::ranges::copy(found.resid(kLayers, pos), std::back_inserter(ends));
      answers.push_back(0);
    }
    const auto lens = transformer_->lens(ends, 1, answers, 1, workspace_, {}, &found, 0);
    for (int pos = 0; pos < length; ++pos) {
      const auto& guess = lens[pos].guesses.top.front();
      EXPECT_EQ(std::pair(guess.logit, guess.id), largest(row("logits", pos, kVocabulary)))
          << "lens of position " << pos;
    }
    std::vector<HeadIndex> heads;
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string block = "blocks." + std::to_string(layer) + ".";
      for (int pos = 0; pos < length; ++pos) {
        EXPECT_TRUE(same_bits(found.resid(layer, pos), row(block + "hook_resid_pre", pos, kWidth)))
            << layer << " " << pos;
        const AttentionOutput out = transformer_->attention_output(found, layer, pos, workspace_);
        EXPECT_TRUE(same_bits(out.z, row(block + "attn.hook_z", pos, kWidth))) << "z " << layer << " " << pos;
        EXPECT_TRUE(same_bits(out.out, row(block + "hook_attn_out", pos, kWidth)))
            << "attn_out " << layer << " " << pos;
      }
      for (int head = 0; head < kHeads; ++head) {
        heads.push_back({layer, head});
        const auto expect_kept = [&](const char* name, int pos, const auto& kept) {
          EXPECT_TRUE(same_bits(kept, row(block + "attn.hook_" + name, pos, kWidth)
                                          .subspan(static_cast<std::size_t>(head * kWidth / kHeads),
                                                   static_cast<std::size_t>(kWidth / kHeads))))
              << name << " " << layer << " " << head << " " << pos;
        };
        for (int pos = 0; pos < length; ++pos) {
          expect_kept("q", pos, found.q(layer, head, pos));
          expect_kept("k", pos, found.k(layer, head, pos));
          expect_kept("v", pos, found.v(layer, head, pos));
        }
        const auto cells = static_cast<std::size_t>(length * length);
        const auto in_pass = [&](const char* name) {
          return std::span(pass.at(block + name).values)
              .subspan(static_cast<std::size_t>(head) * cells, cells);
        };
        const AttentionStages stages = transformer_->attention(found, layer, head);
        EXPECT_TRUE(same_bits(stages.masked, in_pass("attn.hook_attn_scores")))
            << "scores " << layer << " " << head;
        EXPECT_TRUE(same_bits(stages.pattern, in_pass("attn.hook_pattern")))
            << "pattern " << layer << " " << head;
        for (int query = 0; query < length; ++query) {
          const AttentionRow steps = transformer_->attention_row(found, layer, head, query);
          for (const auto& [name, values] :
               {std::pair("attn.hook_attn_scores", &steps.masked), {"attn.hook_pattern", &steps.weights}})
            EXPECT_TRUE(same_bits(*values, in_pass(name).subspan(query * length, values->size()))) << name;
        }
      }
    }
    transformer_->patterns(found, heads, workspace_, [&](std::size_t index, int first, ConstFloatRows rows) {
      const auto& all = pass.at("blocks." + std::to_string(heads[index].layer) + ".attn.hook_pattern").values;
      for (int i = 0; i < rows.rows; ++i)
        EXPECT_TRUE(
            same_bits(rows.row(i), std::span(all).subspan((heads[index].head * length + first + i) * length,
                                                          static_cast<std::size_t>(length))));
    });
  }

  static std::pair<float, int> largest(std::span<const float> logits) {
    const auto it = std::ranges::max_element(logits);
    return {*it, static_cast<int>(it - logits.begin())};
  }

  /// Checks that the run is bit-identical whatever is reused from other runs.
  void expect_same_with_reuse(std::span<const int> ids, const std::shared_ptr<const Plan>& edited) {
    const auto expected = kept_values(*run(ids, edited));
    const auto clean = run(ids, nullptr);
    const auto clean_kept = kept_values(*clean);
    const auto part = run(ids.first(ids.size() - 2), edited);
    const auto other = run(ids, plan({ScaleValues{{{Site::mlp_out, 2}, {}, {4}, {}}, 3}}));
    for (const model::Run* base :
         {static_cast<const model::Run*>(nullptr), clean.get(), part.get(), other.get()})
      for (const model::Run* unchanged : {static_cast<const model::Run*>(nullptr), clean.get()})
        for (const int chunk : {1, 5, 128})
          EXPECT_EQ(kept_values(*run(ids, edited, base, unchanged, chunk)), expected)
              << (base == nullptr       ? "no base"
                  : base == clean.get() ? "clean"
                  : base == part.get()  ? "part"
                                        : "other")
              << (unchanged == nullptr ? "" : ", layers of the clean run") << ", chunk " << chunk;
    EXPECT_EQ(kept_values(*clean), clean_kept) << "it belongs to others";
  }

  void expect_right(const Edits& list, const std::vector<int>& ids, bool has_effect = true) {
    const auto edited = plan(list, ids);
    const Activations pass = record(ids, edited);
    const auto found = run(ids, edited);
    expect_answers_of(*found, pass);
    const RecordedValues sources = sources_by_hand(*reference_, ids, list);
    EXPECT_LE(
        testing::logit_error(pass.at("logits").values, reference_->run(ids, by_hand(list, sources)).logits),
        1e-5);
    expect_same_with_reuse(ids, edited);
    const auto clean = record(ids, nullptr);
    EXPECT_EQ(pass.at("logits").values != clean.at("logits").values, has_effect);
  }
};

// --- every kind at every site ---

class EveryKind : public EditsTest, public ::testing::WithParamInterface<EditCase> {
 protected:
  Edits list() const { return edits_from(GetParam(), config()); }
};

INSTANTIATE_TEST_SUITE_P(Sites, EveryKind, ::testing::ValuesIn(edit_cases()), name_of);

TEST_P(EveryKind, ShowsInEveryAnswerAndIsTheReferences) {
  // Softmax ignores a constant in all scores, and a position's embedding is the same in every prompt.
  const std::string name = hook_name(GetParam().point) + " " + GetParam().kind;
  const bool has_effect = name != "blocks.1.attn.hook_attn_scores add" && name != "hook_pos_embed patch";
  expect_right(list(), tokens_of(8), has_effect);
}

// --- masks, positions and lists ---

class EveryList : public EditsTest, public ::testing::WithParamInterface<EditList> {};
INSTANTIATE_TEST_SUITE_P(Lists, EveryList, ::testing::ValuesIn(edit_lists()),
                         [](const auto& list) { return list.param.name; });

TEST_P(EveryList, ShowsInEveryAnswerAndIsTheReferences) {
  expect_right(GetParam().edits, tokens_of(GetParam().length));
}

TEST_F(EditsTest, OnlyWhatDependsOnAnEditIsComputed) {
  EXPECT_FALSE(plan({SetMask{1, {}, {{true, false}, {true, true}}}})->needs_whole_run()) << "it is causal";
  const auto causal = plan({SetCells{{Site::pattern, 1}, 0, {{CellValue::kAllQueries, 2, 0}}, false}});
  EXPECT_FALSE(causal->needs_whole_run());
  EXPECT_EQ(causal->first_position(), 2);
  EXPECT_EQ(plan({SetPositionIds{{0, 1, 2, 9}}})->first_position(), 3);
}

/// What a head changes on its way to another one (path patching): the receiver's keys come from a run of the
/// same tokens in which the sender's output comes from other tokens and the MLP between is held.
TEST_F(EditsTest, WhatIsPatchedMayComeFromAnEditedRun) {
  const std::vector<int> ids = tokens_of(9), others = tokens_of(9, 4);
  const PatchFrom sender{{{Site::z, 0}, 1, {}, {}}, others}, held{{{Site::mlp_out, 0}, {}, {}, {}}, ids};
  for (const Site receiver : {Site::q, Site::k, Site::v, Site::resid_pre}) {
    SCOPED_TRACE(hook_name({receiver, 1}));
    const EditSite at{{receiver, 1}, receiver == Site::resid_pre ? std::nullopt : std::optional(2), {}, {}};
    const Edits path{PatchFrom{at, {}, {}, false, {sender, held}}};
    expect_right(path, ids);
    expect_right({PatchFrom{at, others, {}, false, {ScaleValues{{{Site::z, 0}, 1, {}, {}}, 0}}}}, ids);
  }
  // A run inside a run, and two places that share one.
  const PatchFrom inner{{{Site::z, 1}, 0, {}, {}}, {}, {}, false, {sender}};
  expect_right({PatchFrom{{{Site::q, 2}, 1, {2, 3}, {}}, others, {1, 0}, false, {inner}},
                PatchFrom{{{Site::k, 2}, 1, {}, {}}, others, {}, false, {inner}}},
               ids);
}

// --- amount of computation ---

TEST_F(EditsTest, OnlyWhatComesAfterTheFirstEditIsComputed) {
  const std::vector<int> ids = tokens_of(150);
  const auto clean = run(ids, nullptr);
  const auto late = run(ids, plan({ScaleValues{{{Site::z, 1}, 2, {100}, {}}, 0}}), clean.get(), clean.get());
  EXPECT_EQ(late->computed_positions, 50);
  EXPECT_EQ(late->pages[0], clean->pages[0]);
  EXPECT_EQ(late->pages[1]->below(), clean->pages[1]);
  EXPECT_EQ(late->pages[1]->first_layer(), 2) << "q, k and v of layer 1 are the clean run's";
  const auto at_end =
      run(ids, plan({SetValues{{{Site::logits}, {}, {}, {5}}, {40}}}), clean.get(), clean.get());
  EXPECT_EQ(at_end->computed_positions, 0);
  EXPECT_EQ(at_end->pages, clean->pages);
  EXPECT_EQ(largest(testing::all_logits(*transformer_, *at_end, workspace_)), std::pair(40.F, 5));
}

TEST_F(EditsTest, ARunIsNoBaseForOtherEdits) {
  const std::vector<int> ids = tokens_of(20);
  const auto off = [&](int position) { return plan({ScaleValues{{{Site::z, 1}, 2, {position}, {}}, 0}}); };
  const auto ten = run(ids, off(10));
  EXPECT_EQ(run(ids, nullptr, ten.get())->computed_positions, 10);
  EXPECT_EQ(run(ids, off(5), ten.get())->computed_positions, 15);
  EXPECT_EQ(run(ids, off(10), ten.get())->computed_positions, 0) << "the same by value";
  EXPECT_EQ(kept_values(*run(ids, nullptr, ten.get())), kept_values(*run(ids, nullptr)));
  const auto unmasked = run(ids, plan({SetMask{}}));
  EXPECT_EQ(run(std::span(ids).first(19), plan({SetMask{}}), unmasked.get())->computed_positions, 19)
      << "each position depends on all";
}

TEST_F(EditsTest, LayersAreTakenFromACleanRunOfTheSameTokensAlone) {
  const std::vector<int> ids = tokens_of(20);
  std::vector<int> others = ids, longer = tokens_of(21);
  others[3] = (others[3] + 1) % config().vocab_size;
  const auto edited = plan({ScaleValues{{{Site::z, 1}, 2, {}, {}}, 0}});
  const auto expected = kept_values(*run(ids, edited));
  for (const std::vector<int>& of_clean : {ids, others, longer})
    EXPECT_EQ(kept_values(*run(ids, edited, nullptr, run(of_clean, nullptr).get())), expected);
}

TEST_F(EditsTest, ALensOfSeveralPlacesGoesByTheEditedPositions) {
  const auto edited =
      run(tokens_of(6), plan({ScaleValues{{{Site::ln_final_normalized}, {}, {2, 3}, {}}, 3}}));
  constexpr int kDepth = 3, kFirst = 1, kPositions = 4;
  const auto d = static_cast<std::size_t>(config().n_embd);
  std::vector<float> rows;
  for (int position = kFirst; position < kFirst + kPositions; ++position)
    for (int layer = 0; layer < kDepth; ++layer) {
      const auto row = edited->resid(layer, position);
      rows.insert(rows.end(), row.begin(), row.end());
    }
  const std::vector<int> targets(kPositions, 7);
  const auto together = transformer_->lens(rows, kDepth, targets, 1, workspace_, {}, edited.get(), kFirst);
  for (int i = 0; i < kDepth * kPositions; ++i) {
    const auto row = std::span(rows).subspan(static_cast<std::size_t>(i) * d, d);
    const auto alone = transformer_->lens(row, 1, std::span(targets).first(1), 1, workspace_, {},
                                          edited.get(), kFirst + i / kDepth);
    EXPECT_EQ(together[i].guesses.next_logit, alone.front().guesses.next_logit) << i;
  }
}

TEST_F(EditsTest, WatchersSeeWhatEditsLeft) {
  const std::vector<int> ids = tokens_of(8);
  const auto edited = plan({SetValues{{{Site::z, 1}, 2, {}, {}}, {3}}});
  const auto base = run(ids, edited);
  Hooks hooks;
  int seen = 0;
  hooks.watch({Site::z, 1}, [&](const ConstActivation2d& z) {
    EXPECT_EQ(z.row(z.rows - 1)[8], 3.F);
    ++seen;
  });
  ForwardOptions options;
  options.plan = edited;
  options.base = base.get();
  options.hooks = &hooks;
  options.hooked_from = 7;
  const auto watched = transformer_->forward(ids, workspace_, options);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(watched->computed_positions, 1);
  EXPECT_EQ(kept_values(*watched), kept_values(*base));
}

// --- rejected edits ---

TEST_F(EditsTest, AWrongOneIsOneSentence) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int> ids{1, 2, 3};
  const std::vector<std::pair<Edit, const char*>> all{
      {ScaleValues{{{Site::z, 3}, {}, {}, {}}, 0}, "names layer 3, but the model has layers 0 to 2"},
      {ScaleValues{{{Site::z, 1}, 3, {}, {}}, 0}, "names head 3, but the model has heads 0 to 2"},
      {ScaleValues{{{Site::mlp_out, 1}, 0, {}, {}}, 0}, "names a head, but this site is not split by head"},
      {ScaleValues{{{Site::z, 1}, 1, {200}, {}}, 0},
       "names position 200, but the model has positions 0 to 199"},
      {ScaleValues{{{Site::z, 1}, 1, {}, {4}}, 0}, "names unit 4, but the model has units 0 to 3"},
      {ScaleValues{{{Site::pattern, 1}, 1, {}, {0}}, 0}, "names units, but scores and patterns take cells"},
      {ScaleValues{{{Site::z, 1}, 1, {}, {}}, nan}, "has a value that is not a finite number"},
      {SetValues{{{Site::z, 1}, 1, {}, {}}, {1, 2}}, "has 2 values, but takes one or 4"},
      {SetValues{{{Site::z, 1}, {}, {}, {}}, {1, 2}},
       "has 2 values, but takes one or 4 or 12 (4 for each head)"},
      {SetMean{{{Site::pattern, 1}, {}, {}, {}}}, "sets a mean over positions"},
      {PatchFrom{{{Site::z, 1}, {}, {}, {}}, {}, {}}, "patches from a prompt without tokens"},
      {PatchFrom{{{Site::z, 1}, {}, {5}, {}}, ids, {}}, "patches from position 5 of a prompt of 3 tokens"},
      {PatchFrom{{{Site::z, 1}, {}, {}, {}}, {90}, {}}, "patches from token id 90"},
      {SetCells{{Site::z, 1}, {}, {{0, 0, 0}}}, "sets cells, which only scores and patterns have"},
      {SetCells{{Site::attn_scores, 1}, {}, {{0, 0, 0}}, true}, "renormalises, which only patterns support"},
      {SetCells{{Site::pattern, 1}, {}, {{4, 0, 0.75F}, {4, 1, 0.5F}}, true},
       "renormalises query 4, whose cells add up to 1.25"},
      {SetMask{{}, {}, {{true}, {false}}}, "has a mask whose query 0 has 1 keys instead of 2"},
      {SetMask{{}, {}, {{true, false}, {false, false}}}, "has a mask whose query 1 sees no key"},
      {SetPositionIds{std::vector<int>(201)}, "has 201 position ids"},
  };
  for (const auto& [edit, says] : all) {
    const std::string said = message_of<RunError>([&, &what = edit] {
      plan({ScaleValues{{{Site::z, 0}, {}, {}, {}}, 2}, what});
    });
    EXPECT_THAT(said, HasSubstr(says));
    EXPECT_THAT(said, HasSubstr("the edit of " + hook_name(point_of(edit))));
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace headscope::model::edits_test
