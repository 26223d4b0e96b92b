// Patches from another model, whose values are that model's whatever the first one's are; and along direct
// paths, as in a float64 pass in which all other heads and MLPs are held, bit-identical to a patch whose
// source holds them by edits.
#include "model/files/error.h"
#include "model/pass/hooks.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/model/path_by_hand.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::patches_test {
namespace {

const std::vector<int> kDigits{3, 1, 4, 1, 5, 9, 2, 6}, kOtherDigits{2, 7, 1, 8, 2, 8};

class SecondModel : public ::testing::Test {
 protected:
  SecondModel() : first_(made(1, {})), second_(made(2, {})) {}

  static std::shared_ptr<const Transformer> made(std::uint64_t seed, const testing::Gpt2Shape& shape) {
    const testing::TemporaryFolder folder;
    write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape, "F32", seed));
    return Transformer::load(folder.path());
  }

  std::vector<float> logits_of(const model::Run& run) {
    return testing::all_logits(*first_, run, workspace_);
  }

  std::shared_ptr<const Transformer> first_, second_;
  Workspace workspace_{2};
};

TEST_F(SecondModel, GivesWhatItHasToTheBit) {
  for (const Site site : {Site::embed, Site::resid_pre, Site::q, Site::v, Site::pattern, Site::z,
                          Site::attn_out, Site::mlp_post, Site::mlp_out, Site::ln_final_normalized}) {
    const HookPoint point{site, in_block(site) ? 1 : 0};
    SCOPED_TRACE(hook_name(point));
    const auto plan =
        first_->plan({PatchFrom{{point, {}, {}, {}}, kDigits, {}, true}}, workspace_, {}, {second_.get()});
    const auto there = testing::record(*second_, kDigits, workspace_, {point}),
               found = testing::record(*first_, kDigits, workspace_, {point}, 256, plan);
    EXPECT_TRUE(testing::same_bits(there.begin()->second.values, found.begin()->second.values));
  }
}

TEST_F(SecondModel, IsAnotherSourceThanTheFirstForTheSameTokens) {
  const EditSite place{{Site::attn_out, 0}, {}, {1, 2}, {}};
  const auto run = [&](Edits list) {
    ForwardOptions options;
    options.plan = first_->plan(std::move(list), workspace_, {}, {second_.get()});
    return logits_of(*first_->forward(kDigits, workspace_, options));
  };
  const auto own = run({PatchFrom{place, kOtherDigits, {4, 5}}}),
             other = run({PatchFrom{place, kOtherDigits, {4, 5}, true}});
  EXPECT_NE(own, other);
  EXPECT_EQ(run({PatchFrom{place, kOtherDigits, {4, 5}}, PatchFrom{place, kOtherDigits, {4, 5}, true}}),
            other)
      << "the last one holds";
  EXPECT_EQ(run({PatchFrom{place, kOtherDigits, {4, 5}, true}, PatchFrom{place, kOtherDigits, {4, 5}}}), own);
}

TEST_F(SecondModel, RunsTheRunsOwnTokensWhereNoneAreNamed) {
  const auto run = [&](std::vector<int> named, const Transformer& second, std::span<const int> tokens,
                       std::vector<int> at, const model::Run* base = nullptr) {
    Edits list;
    for (const HookPoint point : {HookPoint{Site::z, 0}, HookPoint{Site::pattern, 1}})
      list.emplace_back(PatchFrom{{point, {}, at, {}}, named, {}, true});
    ForwardOptions options;
    options.plan = first_->plan(list, workspace_, {}, {&second, tokens});
    options.base = base;
    return first_->forward(tokens, workspace_, options);
  };
  const auto expected = logits_of(*run(kDigits, *second_, kDigits, {1, 6}));
  EXPECT_EQ(logits_of(*run({}, *second_, kDigits, {1, 6})), expected);
  EXPECT_NE(logits_of(*first_->forward(kDigits, workspace_)), expected);

  const auto beginning = run({}, *second_, std::span(kDigits).first(5), {1, 6});
  EXPECT_EQ(logits_of(*run({}, *second_, kDigits, {1, 6}, beginning.get())), expected)
      << "it may go on from its beginning";

  const auto shorter = made(2, {.positions = 3});
  EXPECT_EQ(logits_of(*run({}, *shorter, kDigits, {1, 6})),
            logits_of(*run({kDigits[0], kDigits[1], kDigits[2]}, *shorter, kDigits, {1})))
      << "as far as its context goes";
}

