// Model folders as published, and invalid ones.

#include <algorithm>
#include <cmath>

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::load_test {
namespace {

namespace fs = std::filesystem;
using namespace headscope::testing;

using Tensors = std::vector<RawTensor>;

std::vector<float> logits_of(const Transformer& transformer) {
  Workspace workspace(1);
  const std::vector<int> tokens = {7, 0, 5, 11, 5};
  const std::shared_ptr<const Run> run = transformer.forward(tokens, workspace);
  std::vector<float> logits(tokens.size() * static_cast<std::size_t>(transformer.config().vocab_size));
  transformer.logits(*run, 0, static_cast<int>(tokens.size()), workspace, logits);
  return logits;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

/// The causal mask in published checkpoints, in one of the types used over the years.
RawTensor mask_buffer(int layer, const std::string& dtype, int positions) {
  const std::size_t bytes = dtype == "F32" ? 4 : dtype == "F16" ? 2 : 1;
  const auto n = static_cast<std::size_t>(positions);
  return {"h." + std::to_string(layer) + ".attn.bias",
          dtype,
          {1, 1, positions, positions},
          std::string(n * n * bytes, '\0')};
}

// --- As published ---

struct PublishedFolder {
  const char* name;
  int layers;
  int heads;
  const char* prefix;  // prefix of the tensors' names
  const char* mask;    // type of the attn.bias buffers
  const char* more;    // members of its config.json that others lack
  bool masked_bias;    // every layer has a scalar of that name
  bool head;           // lm_head.weight is in the file although it is tied
};

void PrintTo(const PublishedFolder& test, std::ostream* out) {
  *out << test.name;
}

class PublishedCheckpoint : public ::testing::TestWithParam<PublishedFolder> {};

TEST_P(PublishedCheckpoint, Loads) {
  const PublishedFolder& published = GetParam();
  const Gpt2Shape shape{.layers = published.layers, .heads = published.heads, .width = 2 * published.heads};
  Tensors tensors = gpt2_tensors(shape);
  const RawTensor wte = tensors[0];
  for (int layer = 0; layer < shape.layers; ++layer) {
    tensors.push_back(mask_buffer(layer, published.mask, shape.positions));
    if (published.masked_bias) {
      tensors.push_back(
          {"h." + std::to_string(layer) + ".attn.masked_bias", "F32", {}, std::string("\0\x40\x1c\xc6", 4)});
    }
  }
  for (RawTensor& tensor : tensors) tensor.name = published.prefix + tensor.name;
  if (published.head) {
    tensors.push_back(wte);
    tensors.back().name = "lm_head.weight";
  }
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config(shape, published.more), tensors);

  const std::shared_ptr<const Transformer> transformer = Transformer::load(folder.path());
  const Config& config = transformer->config();
  EXPECT_EQ(config.n_layer, published.layers);
  EXPECT_EQ(config.n_head, published.heads);
  EXPECT_EQ(config.n_ctx, shape.positions);
  EXPECT_EQ(config.vocab_size, shape.vocabulary);
  EXPECT_EQ(config.n_inner, 4 * shape.width);
  EXPECT_EQ(config.activation, Activation::gelu_new);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.bos_token_id, shape.vocabulary - 1);

  // 12 d^2 + 13 d per block, the embeddings, and the last norm; the buffers are not parameters.
  const std::int64_t d = shape.width;
  EXPECT_EQ(transformer->parameter_count(),
            shape.layers * (12 * d * d + 13 * d) + (shape.vocabulary + shape.positions) * d + 2 * d);
  EXPECT_EQ(transformer->parameters().front().name, "wte.weight");
  EXPECT_EQ(transformer->parameters().front().dtype, "F32");
  EXPECT_TRUE(all_finite(logits_of(*transformer)));
}

INSTANTIATE_TEST_SUITE_P(
    Names, PublishedCheckpoint,
    ::testing::Values(
        PublishedFolder{"gpt2", 12, 12, "", "F32", "", false, false},
        PublishedFolder{"gpt2_medium", 24, 16, "", "F32", R"(,"n_special":0,"predict_special_tokens":true)",
                        false, false},
        PublishedFolder{"gpt2_large", 36, 20, "", "F32", R"(,"n_special":0,"predict_special_tokens":true)",
                        false, false},
        PublishedFolder{"gpt2_xl", 48, 25, "", "F32",
                        R"(,"n_special":0,"output_past":true,"predict_special_tokens":true)", false, false},
        PublishedFolder{"distilgpt2", 6, 12, "transformer.", "F32",
                        R"(,"_num_labels":1,"id2label":{"0":"LABEL_0"},"label2id":{"LABEL_0":0})", false,
                        false},
        PublishedFolder{
            "saved_in_2021", 2, 2, "transformer.", "U8",
            R"(,"gradient_checkpointing":false,"n_inner":null,"scale_attn_weights":true,"use_cache":true)",
            true, true},
        PublishedFolder{
            "saved_in_2023", 2, 2, "transformer.", "BOOL",
            R"(,"reorder_and_upcast_attn":false,"scale_attn_by_inverse_layer_idx":false,"torch_dtype":"float32")",
            true, false},
        PublishedFolder{"saved_by_nobody_yet", 2, 2, "", "Q3_K_M",
                        R"(,"rope_scaling":null,"dtype":"float64")", false, true}),
    [](const auto& test) { return std::string(test.param.name); });

// --- The same weights in every form ---

/// Writes model.safetensors.index.json and three shards instead of one file.
void write_shards(const TemporaryFolder& folder, const std::string& config, const Tensors& tensors) {
  folder.write("config.json", config);
  std::vector<Tensors> shards(3);
  std::string map;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    shards[i % 3].push_back(tensors[i]);
    map += (i > 0 ? ",\"" : "\"") + tensors[i].name + "\":\"model-0000" + std::to_string(i % 3 + 1) +
           "-of-00003.safetensors\"";
  }
  for (std::size_t i = 0; i < 3; ++i) {
    folder.write("model-0000" + std::to_string(i + 1) + "-of-00003.safetensors",
                 safetensors_bytes(shards[i]));
  }
  folder.write("model.safetensors.index.json", R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
}

TEST(Load, TellsItsProgressAndStopsWhenAsked) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), gpt2_tensors({}));
  std::vector<double> fractions;
  LoadOptions options;
  options.progress = [&](double fraction, const char*) { fractions.push_back(fraction); };
  Transformer::load(folder.path(), options);
  ASSERT_FALSE(fractions.empty());
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GE(fractions.front(), 0);
  EXPECT_EQ(fractions.back(), 1);

  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](double fraction, const char*) {
    if (fraction > 0.3) stop.request_stop();
  };
  EXPECT_THROW(Transformer::load(folder.path(), options), Stopped);
}

