// How the tensors of a folder are loaded; load_test.cpp tests published and invalid folders.
#include "model/files/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/files/error.h"
#include "tests/model/golden.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model {
namespace {

using namespace headscope::testing;

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

// For a tied matrix, some writers keep only the head's name.
TEST(Weights, ATiedMatrixMayStandUnderTheNameOfTheHeadAlone) {
  std::vector<RawTensor> tensors = gpt2_tensors({});
  const std::vector<float> expected = logits_of(tensors);
  find(tensors, "wte.weight").name = "lm_head.weight";
  EXPECT_EQ(logits_of(tensors), expected);
}

/// Without tying, neither matrix can replace the other.
TEST(Weights, AnUntiedModelNeedsBoth) {
  for (const auto& [only, missing] :
       {std::pair{"lm_head.weight", "wte.weight"}, {"wte.weight", "lm_head.weight"}}) {
    std::vector<RawTensor> tensors = gpt2_tensors({});
    find(tensors, "wte.weight").name = only;
    const TemporaryFolder folder;
    write_gpt2(folder, gpt2_config({}, R"(,"tie_word_embeddings":false)"), tensors);
    const std::string message = testing::message_of<LoadError>([&] { load_weights(folder.path(), {}); });
    EXPECT_THAT(message, HasSubstr(missing));
    EXPECT_TRUE(testing::is_sentence(message)) << message;
  }
}

/// Everything created from the files, including biases and gains: one arena in a fixed order.
std::vector<std::byte> bytes_of(const Weights& weights) {
  const auto* first = static_cast<const std::byte*>(weights.wte.data);  // the first piece
  return {first, first + weights.memory->size()};
}

TEST(Weights, AreTheSameWhereverTheFileHasThem) {
  for (const std::string dtype : {"F32", "F16", "BF16"}) {
    for (const Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) {
      LoadOptions options;
      options.precision = precision;
      std::vector<std::byte> expected_bytes;
      std::vector<float> expected_logits;
      for (std::size_t shift = 0; shift < 8; ++shift) {
        std::vector<RawTensor> tensors = gpt2_tensors({}, dtype);
        // With and without padding of the header; some of eight offsets are multiples of the element size.
        const std::string odd(shift, 'x');
        tensors.insert(tensors.begin(), {"odd", "U8", {static_cast<std::int64_t>(shift)}, odd});
        const TemporaryFolder folder;
        write_gpt2(folder, gpt2_config({}), tensors);
        const std::vector<std::byte> bytes = bytes_of(load_weights(folder.path(), options));
        const std::vector<float> logits = logits_of(folder.path(), options);
        if (shift == 0) {
          expected_bytes = bytes;
          expected_logits = logits;
        }
        EXPECT_EQ(bytes, expected_bytes) << dtype << ", shift " << shift;
        EXPECT_EQ(logits, expected_logits) << dtype << ", shift " << shift;
      }
    }
  }
}

TEST(Weights, AreThoseOfTheFile) {
  std::vector<RawTensor> tensors = gpt2_tensors({});
  tensors.push_back(random_tensor("lm_head.weight", "F32", {300, 8}, 77));
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}, R"(,"tie_word_embeddings":false)"), tensors);
  const auto number = [&](const std::string& name, std::size_t i) {
    float value = 0;
    std::memcpy(&value, find(tensors, name).bytes.data() + i * sizeof(float), sizeof(float));
    return value;
  };
  // All numbers are exact in every precision.
  for (const Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) {
    LoadOptions options;
    options.precision = precision;
    const Weights weights = load_weights(folder.path(), options);
    const auto expect_matrix = [&](const PanelMatrix& m, const std::string& name, int depth, int cols,
                                   bool transposed) {
      ASSERT_EQ(m.depth, depth) << name;
      ASSERT_EQ(m.cols, cols) << name;
      std::vector<float> column(depth);
      for (int col = 0; col < cols; ++col) {
        m.column(fastest_kernels(), col, column);
        for (int row = 0; row < depth; ++row) {
          const int index = transposed ? col * depth + row : row * cols + col;
          ASSERT_EQ(column[row], number(name, static_cast<std::size_t>(index))) << name;
        }
      }
    };
    const auto expect_floats = [&](std::span<const float> values, const std::string& name, std::size_t size) {
      ASSERT_EQ(values.size(), size) << name;
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(values[i], number(name, i)) << name;
    };
    expect_matrix(weights.wte, "wte.weight", 8, 300, true);
    expect_matrix(weights.lm_head, "lm_head.weight", 8, 300, true);
    expect_floats(weights.wpe, "wpe.weight", 16 * 8);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const std::string h = "h." + std::to_string(layer) + ".";
      const BlockWeights& block = weights.h.at(layer);
      expect_floats(block.ln_1.gain, h + "ln_1.weight", 8);
      expect_floats(block.ln_1.bias, h + "ln_1.bias", 8);
      expect_matrix(block.attn_c_attn.weight, h + "attn.c_attn.weight", 8, 24, false);
      expect_floats(block.attn_c_attn.bias, h + "attn.c_attn.bias", 24);
      expect_matrix(block.attn_c_proj.weight, h + "attn.c_proj.weight", 8, 8, false);
      expect_floats(block.attn_c_proj.bias, h + "attn.c_proj.bias", 8);
      expect_floats(block.ln_2.gain, h + "ln_2.weight", 8);
      expect_floats(block.ln_2.bias, h + "ln_2.bias", 8);
      expect_matrix(block.mlp_c_fc.weight, h + "mlp.c_fc.weight", 8, 32, false);
      expect_floats(block.mlp_c_fc.bias, h + "mlp.c_fc.bias", 32);
      expect_matrix(block.mlp_c_proj.weight, h + "mlp.c_proj.weight", 32, 8, false);
      expect_floats(block.mlp_c_proj.bias, h + "mlp.c_proj.bias", 8);
    }
    expect_floats(weights.ln_f.gain, "ln_f.weight", 8);
    expect_floats(weights.ln_f.bias, "ln_f.bias", 8);
  }
}

