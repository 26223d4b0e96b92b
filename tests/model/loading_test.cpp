// Transformer::load on folders like those that are published, and on folders that are wrong.
#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "model/error.h"
#include "model/transformer.h"
#include "tests/model/golden.h"
#include "tests/model/tiny_model.h"
#include "tests/support/sentences.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::message_of;
using testing::random_floats;
using testing::RawTensor;
using testing::safetensors_bytes;
using testing::TemporaryFolder;
using testing::TinyModel;

constexpr int kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6};

std::vector<float> logits_of(const fs::path& folder, const LoadOptions& options = {}) {
  const auto transformer = Transformer::load(folder, options);
  Workspace workspace(1);
  return testing::all_logits(*transformer, *transformer->forward(kTokens, workspace), workspace);
}

std::vector<float> logits_of(const TinyModel& model) {
  const TemporaryFolder folder;
  model.write(folder);
  return logits_of(folder.path());
}

std::string error_of(const fs::path& folder, const LoadOptions& options = {}) {
  std::string message = message_of<LoadError>([&] { Transformer::load(folder, options); });
  EXPECT_TRUE(testing::is_sentence(message)) << message;
  return message;
}

std::string error_of(const TinyModel& model) {
  const TemporaryFolder folder;
  model.write(folder);
  return error_of(folder.path());
}

// --- what published folders hold
// ---------------------------------------------------------------------------------------

/// gpt2, gpt2-medium, gpt2-large, gpt2-xl: no prefix, no lm_head, each layer with its triangle of ones as
/// float32.
TinyModel like_gpt2() {
  TinyModel model = TinyModel::random();
  for (int layer = 0; layer < model.n_layer; ++layer) {
    const std::size_t cells = static_cast<std::size_t>(model.n_ctx) * static_cast<std::size_t>(model.n_ctx);
    model.tensors.push_back({"h." + std::to_string(layer) + ".attn.bias",
                             "F32",
                             {1, 1, model.n_ctx, model.n_ctx},
                             random_floats(cells, 99)});
  }
  return model;
}

/// distilgpt2 and files saved by later versions: prefix, lm_head.weight, buffers as bytes, truth values and
/// scalars.
TinyModel like_distilgpt2() {
  TinyModel model = TinyModel::random();
  model.add_prefix();
  const std::size_t cells = static_cast<std::size_t>(model.n_ctx) * static_cast<std::size_t>(model.n_ctx);
  for (int layer = 0; layer < model.n_layer; ++layer) {
    const std::string attn = "transformer.h." + std::to_string(layer) + ".attn.";
    model.tensors.push_back({attn + "bias",
                             layer == 0 ? "U8" : "BOOL",
                             {1, 1, model.n_ctx, model.n_ctx},
                             std::string(cells, '\1')});
    model.tensors.push_back({attn + "masked_bias", "F32", {}, random_floats(1, 1)});
  }
  model.tensors.push_back(
      {"lm_head.weight", "F32", {model.vocab, model.n_embd}, model["transformer.wte.weight"].bytes});
  return model;
}

TEST(Loading, PublishedLayoutsGiveTheSameModel) {
  const std::vector<float> expected = logits_of(TinyModel::random());
  EXPECT_EQ(logits_of(like_gpt2()), expected);
  EXPECT_EQ(logits_of(like_distilgpt2()), expected);
}

TEST(Loading, ExtraTensorsOfAnyTypeArePassedOver) {
  TinyModel model = TinyModel::random();
  const std::vector<float> expected = logits_of(model);
  model.tensors.push_back({"h.0.crossattention.bias", "I64", {1}, std::string(8, '\0')});
  model.tensors.push_back({"h.7.ln_1.weight", "F64", {2}, std::string(16, '\0')});
  model.tensors.push_back({"score.weight", "F8_E4M3", {3}, "abc"});
  EXPECT_EQ(logits_of(model), expected);
}

TEST(Loading, ATiedHeadIsTheEmbeddingWhateverTheFileHolds) {
  TinyModel model = TinyModel::random();
  const std::vector<float> expected = logits_of(model);
  model.tensors.push_back({"lm_head.weight", "F32", {20, 8}, random_floats(160, 77)});
  EXPECT_EQ(logits_of(model), expected);

  // Of the two names of one tensor, some writers keep the other.
  TinyModel only_head = TinyModel::random();
  only_head["wte.weight"].name = "lm_head.weight";
  EXPECT_EQ(logits_of(only_head), expected);
}

TEST(Loading, AnUntiedHeadIsItsOwn) {
  TinyModel model = TinyModel::random();
  const std::vector<float> tied = logits_of(model);
  model.more_config = R"("tie_word_embeddings": false)";
  model.tensors.push_back({"lm_head.weight", "F32", {20, 8}, model["wte.weight"].bytes});
  EXPECT_EQ(logits_of(model), tied);
  model["lm_head.weight"].bytes = random_floats(160, 77);
  EXPECT_NE(logits_of(model), tied);
  model.erase("lm_head.weight");
  EXPECT_THAT(error_of(model), HasSubstr("\"lm_head.weight\": expected shape [20, 8], found no such tensor"));
}

