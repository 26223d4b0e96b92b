#include "model/pass/hooks.h"

#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::hooks_test {
namespace {

Config two_layers() {
  Config config;
  config.n_layer = 2;
  config.n_head = 3;
  config.n_embd = 12;
  config.n_inner = 48;
  config.vocab_size = 50;
  return config;
}

std::vector<std::string> names(const std::vector<HookPoint>& points) {
  std::vector<std::string> out;
  for (const HookPoint& point : points) out.push_back(hook_name(point));
  return out;
}

TEST(HookPoints, AreThoseOfTransformerLensInTheOrderOfThePass) {
  Config config = two_layers();
  config.n_layer = 1;
  EXPECT_THAT(
      names(all_hook_points(config)),
      ElementsAre("hook_embed", "hook_pos_embed", "blocks.0.hook_resid_pre", "blocks.0.ln1.hook_scale",
                  "blocks.0.ln1.hook_normalized", "blocks.0.attn.hook_q", "blocks.0.attn.hook_k",
                  "blocks.0.attn.hook_v", "blocks.0.attn.hook_attn_scores", "blocks.0.attn.hook_pattern",
                  "blocks.0.attn.hook_z", "blocks.0.attn.hook_result", "blocks.0.hook_attn_out",
                  "blocks.0.hook_resid_mid", "blocks.0.ln2.hook_scale", "blocks.0.ln2.hook_normalized",
                  "blocks.0.mlp.hook_pre", "blocks.0.mlp.hook_post", "blocks.0.hook_mlp_out",
                  "blocks.0.hook_resid_post", "ln_final.hook_scale", "ln_final.hook_normalized", "logits"));
  EXPECT_EQ(hook_name({Site::q, 11}), "blocks.11.attn.hook_q");
  EXPECT_EQ(all_hook_points(two_layers()).size(), 2 + 2 * 18 + 3);
}

TEST(HookPoints, AreMatchedByGlobs) {
  const Config config = two_layers();
  EXPECT_EQ(match_hook_points(config, "").size(), all_hook_points(config).size() - 2);
  EXPECT_EQ(match_hook_points(config, "*"), match_hook_points(config, ""));
  EXPECT_THAT(names(match_hook_points(config, "logits")), ElementsAre("logits"));
  EXPECT_THAT(names(match_hook_points(config, "logits, blocks.?.attn.hook_q")),
              ElementsAre("blocks.0.attn.hook_q", "blocks.1.attn.hook_q", "logits"));
  EXPECT_THAT(names(match_hook_points(config, "*pattern,blocks.1.*pattern")),
              ElementsAre("blocks.0.attn.hook_pattern", "blocks.1.attn.hook_pattern"));
  EXPECT_EQ(match_hook_points(config, "blocks.1.*").size(), 17U);
}

TEST(HookPoints, AGlobThatMatchesNothingIsAnError) {
  for (const char* globs : {"hook_pattern", "logits,blocks.2.*", "*.hook_result?", "\x1b[2J"}) {
    const std::string message =
        testing::message_of<RunError>([&] { match_hook_points(two_layers(), globs); });
    EXPECT_TRUE(testing::is_sentence(message)) << message;
  }
}

}  // namespace
}  // namespace headscope::model::hooks_test