TEST(Weights, TiedMatricesAreKeptOnce) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), gpt2_tensors({}));
  const Weights weights = load_weights(folder.path(), {});
  EXPECT_EQ(weights.lm_head.data, weights.wte.data);
}

// Files are closed, so later changes to them do not matter. A mapped file would end this program.
TEST(Weights, OutliveTheirFile) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), gpt2_tensors({}));
  const std::vector<float> expected = logits_of(folder.path());
  const std::filesystem::path file = folder.path() / "model.safetensors";
  for (const bool truncated : {true, false}) {
    write_gpt2(folder, gpt2_config({}), gpt2_tensors({}));
    const auto transformer = Transformer::load(folder.path());
    if (truncated) {
      std::filesystem::resize_file(file, 0);
    } else {
      std::filesystem::remove(file);
    }
    Workspace workspace(1);
    const auto run = transformer->forward(kTokens, workspace);
    EXPECT_EQ(testing::all_logits(*transformer, *run, workspace), expected);
    EXPECT_EQ(transformer->position_embedding().size(), 16U * 8U);
  }
}

// For matrices stored transposed or not, and for rows longer than a panel.
TEST(Weights, GiveTheSameLogitsInAnyWidth) {
  const Gpt2Shape shape{.heads = 3, .width = 132, .vocabulary = 131};
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  LoadOptions options;
  const std::vector<float> expected = logits_of(folder.path(), options);
  // All numbers are exact in every precision.
  for (const Precision precision : {Precision::f16, Precision::bf16}) {
    options.precision = precision;
    EXPECT_EQ(logits_of(folder.path(), options), expected);
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

TEST(Weights, RowsOfEveryParameterAreThoseOfTheFile) {
  // All numbers are exact in every precision; rows are longer than a panel.
  const Gpt2Shape shape{.heads = 3, .width = 132, .vocabulary = 131};
  const TemporaryFolder folder;
  const std::vector<RawTensor> tensors = gpt2_tensors(shape);
  write_gpt2(folder, gpt2_config(shape), tensors);
  for (const Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) {
    LoadOptions options;
    options.precision = precision;
    const auto transformer = Transformer::load(folder.path(), options);
    for (std::size_t i = 0; i < transformer->parameters().size(); ++i) {
      const Parameter& parameter = transformer->parameters()[i];
      SCOPED_TRACE(parameter.name);
      const auto tensor = std::ranges::find(tensors, parameter.name, &RawTensor::name);
      ASSERT_NE(tensor, tensors.end());
      std::vector<float> expected(tensor->bytes.size() / sizeof(float));
      std::memcpy(expected.data(), tensor->bytes.data(), tensor->bytes.size());
      const auto cols = static_cast<std::size_t>(parameter.shape.back());
      const int rows = static_cast<int>(expected.size() / cols);
      for (const auto& [first, count] : {std::pair{0, rows}, {rows - 1, 1}, {rows / 2, rows - rows / 2}}) {
        std::vector<float> values(static_cast<std::size_t>(count) * cols, -1.F);
        transformer->parameter_rows(i, first, count, values);
        const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first) * std::ssize(expected) / rows;
        EXPECT_TRUE(std::equal(values.begin(), values.end(), from)) << "rows from " << first;
      }
    }
  }
}

TEST(Weights, EmbeddingsAreComparedWithAVector) {
  const Gpt2Shape shape{.heads = 3, .width = 132, .vocabulary = 131};
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    LoadOptions options;
    options.precision = precision;
    const auto transformer = Transformer::load(folder.path(), options);
    std::vector<float> wte(131 * 132), dots(131), norms(131);
    transformer->parameter_rows(0, 0, 131, wte);
    const std::span<const float> vector = std::span(wte).subspan(7 * 132, 132);
    Workspace workspace(2);
    transformer->compare_embeddings(vector, workspace, dots, norms);
    for (std::size_t row = 0; row < 131; ++row) {
      double dot = 0, square = 0;
      for (std::size_t k = 0; k < 132; ++k) {
        const double x = static_cast<double>(wte[row * 132 + k]);
        dot += x * static_cast<double>(vector[k]);
        square += x * x;
      }
      EXPECT_NEAR(static_cast<double>(dots[row]), dot, 1e-4) << row;
      EXPECT_NEAR(static_cast<double>(norms[row]), std::sqrt(square), 1e-4) << row;
    }
    EXPECT_FLOAT_EQ(dots[7], norms[7] * norms[7]);
  }
}

