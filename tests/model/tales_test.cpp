// The bundled model does what its card says: measures again the numbers that the training script measured
// with PyTorch.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "model/files/file_io.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/source_folders.h"

namespace headscope::model {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path kSource = headscope::testing::source_dir();
const fs::path kModel = kSource / "assets/models/tales";
constexpr double kTolerance = 1e-3;  // float32 sums in a different order

class TalesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    transformer_ = Transformer::load(kModel);
    expected_ = std::make_unique<Json>(Json::parse(read_file(kSource / "tests/data/tales_expected.json")));
  }
  static void TearDownTestSuite() {
    transformer_.reset();
    expected_.reset();
  }

  /// The mean weight of key_of(query) over sequences and queries [first, last].
  template <class KeyOf>
  static double mean_weight(int layer, int head, bool second_half, const KeyOf& key_of) {
    const Json& scores = expected_->at("head_scores");
    const int half = scores.at("half");
    double sum = 0;
    int count = 0;
    Workspace workspace;
    for (const Json& sequence : scores.at("sequences")) {
      const auto ids = sequence.get<std::vector<int>>();
      const auto run = transformer_->forward(ids, workspace);
      const auto length = static_cast<int>(ids.size());
      std::vector<float> pattern(static_cast<std::size_t>(length) * static_cast<std::size_t>(length));
      transformer_->pattern(*run, layer, head, pattern);
      for (int query = second_half ? half + 1 : 1; query < length; ++query) {
        sum +=
            static_cast<double>(pattern[static_cast<std::size_t>(query) * static_cast<std::size_t>(length) +
                                        static_cast<std::size_t>(key_of(query, half))]);
        ++count;
      }
    }
    return sum / count;
  }

  static std::shared_ptr<const Transformer> transformer_;
  static std::unique_ptr<Json> expected_;
};

std::shared_ptr<const Transformer> TalesTest::transformer_;
std::unique_ptr<Json> TalesTest::expected_;

TEST_F(TalesTest, IsOfTheSizeThatTheProgramShows) {
  const Config& config = transformer_->config();
  EXPECT_GE(config.n_ctx, 256);
  EXPECT_GE(config.n_layer, 6);
  EXPECT_GE(config.n_head, 6);
  EXPECT_GE(config.vocab_size, 1024);
  EXPECT_LE(config.vocab_size, 4096);
  EXPECT_LE(fs::file_size(kModel / "model.safetensors"), 16U << 20);
  const Tokenizer tokenizer = Tokenizer::load(kModel);
  EXPECT_TRUE(tokenizer.end_of_text());
  EXPECT_EQ(tokenizer.size(), config.vocab_size);
}

TEST_F(TalesTest, LooksAtThePreviousToken) {
  const Json& best = expected_->at("head_scores").at("best_previous_token");
  const double score =
      mean_weight(best.at("layer"), best.at("head"), false, [](int query, int) { return query - 1; });
  EXPECT_GE(score, 0.9);
  EXPECT_NEAR(score, best.at("score").get<double>(), kTolerance);
}

TEST_F(TalesTest, ContinuesWhatCameBefore) {
  const Json& best = expected_->at("head_scores").at("best_induction");
  const double score = mean_weight(best.at("layer"), best.at("head"), true,
                                   [](int query, int half) { return query - half + 1; });
  EXPECT_GE(score, 0.75);
  EXPECT_NEAR(score, best.at("score").get<double>(), kTolerance);
}

TEST_F(TalesTest, PredictsAnExcerptAsWellAsItsCardSays) {
  const Json& excerpt = expected_->at("excerpt");
  const Tokenizer tokenizer = Tokenizer::load(kModel);
  const std::string text = read_file(kSource / "tests/data" / excerpt.at("file").get<std::string>());
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  ASSERT_EQ(ids, excerpt.at("ids").get<std::vector<int>>());

  const auto window = static_cast<std::size_t>(transformer_->config().n_ctx);
  Workspace workspace;
  double nats = 0;
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  for (std::size_t start = 0; start + 1 < ids.size(); start += window) {
    const std::size_t end = std::min(ids.size(), start + window);
    const std::span<const int> part(ids.data() + start, end - start);
    const auto run = transformer_->forward(part, workspace);
    const auto statistics = transformer_->statistics(*run, 0, run->length(), 1, workspace);
    for (std::size_t i = 0; i + 1 < part.size(); ++i) {
      nats -= std::log(statistics[i].next_probability);
      bytes += tokenizer.bytes(part[i + 1]).size();
      ++tokens;
    }
  }
  EXPECT_EQ(tokens, excerpt.at("tokens").get<std::size_t>());
  EXPECT_EQ(bytes, excerpt.at("bytes").get<std::size_t>());
  EXPECT_NEAR(nats / static_cast<double>(tokens), excerpt.at("nats_per_token").get<double>(), kTolerance);
  EXPECT_NEAR(nats / std::numbers::ln2 / static_cast<double>(bytes),
              excerpt.at("bits_per_byte").get<double>(), kTolerance);
}

}  // namespace
}  // namespace headscope::model
