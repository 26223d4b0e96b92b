// What becomes of the tensors of a folder; load_test.cpp has the folders as published and those that are
// wrong.
#include "model/weights.h"

#include <gmock/gmock.h>

#include <cstring>

#include "model/error.h"
#include "tests/model/golden.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace headscope::model {
namespace {

using testing::gpt2_config;
using testing::gpt2_tensors;
using testing::Gpt2Shape;
using ::testing::HasSubstr;
using testing::random_tensor;
using testing::RawTensor;
using testing::TemporaryFolder;

constexpr int kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6};

std::vector<float> logits_of(const std::filesystem::path& folder, const LoadOptions& options = {}) {
  const auto transformer = Transformer::load(folder, options);
  Workspace workspace(1);
  return testing::all_logits(*transformer, *transformer->forward(kTokens, workspace), workspace);
}

std::vector<float> logits_of(const std::vector<RawTensor>& tensors) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), tensors);
  return logits_of(folder.path());
}

RawTensor& find(std::vector<RawTensor>& tensors, const std::string& name) {
  for (RawTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::out_of_range(name);
}

TEST(Weights, ExtraTensorsOfAnyTypeChangeNothing) {
  std::vector<RawTensor> tensors = gpt2_tensors({});
  const std::vector<float> expected = logits_of(tensors);
  tensors.push_back({"h.0.attn.bias", "BOOL", {1, 1, 16, 16}, std::string(256, '\1')});
  tensors.push_back({"h.0.attn.masked_bias", "F32", {}, std::string(4, '\0')});
  tensors.push_back({"h.0.crossattention.bias", "I64", {1}, std::string(8, '\0')});
  tensors.push_back({"h.7.ln_1.weight", "F64", {2}, std::string(16, '\0')});
  tensors.push_back({"score.weight", "F8_E4M3", {3}, "abc"});
  EXPECT_EQ(logits_of(tensors), expected);
}

// Of the two names of one tied matrix, some writers keep that of the head.
TEST(Weights, ATiedMatrixMayStandUnderTheNameOfTheHeadAlone) {
  std::vector<RawTensor> tensors = gpt2_tensors({});
  const std::vector<float> expected = logits_of(tensors);
  find(tensors, "wte.weight").name = "lm_head.weight";
  EXPECT_EQ(logits_of(tensors), expected);
}

TEST(Weights, AreUsedInPlaceWhereTheyAreAlignedAndCopiedWhereNot) {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<RawTensor> tensors = gpt2_tensors({});
    if (shift > 0) {
      tensors.insert(tensors.begin(),
                     {"odd", "U8", {static_cast<std::int64_t>(shift)}, std::string(shift, 'x')});
    }
    const TemporaryFolder folder;
    write_gpt2(folder, gpt2_config({}), tensors);
    const Weights weights = load_weights(folder.path(), {});
    // The header is padded or not; what counts is where the data lies. One owner is the file, any others are
    // copies.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weights.wte.data) % alignof(float), 0U);
    const std::string& bytes = find(tensors, "wte.weight").bytes;
    EXPECT_EQ(std::memcmp(weights.wte.data, bytes.data(), bytes.size()), 0);
    const auto copies = weights.memory.size() - 1;
    EXPECT_TRUE(copies == 0 || copies == weights.parameters.size()) << copies;
  }
}

TEST(Weights, TheTableOfParametersIsInTheModelsOrder) {
  std::vector<RawTensor> tensors = gpt2_tensors({}, "BF16");
  std::reverse(tensors.begin(), tensors.end());
  for (RawTensor& tensor : tensors) tensor.name = "transformer." + tensor.name;
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), tensors);
  const auto transformer = Transformer::load(folder.path());
  const std::vector<Parameter>& table = transformer->parameters();
  ASSERT_EQ(table.size(), 28U);
  EXPECT_EQ(table[0].name, "wte.weight");
  EXPECT_EQ(table[1].name, "wpe.weight");
  EXPECT_EQ(table[4].name, "h.0.attn.c_attn.weight");
  EXPECT_EQ(table[4].shape, (std::vector<std::int64_t>{8, 24}));
  EXPECT_EQ(table[4].dtype, "BF16");
  EXPECT_EQ(table.back().name, "ln_f.bias");
  EXPECT_EQ(transformer->position_embedding().size(), 16U * 8U);
}

TEST(Weights, AFileOf16BitsIsTheSameModelWhetherItIsWidenedOrKept) {
  for (const auto& [golden, precision] : {std::pair{"tied_copy", Precision::f16},
                                          {"inverse_layer", Precision::bf16},
                                          {"wide", Precision::f16}}) {
    LoadOptions kept;
    kept.precision = precision;
    const std::filesystem::path folder = testing::golden_folder(golden);
    EXPECT_LT(testing::largest_difference(logits_of(folder), logits_of(folder, kept)), 1e-4) << golden;
    EXPECT_EQ(Transformer::load(folder, kept)->precision(), precision);
  }
}

TEST(Weights, NumbersThatFloat16CannotHoldAreAnError) {
  const float large = 65519.0F, too_large = 65520.0F;
  const std::string name = "h.1.mlp.c_fc.weight";
  std::vector<RawTensor> tensors = gpt2_tensors({});
  LoadOptions options;
  options.precision = Precision::f16;
  const TemporaryFolder folder;
  std::memcpy(find(tensors, name).bytes.data() + 40, &large, sizeof(large));
  write_gpt2(folder, gpt2_config({}), tensors);
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));

  std::memcpy(find(tensors, name).bytes.data() + 40, &too_large, sizeof(too_large));
  write_gpt2(folder, gpt2_config({}), tensors);
  const std::string message =
      testing::message_of<LoadError>([&] { Transformer::load(folder.path(), options); });
  testing::expect_load_sentence(message, "model.safetensors", "\"" + name + "\"");
  EXPECT_THAT(message, HasSubstr("fit float16"));
  options.precision = Precision::bf16;
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));
}

TEST(Workspace, HasTheThreadsAskedFor) {
  EXPECT_EQ(Workspace(3).threads(), 3);
  EXPECT_GE(Workspace().threads(), 1);
}

}  // namespace
}  // namespace headscope::model
