// Patching from another model: the patched values are that model's, whatever the first one's are.

#include "model/files/error.h"
#include "model/pass/hooks.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::second_model_test {
namespace {

const std::vector<int> kIds{3, 1, 4, 1, 5, 9, 2, 6}, kOthers{2, 7, 1, 8, 2, 8};

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
        first_->plan({PatchFrom{{point, {}, {}, {}}, kIds, {}, true}}, workspace_, {}, {second_.get()});
    const auto there = testing::record(*second_, kIds, workspace_, {point}),
               found = testing::record(*first_, kIds, workspace_, {point}, 256, plan);
    EXPECT_TRUE(testing::same_bits(there.begin()->second.values, found.begin()->second.values));
  }
}

TEST_F(SecondModel, IsAnotherSourceThanTheFirstForTheSameTokens) {
  const EditSite place{{Site::attn_out, 0}, {}, {1, 2}, {}};
  const auto run = [&](Edits list) {
    ForwardOptions options;
    options.plan = first_->plan(std::move(list), workspace_, {}, {second_.get()});
    return logits_of(*first_->forward(kIds, workspace_, options));
  };
  const auto own = run({PatchFrom{place, kOthers, {4, 5}}}),
             other = run({PatchFrom{place, kOthers, {4, 5}, true}});
  EXPECT_NE(own, other);
  EXPECT_EQ(run({PatchFrom{place, kOthers, {4, 5}}, PatchFrom{place, kOthers, {4, 5}, true}}), other)
      << "the last one holds";
  EXPECT_EQ(run({PatchFrom{place, kOthers, {4, 5}, true}, PatchFrom{place, kOthers, {4, 5}}}), own);
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
  const auto expected = logits_of(*run(kIds, *second_, kIds, {1, 6}));
  EXPECT_EQ(logits_of(*run({}, *second_, kIds, {1, 6})), expected);
  EXPECT_NE(logits_of(*first_->forward(kIds, workspace_)), expected);

  const auto beginning = run({}, *second_, std::span(kIds).first(5), {1, 6});
  EXPECT_EQ(logits_of(*run({}, *second_, kIds, {1, 6}, beginning.get())), expected)
      << "it may go on from its beginning";

  const auto shorter = made(2, {.positions = 3});
  EXPECT_EQ(logits_of(*run({}, *shorter, kIds, {1, 6})),
            logits_of(*run({kIds[0], kIds[1], kIds[2]}, *shorter, kIds, {1})))
      << "as far as its context goes";
}

TEST_F(SecondModel, IsWantedAndOfTheSameShape) {
  const Edits list{PatchFrom{{{Site::z, 1}, {}, {}, {}}, kIds, {}, true}};
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

}  // namespace
}  // namespace headscope::model::second_model_test