TEST_F(SecondModel, IsWantedAndOfTheSameShape) {
  const Edits list{PatchFrom{{{Site::z, 1}, {}, {}, {}}, kDigits, {}, true}};
  const auto said = [&](const Transformer* second) {
    return message_of<RunError>([&] { first_->plan(list, workspace_, {}, {second}); });
  };
  EXPECT_EQ(said(nullptr), "the edit of blocks.1.attn.hook_z patches from a second model, but there is none");
  const auto wide = made(2, {.width = 12});
  EXPECT_EQ(said(wide.get()),
            "the edit of blocks.1.attn.hook_z patches from a second model, but the first has " +
                std::to_string(first_->config().n_embd) + " residual stream dimensions, the second 12");
  const auto longer = made(2, {.positions = 20});
  EXPECT_EQ(first_->plan(list, workspace_, {}, {longer.get()})->edits(), list) << "it need not end there";
}

const std::vector<int> kIds = tokens_of(9), kOthers = tokens_of(9, 4);
constexpr HookPoint kEnd{Site::resid_post, kLayers - 1};

EditSite head_of_layer(Site site, int layer, int head) {
  return {{site, layer}, head, {}, {}};
}

class DirectPathTest : public SmallModel {
 protected:
  static PatchFrom path(Edit sender, EditSite receiver) {
    return {std::move(receiver), {}, {}, false, {std::move(sender)}, true};
  }

  std::shared_ptr<const Plan> plan(const Edits& edits, std::span<const int> ids = kIds) {
    return SmallModel::plan(edits, ids);
  }

  std::shared_ptr<const model::Run> run(const Edits& edits, std::span<const int> ids = kIds,
                                        const model::Run* base = nullptr) {
    return SmallModel::run(ids, plan(edits, ids), base);
  }

  std::vector<float> logits(const Edits& edits) {
    return testing::all_logits(*transformer_, *run(edits), workspace_);
  }

  /// The same with the braces form: edits of the source hold what is not on the path at the unedited run's
  /// values. Senders: of one layer and site.
  static PatchFrom held(const Edits& senders, const EditSite& receiver) {
    const HookPoint from = point_of(senders.front());
    const Edits no_effect{ScaleValues{{{Site::embed}, {}, {}, {}}, 1}};
    Edits edits = senders;
    for (int layer = from.layer; layer < receiver.point.layer + (receiver.point == kEnd); ++layer)
      for (const HookPoint point : {HookPoint{Site::attn_out, layer}, HookPoint{Site::mlp_out, layer}})
        if (layer > from.layer || (from.site == Site::z && point.site == Site::mlp_out))
          edits.emplace_back(PatchFrom{{point, {}, {}, {}}, {}, {}, false, no_effect});
    return {receiver, {}, {}, false, edits};
  }

  /// Returns the largest difference from the run without the paths.
  double expect_reference(const std::vector<PatchFrom>& paths, const Edits& edits = {}) {
    Edits all = edits;
    all.insert(all.end(), paths.begin(), paths.end());
    const std::vector<float> found = logits(all), without = logits(edits);
    EXPECT_LE(testing::logit_error(found, logits_by_hand(*reference_, kIds, paths, others_, edits)), 1e-5);
    return testing::largest_difference(found, without);
  }

  /// Edits of a sender.
  static Edits senders(const EditSite& at) {
    EditSite some = at, unit = at;
    some.positions = {2, 5};
    unit.units = {1};  // layer norm would take the same for all units away
    return {SetValues{at, {0}},     SetMean{at},
            ScaleValues{some, -2},  AddVector{unit, {1}, 3},
            PatchFrom{at, kOthers}, PatchFrom{some, kOthers, {1, 7}}};
  }

  RecordedValues others_ = record_by_hand(*reference_, kOthers);
};

