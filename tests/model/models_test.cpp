// The forward pass of models of several configurations, compared with the float64 reference; and the bundled
// model does what its card says: the numbers that the training script measured with PyTorch are measured
// again.
#include <iterator>
#include <nlohmann/json.hpp>

#include "model/files/file_io.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/matchers.h"
#include "tests/support/parameter_names.h"
#include "tests/support/source_folders.h"

namespace headscope::model::models_test {
namespace {

constexpr double kTolerance = 1e-5;

/// A recorded activation in the order of its shape.
Tensor as_tensor(const SourceValues& heads, Site site, const std::vector<std::int64_t>& shape) {
  Tensor tensor{shape, {}};
  const auto append = [&](const std::vector<double>& row) {
    for (const double value : row) tensor.values.push_back(static_cast<float>(value));
  };
  if (has_cells(site)) {
    for (const auto& [head, rows] : heads) std::ranges::for_each(rows, append);
  } else {
    for (std::size_t pos = 0; pos < heads.at(0).size(); ++pos)
      for (const auto& [head, rows] : heads) append(rows[pos]);
  }
  return tensor;
}

class Models : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_reference(const Transformer& transformer, const testing::ReferenceGpt2& reference, int length) {
    const Config& config = transformer.config();
    const std::vector<int> ids = tokens_of(length, 0, config.vocab_size);
    const std::vector<HookPoint> points = all_hook_points(config);
    testing::Activations expected;
    for (const auto& [name, heads] : record_by_hand(reference, ids)) {
      const auto point = std::ranges::find(points, name, hook_name);
      ASSERT_NE(point, points.end()) << name;
      expected[name] = as_tensor(heads, point->site, hook_shape(config, *point, length));
    }
    for (const int chunk : {1, 7, 256}) {
      SCOPED_TRACE(chunk);
      const testing::Activations found = testing::record(transformer, ids, workspace_, points, chunk);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, tensor] : found)
        testing::expect_close(name, expected.at(name), tensor, kTolerance);
    }
    // edits_test.cpp compares all that a run answers with the pass; scores depend on the configuration.
    const auto run = transformer.forward(ids, workspace_);
    for (int layer = 0; layer < config.n_layer; ++layer) {
      const HookPoint point{Site::attn_scores, layer};
      Tensor scores{hook_shape(config, point, length), {}};
      for (int head = 0; head < config.n_head; ++head)
        std::ranges::copy(transformer.attention(*run, layer, head).masked, std::back_inserter(scores.values));
      testing::expect_close(hook_name(point), expected.at(hook_name(point)), scores, kTolerance);
    }
  }

  Workspace workspace_{2};
};

INSTANTIATE_TEST_SUITE_P(Configurations, Models, ::testing::ValuesIn(testing::model_names()),
                         [](const auto& model) { return model.param; });

TEST_P(Models, EverySiteIsTheReferences) {
  const auto folder = testing::model_folder(GetParam());
  for (const Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) {
    LoadOptions options;
    options.precision = precision;
    const auto transformer = Transformer::load(folder, options);
    const testing::ReferenceGpt2 reference(folder, precision);
    for (const int length : {1, transformer->config().n_ctx}) {
      SCOPED_TRACE(std::to_string(length) + " tokens as " + testing::name_of(precision));
      expect_reference(*transformer, reference, length);
    }
  }
}

/// Random weights, which small_shape_check.py makes and sets HEADSCOPE_SMALL_SHAPE to the folder of.
TEST(SmallShape, LogitsAndPatternsAreTheReferences) {
  const char* folder = std::getenv("HEADSCOPE_SMALL_SHAPE");
  if (folder == nullptr) GTEST_SKIP() << "HEADSCOPE_SMALL_SHAPE is not set";
  const auto transformer = Transformer::load(folder);
  const std::vector<int> ids = tokens_of(8, 0, transformer->config().vocab_size);
  const auto expected = testing::ReferenceGpt2(folder).run(ids);
  Workspace workspace;
  const auto run = transformer->forward(ids, workspace);
  const std::vector<float> logits = testing::all_logits(*transformer, *run, workspace);
  for (std::size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(logits[i], expected.logits[i / expected.logits[0].size()][i % expected.logits[0].size()],
                1e-3);
  for (const int layer : {0, 5, 11})
    for (int head = 0; head < 12; ++head) {
      const std::vector<float> pattern = transformer->attention(*run, layer, head).pattern;
      for (std::size_t i = 0; i < pattern.size(); ++i)
        ASSERT_NEAR(pattern[i], expected.heads[layer][head].weights[i / ids.size()][i % ids.size()], 1e-5)
            << "layer " << layer << ", head " << head;
    }
}

using Json = nlohmann::json;

const std::filesystem::path kSource = headscope::testing::source_dir();
const std::filesystem::path kModel = kSource / "assets/models/tales";
constexpr double kOtherSums = 1e-3;  // of float32 numbers, in a different order

TEST(Tales, PredictsAnExcerptAsWellAsItsCardSays) {
  const Json excerpt = Json::parse(read_file(kSource / "tests/data/tales_expected.json")).at("excerpt");
  const auto transformer = Transformer::load(kModel);
  const Tokenizer tokenizer = Tokenizer::load(kModel);
  const std::string text = read_file(kSource / "tests/data" / excerpt.at("file").get<std::string>());
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  ASSERT_EQ(ids, excerpt.at("ids").get<std::vector<int>>());

  const auto window = static_cast<std::size_t>(transformer->config().n_ctx);
  Workspace workspace;
  double nats = 0;
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  for (std::size_t start = 0; start + 1 < ids.size(); start += window) {
    const std::size_t end = std::min(ids.size(), start + window);
    const std::span<const int> part(ids.data() + start, end - start);
    const auto run = transformer->forward(part, workspace);
    const auto statistics = transformer->statistics(*run, 0, run->length(), 1, workspace);
    for (std::size_t i = 0; i + 1 < part.size(); ++i) {
      nats -= std::log(statistics[i].next_probability);
      bytes += tokenizer.bytes(part[i + 1]).size();
      ++tokens;
    }
  }
  EXPECT_EQ(tokens, excerpt.at("tokens").get<std::size_t>());
  EXPECT_EQ(bytes, excerpt.at("bytes").get<std::size_t>());
  EXPECT_NEAR(nats / static_cast<double>(tokens), excerpt.at("nats_per_token").get<double>(), kOtherSums);
  EXPECT_NEAR(nats / std::numbers::ln2 / static_cast<double>(bytes),
              excerpt.at("bits_per_byte").get<double>(), kOtherSums);
}

}  // namespace
}  // namespace headscope::model::models_test
