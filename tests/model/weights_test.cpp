// Tensors of files, and how those of a folder are loaded; folders_test.cpp tests published and invalid
// folders.
#include "model/files/weights.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/safetensors.h"
#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::model::weights_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const TensorFile& file, const std::string& tensor) {
  const std::vector<std::byte> bytes = file.tensors.at(tensor).read();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<float> floats_of(const TensorFile& file, const std::string& tensor) {
  const std::vector<std::byte> bytes = file.tensors.at(tensor).read();
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

TEST(Safetensors, GivesWhatTheFileHolds) {
  const TemporaryFolder folder;
  const fs::path path =
      folder.write("a.safetensors", safetensors_bytes({{"two", "F16", {2, 1}, "abcd"},
                                                       {"scalar", "F32", {}, "wxyz"},
                                                       {"none", "I64", {0, 7}, ""},
                                                       {"flags", "BOOL", {3}, std::string("\0\1\1", 3)},
                                                       {"halves", "F4", {4}, "hh"},
                                                       {"from the future", "Q7_K", {5}, "odd size"}},
                                                      R"({"format":"pt","note":"ü"})"));
  const TensorFile file = open_safetensors(path);
  ASSERT_THAT(file.tensors, SizeIs(6));
  EXPECT_EQ(file.tensors.at("two").dtype, "F16");
  EXPECT_THAT(file.tensors.at("two").shape, ElementsAre(2, 1));
  EXPECT_EQ(text_of(file, "two"), "abcd");
  EXPECT_THAT(file.tensors.at("scalar").shape, ElementsAre());
  EXPECT_EQ(text_of(file, "scalar"), "wxyz");
  EXPECT_EQ(text_of(file, "none"), "");
  EXPECT_EQ(text_of(file, "flags"), std::string("\0\1\1", 3));
  EXPECT_EQ(text_of(file, "halves"), "hh");
  EXPECT_EQ(file.tensors.at("from the future").dtype, "Q7_K");
  EXPECT_EQ(text_of(file, "from the future"), "odd size");
  EXPECT_EQ(file.metadata.at("format"), "pt");
  EXPECT_EQ(file.metadata.at("note"), "ü");
}

TEST(Safetensors, OpensHeadersOfEveryPermittedForm) {
  const TemporaryFolder folder;
  const auto open = [&](const std::string& header, const std::string& data) {
    return open_safetensors(folder.write("a", safetensors_of_header(header, data)));
  };
  EXPECT_THAT(open("{}", "").tensors, SizeIs(0));
  EXPECT_THAT(open("{}      ", "").tensors, SizeIs(0));
  EXPECT_THAT(open(R"({"__metadata__":null})", "").metadata, SizeIs(0));
  // Unordered members, ranges in a different order than the names, and unknown keys.
  const TensorFile file = open(R"({"b":{"data_offsets":[0,1],"note":[{}],"shape":[1],"dtype":"U8"},
                                        "a":{"shape":[2],"dtype":"I8","data_offsets":[1,3]}})",
                               "Baa");
  EXPECT_EQ(text_of(file, "a"), "aa");
  EXPECT_EQ(text_of(file, "b"), "B");
}

TEST(Safetensors, SaysThatAFileWasCutShort) {
  const TemporaryFolder folder;
  const fs::path path =
      folder.write("a", safetensors_bytes({{"x", "U8", {3}, "xyz"}, {"y", "U8", {1}, "!"}}));
  const TensorFile file = open_safetensors(path);
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_THAT(message_of<LoadError>([&] { file.tensors.at("x").read(); }),
              HasSubstr("has changed since it was opened"));
  const std::string message = message_of<LoadError>([&] { file.tensors.at("y").read(); });
  EXPECT_TRUE(is_sentence(message)) << message;
  EXPECT_THAT(message, HasSubstr("truncated"));
  EXPECT_THAT(message, HasSubstr(path.string()));
}