TEST_F(DirectPathTest, IsTheReferencesWithAllElseHeld) {
  const EditSite end{kEnd, {}, {}, {}};
  for (const EditSite& sender : {head_of_layer(Site::z, 0, 1), EditSite{{Site::z, 0}, {}, {}, {}},
                                 EditSite{{Site::mlp_out, 0}, {}, {}, {}}})
    for (const EditSite& receiver :
         {head_of_layer(Site::q, 2, 1), head_of_layer(Site::k, 2, 0), head_of_layer(Site::v, 1, 2),
          EditSite{{Site::k, 2}, {}, {2, 4}, {}}, end})
      for (const Edit& edit : senders(sender)) {
        SCOPED_TRACE(hook_name(sender.point) + " " + hook_name(receiver.point) + " " +
                     std::to_string(edit.index()));
        EXPECT_GT(expect_reference({path(edit, receiver)}), 1e-6) << "it has an effect";
        if (receiver.positions.empty()) {
          EXPECT_EQ(logits({path(edit, receiver)}), logits({held({edit}, receiver)}))
              << "the same to the bit as holding the rest by edits";
        }
      }
  EXPECT_GT(expect_reference({path(SetValues{head_of_layer(Site::z, 2, 1), {0}}, end)}), 1e-3);
  EXPECT_GT(expect_reference({path(SetValues{{{Site::mlp_out, 2}, {}, {}, {}}, {0}}, end)}), 1e-3);
}

TEST_F(DirectPathTest, IsOnTopOfTheOtherEdits) {
  const Edits base{ScaleValues{head_of_layer(Site::z, 0, 2), -1},
                   AddVector{{{Site::resid_mid, 1}, {}, {3}, {0, 4}}, {1}, 2},
                   ScaleValues{head_of_layer(Site::q, 2, 1), 1.5F},
                   ScaleValues{{{Site::ln1_scale, 2}, {}, {}, {}}, 0.75F},
                   SetMean{{{Site::attn_out, 1}, {}, {}, {}}},
                   ScaleValues{{{Site::attn_out, 0}, {}, {}, {}}, 0.5F},
                   ScaleValues{{{Site::resid_post, 0}, {}, {4}, {}}, 3},
                   ScaleValues{{{Site::resid_pre, 1}, {}, {}, {1}}, 3}};
  for (const EditSite& receiver :
       {head_of_layer(Site::q, 2, 1), head_of_layer(Site::k, 1, 0), EditSite{kEnd, {}, {}, {}}})
    for (const Edit& edit : senders(head_of_layer(Site::z, 0, 1))) {
      SCOPED_TRACE(hook_name(receiver.point) + " " + std::to_string(edit.index()));
      EXPECT_GT(expect_reference({path(edit, receiver)}, base), 1e-6);
      Edits nothing = base;
      nothing.emplace_back(path(ScaleValues{head_of_layer(Site::z, 0, 1), 1}, receiver));
      EXPECT_EQ(logits(nothing), logits(base)) << "a sender that writes the same changes no bit";
    }
  // An edit of the receiver after the path acts once, on what it received.
  const Edit way = path(SetValues{head_of_layer(Site::z, 0, 1), {0}}, head_of_layer(Site::k, 1, 0)),
             twice = ScaleValues{head_of_layer(Site::k, 1, 0), 2};
  EXPECT_EQ(logits({way, twice}), logits({twice, way}));
  EXPECT_NE(logits({way, twice}), logits({way}));
  // Edits of heads' results are summed as in the pass.
  const Edits results{ScaleValues{head_of_layer(Site::result, 0, 1), -2}};
  EXPECT_GT(expect_reference(
                {path(SetValues{head_of_layer(Site::z, 0, 1), {0}}, head_of_layer(Site::k, 1, 0))}, results),
            1e-6);
}

TEST_F(DirectPathTest, EachPathHasItsOwnSendersEffect) {
  const auto off = [](int head) { return SetValues{head_of_layer(Site::z, 0, head), {0}}; };
  const EditSite first = head_of_layer(Site::k, 1, 0), second = head_of_layer(Site::q, 2, 2);
  expect_reference({path(off(1), first), path(off(1), second)});
  EXPECT_EQ(logits({path(off(1), first), path(off(2), second)}),
            logits({path(off(2), second), path(off(1), first)}));
  // Two senders of one receiver are one path of both.
  EXPECT_EQ(logits({path(off(0), first), path(off(2), first)}), logits({held({off(0), off(2)}, first)}))
      << "held at the values without them";
}

