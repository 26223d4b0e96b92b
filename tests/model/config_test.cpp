#include "model/files/config.h"

#include <nlohmann/json.hpp>

#include "model/files/error.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/sentences.h"

namespace headscope::model::config_test {
namespace {

/// The published configuration of GPT-2 small, with these members of a JSON object instead.
Config parse(const std::string& overrides = "") {
  auto config = nlohmann::json::parse(
      gpt2_config({.layers = 12, .heads = 12, .width = 768, .positions = 1024, .vocabulary = 50257}));
  config.update(nlohmann::json::parse("{" + overrides + "}"));
  return parse_config(config.dump(), "config.json");
}

TEST(Config, ReadsThePublishedFile) {
  const Config config = parse();
  EXPECT_EQ(config.n_layer, 12);
  EXPECT_EQ(config.n_head, 12);
  EXPECT_EQ(config.n_embd, 768);
  EXPECT_EQ(config.d_head(), 64);
  EXPECT_EQ(config.n_ctx, 1024);
  EXPECT_EQ(config.vocab_size, 50257);
  EXPECT_EQ(config.n_inner, 3072);
  EXPECT_FLOAT_EQ(config.layer_norm_epsilon, 1e-5F);
  EXPECT_EQ(config.activation, Activation::gelu_new);
  EXPECT_TRUE(config.scale_attn_weights);
  EXPECT_FALSE(config.scale_attn_by_inverse_layer_idx);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.bos_token_id, 50256);
  EXPECT_EQ(config.eos_token_id, 50256);
  EXPECT_FLOAT_EQ(config.attention_scale(0), 0.125F);
  EXPECT_FLOAT_EQ(config.attention_scale(11), 0.125F);
}

TEST(Config, HonoursEverySettingOfTheComputation) {
  EXPECT_EQ(parse(R"("n_inner": 1000)").n_inner, 1000);
  EXPECT_EQ(parse(R"("n_inner": null)").n_inner, 3072);
  EXPECT_FLOAT_EQ(parse(R"("layer_norm_epsilon": 0.001)").layer_norm_epsilon, 1e-3F);
  EXPECT_FALSE(parse(R"("tie_word_embeddings": false)").tie_word_embeddings);
  EXPECT_FLOAT_EQ(parse(R"("scale_attn_weights": false)").attention_scale(3), 1.0F);
  EXPECT_FLOAT_EQ(parse(R"("scale_attn_by_inverse_layer_idx": true)").attention_scale(3), 0.125F / 4);
  EXPECT_EQ(parse(R"("bos_token_id": null)").bos_token_id, std::nullopt);
}

// The names of transformers' table but for prelu and xielu, which have weights of their own.
TEST(Config, KnowsTheNamesOfActivations) {
  EXPECT_EQ(parse(R"("activation_function": "gelu_pytorch_tanh")").activation, Activation::gelu_new);
  EXPECT_EQ(parse(R"("activation_function": "swish")").activation, Activation::silu);
  for (const Activation activation : testing::kActivations)
    EXPECT_EQ(activation_named(function_of(activation).name), activation);
}

TEST(Config, OldFilesHaveNeitherModelTypeNorPositions) {
  const Config config =
      parse_config(R"({"n_layer": 2, "n_head": 2, "n_embd": 8, "n_ctx": 16, "vocab_size": 10})", "c");
  EXPECT_EQ(config.n_ctx, 16);
  EXPECT_EQ(config.n_inner, 32);
  EXPECT_EQ(config.activation, Activation::gelu_new);
}

TEST(Config, UnknownAndNullKeysArePassedOver) {
  EXPECT_EQ(parse(R"("reorder_and_upcast_attn": true)").n_layer, 12);
  EXPECT_EQ(parse(R"("quantization_config": null)").n_layer, 12);
  EXPECT_EQ(parse(R"("pruned_heads": {})").n_layer, 12);
  EXPECT_EQ(parse(R"("add_cross_attention": false)").n_layer, 12);
}

TEST(Config, WrongValuesAreOneSentenceThatNamesTheKey) {
  for (const auto& [overrides, key] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"("model_type": "llama")", "model_type"},
           {R"("model_type": 3)", "model_type"},
           {R"("n_layer": null)", "n_layer"},
           {R"("n_layer": 0)", "n_layer"},
           {R"("n_layer": -1)", "n_layer"},
           {R"("n_layer": 2.5)", "n_layer"},
           {R"("n_layer": "12")", "n_layer"},
           {R"("n_layer": [12])", "n_layer"},
           {R"("n_head": 7)", "n_embd"},
           {R"("n_head": 16777217)", "n_head"},
           {R"("n_embd": 99999999999999999999)", "n_embd"},
           {R"("n_embd": 18446744073709551615)", "n_embd"},
           {R"("vocab_size": -9223372036854775808)", "vocab_size"},
           {R"("n_positions": true)", "n_positions"},
           {R"("n_inner": 0)", "n_inner"},
           {R"("layer_norm_epsilon": -1)", "layer_norm_epsilon"},
           {R"("layer_norm_epsilon": "small")", "layer_norm_epsilon"},
           {R"("activation_function": "prelu")", "activation_function"},
           {R"("activation_function": "\u001b[2Jevil")", "activation_function"},
           {R"("activation_function": 1)", "activation_function"},
           {R"("tie_word_embeddings": 1)", "tie_word_embeddings"},
           {R"("add_cross_attention": true)", "add_cross_attention"},
           {R"("pruned_heads": {"0": [1]})", "pruned_heads"},
           {R"("quantization_config": {"bits": 4})", "quantization_config"}}) {
    SCOPED_TRACE(overrides);
    const std::string message = message_of<LoadError>([&, text = overrides] { parse(text); });
    expect_load_sentence(message, "config.json", key);
  }
}

}  // namespace
}  // namespace headscope::model::config_test