TEST(Loading, ShardsGiveTheSameModel) {
  const TinyModel model = TinyModel::random();
  const TemporaryFolder folder;
  folder.write("config.json", model.config_json());
  std::vector<RawTensor> shards[2];
  std::string map;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    shards[i % 2].push_back(model.tensors[i]);
    map += (map.empty() ? "\"" : ", \"") + model.tensors[i].name + "\": \"model-0000" +
           std::to_string(i % 2 + 1) + "-of-00002.safetensors\"";
  }
  folder.write("model-00001-of-00002.safetensors", safetensors_bytes(shards[0]));
  folder.write("model-00002-of-00002.safetensors", safetensors_bytes(shards[1]));
  const auto write_index = [&](const std::string& more) {
    folder.write("model.safetensors.index.json",
                 R"({"metadata": {"total_size": 1}, "weight_map": {)" + map + more + "}}");
  };
  write_index("");
  EXPECT_EQ(logits_of(folder.path()), logits_of(model));

  write_index(R"(, "extra": "model-00001-of-00002.safetensors")");
  EXPECT_THAT(error_of(folder.path()),
              HasSubstr("model-00001-of-00002.safetensors: expected tensor \"extra\""));
  write_index(R"(, "extra": "model-00003-of-00002.safetensors")");
  EXPECT_THAT(error_of(folder.path()), HasSubstr("model-00003-of-00002.safetensors"));
  for (const char* name :
       {R"("../other.safetensors")", R"("/etc/passwd")", R"("")", R"("..")", "3", R"("a\u0000b")"}) {
    write_index(R"(, "extra": )" + std::string(name));
    EXPECT_THAT(error_of(folder.path()), HasSubstr("expected the name of a file in the same folder")) << name;
  }
  for (const char* text : {"{}", "[]", R"({"weight_map": []})", "{", R"({"weight_map": null})"}) {
    folder.write("model.safetensors.index.json", text);
    EXPECT_THAT(error_of(folder.path()), HasSubstr("model.safetensors.index.json"));
  }
}

TEST(Loading, UnalignedTensorsAreCopied) {
  TinyModel model = TinyModel::random();
  const std::vector<float> expected = logits_of(model);
  for (std::size_t bytes = 1; bytes < 8; ++bytes) {
    TinyModel shifted = model;
    shifted.tensors.insert(shifted.tensors.begin(),
                           {"padding", "U8", {static_cast<std::int64_t>(bytes)}, std::string(bytes, 'x')});
    EXPECT_EQ(logits_of(shifted), expected) << bytes;
  }
}

TEST(Loading, TheTableOfParametersIsInTheModelsOrder) {
  TinyModel model = like_distilgpt2();
  const TemporaryFolder folder;
  model.write(folder);
  const auto transformer = Transformer::load(folder.path());
  const std::vector<Parameter>& table = transformer->parameters();
  ASSERT_EQ(table.size(), 28U);
  EXPECT_EQ(table[0].name, "wte.weight");
  EXPECT_EQ(table[1].name, "wpe.weight");
  EXPECT_EQ(table[4].name, "h.0.attn.c_attn.weight");
  EXPECT_EQ(table[4].shape, (std::vector<std::int64_t>{8, 24}));
  EXPECT_EQ(table[4].dtype, "F32");
  EXPECT_EQ(table.back().name, "ln_f.bias");
  EXPECT_EQ(transformer->parameter_count(), 20 * 8 + 16 * 8 + 2 * (12 * 64 + 13 * 8) + 16);
  EXPECT_EQ(transformer->position_embedding().size(), 16U * 8U);
  EXPECT_EQ(std::memcmp(transformer->position_embedding().data(),
                        model["transformer.wpe.weight"].bytes.data(), 512),
            0);
}

// --- 16 bits
// -----------------------------------------------------------------------------------------------------------

TEST(Loading, AFileOf16BitsIsTheSameModelWhetherItIsWidenedOrKept) {
  for (const auto& [golden, precision] : {std::pair{"tied_copy", Precision::f16},
                                          {"inverse_layer", Precision::bf16},
                                          {"wide", Precision::f16}}) {
    LoadOptions kept;
    kept.precision = precision;
    const fs::path folder = testing::golden_folder(golden);
    const std::vector<float> a = logits_of(folder), b = logits_of(folder, kept);
    EXPECT_LT(testing::largest_difference(a, b), 1e-4) << golden;
    EXPECT_EQ(Transformer::load(folder, kept)->precision(), precision);
  }
}

