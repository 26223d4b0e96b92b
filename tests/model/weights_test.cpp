// How the tensors of a folder are loaded; folders_test.cpp tests published and invalid folders.
#include "model/files/weights.h"

#include "model/files/error.h"
#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::model::weights_test {
namespace {

constexpr int kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6};

std::vector<float> logits_of(const std::filesystem::path& folder) {
  const auto transformer = Transformer::load(folder);
  Workspace workspace(1);
  return testing::all_logits(*transformer, *transformer->forward(kTokens, workspace), workspace);
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

TEST(Weights, NumbersThatFloat16CannotHoldAreAnError) {
  const float large = 65519.0F, too_large = 65520.0F;
  const std::string name = "h.1.mlp.c_fc.weight";
  std::vector<RawTensor> tensors = gpt2_tensors({});
  char* const value = std::ranges::find(tensors, name, &RawTensor::name)->bytes.data() + 40;
  LoadOptions options;
  options.precision = Precision::f16;
  const TemporaryFolder folder;
  std::memcpy(value, &large, sizeof(large));
  write_gpt2(folder, gpt2_config({}), tensors);
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));

  std::memcpy(value, &too_large, sizeof(too_large));
  write_gpt2(folder, gpt2_config({}), tensors);
  const std::string message =
      testing::message_of<LoadError>([&] { Transformer::load(folder.path(), options); });
  testing::expect_load_sentence(message, "model.safetensors", "\"" + name + "\"");
  EXPECT_THAT(message, HasSubstr("fit float16"));
  options.precision = Precision::bf16;
  EXPECT_NO_THROW(Transformer::load(folder.path(), options));
}

}  // namespace
}  // namespace headscope::model::weights_test