// --- Invalid ---

std::string load_message(const fs::path& folder) {
  return message_of<LoadError>([&] { Transformer::load(folder); });
}

std::string load_message(const std::string& config, const Tensors& tensors) {
  const TemporaryFolder folder;
  write_gpt2(folder, config, tensors);
  return load_message(folder.path());
}

TEST(BadModel, EveryTensorIsMissed) {
  const Tensors whole = gpt2_tensors({});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].name.ends_with(".bias")) continue;  // which counts as zeros
    Tensors tensors = whole;
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    expect_load_sentence(load_message(gpt2_config({}), tensors), "model.safetensors", whole[i].name);
  }
}

TEST(BadModel, EveryShapeIsChecked) {
  const Tensors whole = gpt2_tensors({});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Tensors tensors = whole;
    tensors[i].shape.insert(tensors[i].shape.begin(), 1);
    expect_load_sentence(load_message(gpt2_config({}), tensors), "model.safetensors",
                         "\"" + whole[i].name + "\"");
  }
}

TEST(BadModel, SizesMustFitTheConfiguration) {
  const Tensors tensors = gpt2_tensors({});
  expect_load_sentence(load_message(gpt2_config({.width = 16}), tensors), "model.safetensors", "[300, 16]");
  expect_load_sentence(load_message(gpt2_config({}, R"(,"n_inner":12)"), tensors), "model.safetensors",
                       "[8, 12]");
}

TEST(BadModel, AFolderThatIsNoneSaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(load_message(folder.path()), HasSubstr("config.json"));
  EXPECT_THAT(load_message(folder.path() / "no such folder"), HasSubstr("no such folder"));
  EXPECT_THAT(load_message("/dev/null"), HasSubstr("/dev/null"));
  folder.write("config.json", gpt2_config({}));
  expect_load_sentence(load_message(folder.path()), folder.path().string(), "model.safetensors");
  folder.write("config.json", std::string(2 << 20, ' '));
  EXPECT_THAT(load_message(folder.path()), HasSubstr("at most 1048576 bytes, found 2097152"));
  folder.write("config.json", gpt2_config({}));
  fs::create_directory(folder.path() / "model.safetensors");
  expect_load_sentence(load_message(folder.path()), "model.safetensors", "a directory");
}

TEST(BadModel, ADamagedIndexIsRefused) {
  const TemporaryFolder folder;
  write_shards(folder, gpt2_config({}), gpt2_tensors({}));
  const std::string name = "model.safetensors.index.json";
  const std::string index = testing::bytes_of_file(folder.path() / name);
  const auto message_with = [&](const std::string& from, const std::string& to) {
    std::string text = index;
    folder.write(name, text.replace(text.find(from), from.size(), to));
    return load_message(folder.path());
  };
  const std::string shard = "model-00001-of-00003.safetensors";
  expect_load_sentence(message_with(index, ""), name, "JSON");
  expect_load_sentence(message_with(index, "[]"), name, "weight_map");
  expect_load_sentence(message_with("weight_map", "weights"), name, "weight_map");
  expect_load_sentence(message_with("\"" + shard + "\"", "7"), name, "\"wte.weight\"");
  expect_load_sentence(message_with("\"" + shard + "\"", "null"), name, "\"wte.weight\"");
  expect_load_sentence(message_with(shard, "../" + shard), name, "same folder");
  expect_load_sentence(message_with(shard, "/etc/passwd"), name, "same folder");
  expect_load_sentence(message_with(shard,
                                    "x\xc2\x9b"
                                    "31m"),
                       name, "\"x\\xc2\\x9b31m\"");
  EXPECT_THAT(message_with(shard, "lost.safetensors"), HasSubstr("lost.safetensors"));

  folder.write(name, index);
  const std::string bytes = testing::bytes_of_file(folder.path() / shard);
  folder.write(shard, bytes.substr(0, bytes.size() - 1));
  expect_load_sentence(load_message(folder.path()), shard, "truncated");
}

}  // namespace
}  // namespace headscope::model::load_test
