#include "app/run/capabilities.h"

#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

constexpr Capabilities kAll = Capability::patterns | Capability::weights | Capability::positions_table |
                              Capability::mlp | Capability::tokenizer;

TEST(Capabilities, AreASet) {
  static_assert(kAll.has(Capability::mlp | Capability::weights));
  static_assert(!Capabilities(Capability::mlp).has(Capability::mlp | Capability::weights));
  static_assert(kAll.without(Capability::patterns | Capability::weights).first() ==
                Capability::positions_table);
  static_assert(kAll.without(kAll) == Capabilities());
  static_assert(Capabilities(Capability::tokenizer).has(Capabilities()));
}

TEST(Capabilities, WhatIsMissingIsOneSentenceThatNamesTheModel) {
  EXPECT_EQ(missing("gpt2", kAll, kAll), "");
  EXPECT_EQ(missing("a.safetensors", Capability::patterns, Capability::patterns), "");
  EXPECT_EQ(missing("a.safetensors", Capability::patterns, kAll),
            "this needs a model's weights; \"a.safetensors\" holds only attention patterns");
  EXPECT_EQ(missing("rotary", kAll.without(Capability::positions_table), kAll),
            "this needs position embeddings (wpe); \"rotary\" has none");
  EXPECT_EQ(missing("attn-only", kAll.without(Capability::mlp), Capability::weights | Capability::mlp),
            "this needs an MLP with neurons; \"attn-only\" has none");
  EXPECT_EQ(missing("bare", kAll.without(Capability::tokenizer), Capability::tokenizer),
            "this needs a tokenizer; \"bare\" has none");
  EXPECT_EQ(missing("mlps", kAll.without(Capability::patterns), Capability::patterns),
            "this needs attention patterns; \"mlps\" has no attention");
}

TEST(Capabilities, AGpt2HasThemAll) {
  EXPECT_EQ(testing::bundled()->capabilities(), kAll);
  EXPECT_NO_THROW(require(*testing::bundled(), kAll));
}

}  // namespace
}  // namespace headscope::app