TEST(Parameters, OfAConfigurationAreThoseThatAreLoaded) {
  for (const char* tied : {"", ",\"tie_word_embeddings\":false"}) {
    const Gpt2Shape shape{};
    const TemporaryFolder folder;
    std::vector<RawTensor> tensors = gpt2_tensors(shape);
    if (*tied != 0)
      tensors.push_back(testing::random_tensor("lm_head.weight", "F32", {shape.vocabulary, shape.width}, 5));
    write_gpt2(folder, gpt2_config(shape, tied), tensors);
    const auto transformer = Transformer::load(folder.path());
    const std::vector<Parameter> all = parameters_of(transformer->config());
    ASSERT_EQ(all.size(), transformer->parameters().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].name, transformer->parameters()[i].name);
      EXPECT_EQ(all[i].shape, transformer->parameters()[i].shape);
    }
  }
}

// Radford et al. 2019 rounded: "117M" of its first version was corrected to 124M, the others to these.
TEST(Parameters, OfThePublishedSizesAreAsManyAsTheirFilesHold) {
  const auto total = [](int layers, int width) {
    Config config;
    config.n_layer = layers;
    config.n_embd = width;
    config.n_inner = 4 * width;
    config.n_ctx = 1024;
    config.vocab_size = 50257;
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters_of(config)) count += value_count(parameter);
    return count;
  };
  EXPECT_EQ(total(12, 768), 124'439'808);
  EXPECT_EQ(total(24, 1024), 354'823'168);
  EXPECT_EQ(total(36, 1280), 774'030'080);
  EXPECT_EQ(total(48, 1600), 1'557'611'200);
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