TEST(SafetensorsWriter, WritesPiecesInAnyOrder) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out.safetensors";
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> ids = {50256, -1};
  SafetensorsWriter writer(path, {{"x", {2, 3}}, {"tokens", {2}, "I64"}, {"one", {}}, {"none", {0}}},
                           {{"prompt", "a \"quoted\" \xff byte"}}, 32);
  writer.write("x", 4, std::span(values).subspan(4));
  writer.write("x", 0, std::span(values).first(4));
  writer.write("one", 0, std::span(values).first(1));
  writer.write("tokens", 0, ids);
  EXPECT_FALSE(fs::exists(path));
  writer.finish({{"late", "1"}});

  const TensorFile file = open_safetensors(path);
  EXPECT_EQ(floats_of(file, "x"), values);
  EXPECT_THAT(file.tensors.at("x").shape, ElementsAre(2, 3));
  EXPECT_THAT(floats_of(file, "one"), ElementsAre(1.0F));
  EXPECT_THAT(file.tensors.at("none").shape, ElementsAre(0));
  const TensorView& tokens = file.tensors.at("tokens");
  EXPECT_EQ(tokens.dtype, "I64");
  EXPECT_EQ(std::memcmp(tokens.read().data(), ids.data(), sizeof(std::int64_t) * 2), 0);
  EXPECT_EQ(file.metadata.at("prompt"), "a \"quoted\" \xef\xbf\xbd byte");
  EXPECT_EQ(file.metadata.at("late"), "1");
}

TEST(SafetensorsWriter, WritesTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out.safetensors";
  SafetensorsWriter writer(path, {{"a", {1}}, {"i", {1}, "I64"}}, {});
  writer.write("a", 0, std::vector<float>{1.0F});
  writer.write("i", 0, std::vector<std::int64_t>{258});
  writer.finish();
  std::string header =
      R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(bytes_of_file(path),
            safetensors_of_header(header, std::string("\x02\x01\0\0\0\0\0\0\0\0\x80\x3f", 12)));
}

TEST(SafetensorsWriter, RefusesSizesThatNoFileHas) {
  const TemporaryFolder folder;
  const std::int64_t huge = std::int64_t{1} << 62;
  const auto write = [&](std::vector<TensorSpec> tensors) {
    return message_of<std::runtime_error>([&] { SafetensorsWriter(folder.path() / "x", tensors, {}); });
  };
  EXPECT_THAT(write({{"x", {huge, huge}}}), HasSubstr("too large"));
  EXPECT_THAT(write({{"x", {huge}}}), HasSubstr("too large"));
  EXPECT_THAT(write({{"x", {-1}}}), HasSubstr("too large"));
  EXPECT_TRUE(is_sentence(write({{"x", {huge / 8}}, {"y", {huge / 8}}, {"z", {huge / 8}}})));
  EXPECT_THROW(SafetensorsWriter(folder.path() / "x", {}, {}).finish({{"no", "room"}}), std::runtime_error);
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(ReadFile, GivesAllBytesOrSaysWhyNot) {
  const TemporaryFolder folder;
  const std::string bytes = "a\0b\r\n\xff" + std::string(200'000, 'x');
  const fs::path path = folder.write("file", bytes);
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_EQ(read_file(path, bytes.size()), bytes);
  EXPECT_EQ(read_file(folder.write("empty", "")), "");

  const auto read = [](const fs::path& file, std::size_t most) {
    return message_of<LoadError>([&] { read_file(file, most); });
  };
  EXPECT_EQ(read(folder.path(), 9), "cannot read " + folder.path().string() + ": Is a directory");
  EXPECT_EQ(read(folder.path() / "x", 9),
            "cannot read " + (folder.path() / "x").string() + ": No such file or directory");
  EXPECT_EQ(read(path, bytes.size() - 1), "cannot read " + path.string() + ": expected at most " +
                                              std::to_string(bytes.size() - 1) + " bytes, found more");
}

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
    for (std::size_t i = 0; i < transformer->report().parameters.size(); ++i) {
      const Parameter& parameter = transformer->report().parameters[i];
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
