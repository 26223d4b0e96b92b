// The bundled model does what its card says: measures again the numbers that the training script measured
// with PyTorch.

#include <nlohmann/json.hpp>

#include "model/files/file_io.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::model::tales_test {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kSource = headscope::testing::source_dir();
const std::filesystem::path kModel = kSource / "assets/models/tales";
constexpr double kTolerance = 1e-3;  // float32 sums in a different order

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
  EXPECT_NEAR(nats / static_cast<double>(tokens), excerpt.at("nats_per_token").get<double>(), kTolerance);
  EXPECT_NEAR(nats / std::numbers::ln2 / static_cast<double>(bytes),
              excerpt.at("bits_per_byte").get<double>(), kTolerance);
}

}  // namespace
}  // namespace headscope::model::tales_test