TEST(Loading, NumbersThatFloat16CannotHoldAreAnError) {
  TinyModel model = TinyModel::random();
  const float large = 65519.0F, too_large = 65520.0F;
  LoadOptions options;
  options.precision = Precision::f16;
  const TemporaryFolder folder;
  std::memcpy(model["h.1.mlp.c_fc.weight"].bytes.data() + 40, &large, sizeof(large));
  model.write(folder);
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));
  std::memcpy(model["h.1.mlp.c_fc.weight"].bytes.data() + 40, &too_large, sizeof(too_large));
  model.write(folder);
  EXPECT_THAT(error_of(folder.path(), options),
              HasSubstr("\"h.1.mlp.c_fc.weight\": expected numbers that fit float16"));
  options.precision = Precision::bf16;
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));
}

// --- what is wrong is named
// --------------------------------------------------------------------------------------------

TEST(Loading, EveryMissingTensorIsNamed) {
  const TinyModel whole = TinyModel::random();
  for (const RawTensor& tensor : whole.tensors) {
    TinyModel model = whole;
    model.erase(tensor.name);
    const std::string message = error_of(model);
    EXPECT_THAT(message, HasSubstr("model.safetensors"));
    EXPECT_THAT(message, HasSubstr('"' + tensor.name + "\": expected shape"));
    EXPECT_THAT(message, HasSubstr("found no such tensor"));
  }
}

TEST(Loading, EveryMisshapenTensorIsNamed) {
  const TinyModel whole = TinyModel::random();
  for (const RawTensor& tensor : whole.tensors) {
    TinyModel model = whole;
    RawTensor& wrong = model[tensor.name];
    wrong.shape.back() += 1;
    std::size_t bytes = 4;
    for (const std::int64_t extent : wrong.shape) bytes *= static_cast<std::size_t>(extent);
    wrong.bytes.resize(bytes);
    EXPECT_THAT(error_of(model), HasSubstr('"' + tensor.name + "\": expected shape ["));
  }
}

TEST(Loading, TransposedAndWronglyTypedTensorsAreNamed) {
  TinyModel model = TinyModel::random();
  model["h.1.attn.c_attn.weight"].shape = {24, 8};  // as torch.nn.Linear has it
  EXPECT_THAT(error_of(model), HasSubstr("expected shape [8, 24], found [24, 8]"));

  model = TinyModel::random();
  model["h.0.ln_1.bias"] = {"h.0.ln_1.bias", "F64", {8}, std::string(64, '\0')};
  EXPECT_THAT(error_of(model),
              HasSubstr("\"h.0.ln_1.bias\": expected dtype F32, F16 or BF16, found \"F64\""));
  model["h.0.ln_1.bias"] = {"h.0.ln_1.bias", "I8", {8}, std::string(8, '\0')};
  EXPECT_THAT(error_of(model), HasSubstr("found \"I8\""));
}

TEST(Loading, AVocabularyOrContextThatDoesNotFitIsNamed) {
  TinyModel model = TinyModel::random();
  model.vocab = 21;
  EXPECT_THAT(error_of(model), HasSubstr("\"wte.weight\": expected shape [21, 8], found [20, 8]"));
  model = TinyModel::random();
  model.n_ctx = 17;
  EXPECT_THAT(error_of(model), HasSubstr("\"wpe.weight\": expected shape [17, 8], found [16, 8]"));
}

TEST(Loading, FoldersThatAreNoModelsSayWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of(folder.path() / "nowhere"), HasSubstr("found nothing"));
  const fs::path file = folder.write("file", "x");
  EXPECT_THAT(error_of(file), HasSubstr("found a file"));
  EXPECT_THAT(error_of(folder.path()), HasSubstr("found no config.json"));

  folder.write("config.json", TinyModel().config_json());
  EXPECT_THAT(error_of(folder.path()), HasSubstr("expected model.safetensors, found none"));
  folder.write("pytorch_model.bin", "x");
  const std::string convert = error_of(folder.path());
  EXPECT_THAT(convert, HasSubstr("found only pytorch_model.bin; convert it"));
  EXPECT_THAT(convert, HasSubstr("save_pretrained"));
  folder.write("config.json", "no JSON");
  EXPECT_THAT(error_of(folder.path()), HasSubstr("config.json"));
}

TEST(Loading, CanBeStoppedAndTellsItsProgress) {
  const TemporaryFolder folder;
  TinyModel::random().write(folder);
  LoadOptions options;
  std::vector<double> fractions;
  options.progress = [&](double fraction, const char*) { fractions.push_back(fraction); };
  Transformer::load(folder.path(), options);
  ASSERT_EQ(fractions.size(), 28U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1.0);

  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](double fraction, const char*) {
    if (fraction > 0.5) source.request_stop();
  };
  EXPECT_THROW(Transformer::load(folder.path(), options), Stopped);
}

TEST(Loading, WorkspacesAreMadeWithTheThreadsAskedFor) {
  EXPECT_EQ(Workspace(3).threads(), 3);
  EXPECT_GE(Workspace().threads(), 1);
}

}  // namespace
}  // namespace headscope::model
