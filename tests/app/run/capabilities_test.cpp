#include "app/run/prompt_run.h"

#include "tests/app/view_fixture.h"

namespace headscope::app::capabilities_test {
namespace {

constexpr Capability kAll = Capability::patterns | Capability::weights | Capability::positions_table |
                            Capability::mlp | Capability::tokenizer;

TEST(Capabilities, WhatIsMissingIsOneSentenceThatNamesTheModel) {
  EXPECT_EQ(missing("gpt2", kAll, kAll), "");
  EXPECT_EQ(missing("a.safetensors", Capability::patterns, Capability::patterns), "");
  EXPECT_EQ(missing("a.safetensors", Capability::patterns, kAll),
            "this needs a model's weights; \"a.safetensors\" holds only attention patterns");
  EXPECT_EQ(missing("rotary", kAll - Capability::positions_table, kAll),
            "this needs position embeddings (wpe); \"rotary\" has none");
  EXPECT_EQ(missing("attn-only", kAll - Capability::mlp, Capability::weights | Capability::mlp),
            "this needs an MLP with neurons; \"attn-only\" has none");
  EXPECT_EQ(missing("bare", kAll - Capability::tokenizer, Capability::tokenizer),
            "this needs a tokenizer; \"bare\" has none");
  EXPECT_EQ(missing("mlps", kAll - Capability::patterns, Capability::patterns),
            "this needs attention patterns; \"mlps\" has no attention");
}

}  // namespace
}  // namespace headscope::app::capabilities_test