TEST_F(DirectPathTest, ALongerPromptWithAMeanIsComputedAnew) {
  const Edits mean{path(SetMean{head_of_layer(Site::z, 0, 1)}, head_of_layer(Site::k, 1, 0))};
  const auto first = run(mean, std::span(kIds).first(6));
  EXPECT_EQ(testing::kept_values(*run(mean, kIds, first.get())), testing::kept_values(*run(mean)));
  const Edits braces{
      PatchFrom{head_of_layer(Site::k, 1, 0), {}, {}, false, {SetMean{head_of_layer(Site::z, 0, 1)}}}};
  const auto part = run(braces, std::span(kIds).first(6));
  EXPECT_EQ(testing::kept_values(*run(braces, kIds, part.get())), testing::kept_values(*run(braces)));
}

TEST_F(DirectPathTest, PlansShareTheirRuns) {
  const Edit way = path(PatchFrom{head_of_layer(Site::z, 0, 1), kOthers}, head_of_layer(Site::k, 2, 0));
  std::vector<Edits> lists(3, {way});
  lists[2].insert(lists[2].begin(), SetValues{head_of_layer(Site::z, 1, 1), {0}});
  const auto plans = transformer_->plans(lists, workspace_, {}, {nullptr, kIds});
  for (std::size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(testing::all_logits(*transformer_, *SmallModel::run(kIds, plans[i]), workspace_),
              logits(lists[i]));
  }
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(transformer_->plans(lists, workspace_, stop.get_token(), {nullptr, kIds}), Stopped);
}

TEST_F(DirectPathTest, RefusesWhatIsNoPath) {
  const Edit off = SetValues{head_of_layer(Site::z, 1, 1), {0}};
  const EditSite keys = head_of_layer(Site::k, 2, 0);
  PatchFrom two = path(off, keys), elsewhere = path(off, keys), none = path(off, keys);
  two.edits.push_back(off);
  elsewhere.tokens = kOthers;
  none.edits.clear();
  const std::vector<std::pair<PatchFrom, std::string>> all = {
      {two, "takes a path from one edit of a sender, and nothing else"},
      {elsewhere, "takes a path from one edit of a sender, and nothing else"},
      {none, "takes a path from one edit of a sender, and nothing else"},
      {path(off, head_of_layer(Site::z, 2, 0)), "only q, k, v and the logits"},
      {path(off, {{Site::resid_post, 1}, {}, {}, {}}), "only q, k, v and the logits"},
      {path(off, head_of_layer(Site::q, 1, 0)),
       "takes a path from blocks.1.attn.hook_z, which is not in an earlier layer"},
      {path(SetValues{{{Site::resid_pre, 0}, {}, {}, {}}, {0}}, keys), "but only z and mlp_out send"},
      {path(SetMask{}, keys), "but only z and mlp_out send"},
      {path(path(off, keys), {kEnd, {}, {}, {}}), "but only z and mlp_out send"},
      {path(off, head_of_layer(Site::k, 2, 3)), "names head 3"},
      {path(off, head_of_layer(Site::k, 3, 0)), "names layer 3"},
      {path(SetValues{head_of_layer(Site::z, 1, 7), {0}}, keys), "names head 7"},
  };
  for (const auto& [edit, says] : all) {
    const std::string said = message_of<RunError>([&, &what = edit] { plan({what}); });
    EXPECT_THAT(said, HasSubstr(says));
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

/// One would replace the other where both receive; equal receivers add up.
TEST_F(DirectPathTest, RefusesReceiversThatOverlap) {
  const Edit off = SetValues{head_of_layer(Site::z, 0, 1), {0}};
  const auto at = [&](std::optional<int> head, std::vector<int> positions) {
    return Edit(path(off, {{Site::k, 2}, head, std::move(positions), {}}));
  };
  for (const auto& [one, other] :
       {std::pair(at(0, {2}), at(0, {})), {at({}, {}), at(1, {})}, {at(0, {1, 2}), at(0, {2, 3})}}) {
    EXPECT_THAT(message_of<RunError>([&] { plan({one, other}); }), HasSubstr("overlap"));
    EXPECT_THAT(message_of<RunError>([&] { plan({other, one}); }), HasSubstr("overlap"));
  }
  EXPECT_NO_THROW(plan({at(0, {1}), at(0, {2}), at(1, {1}), at(0, {1})}));
}

}  // namespace
}  // namespace headscope::model::patches_test
