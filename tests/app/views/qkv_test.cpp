// From the residual stream into the heads: every strip is the model's, compared with the reference's own
// product.

#include "app/run/analyses/token_pass.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::qkv_test {
namespace {

constexpr double kTolerance = 2e-4;
enum Row { kResidual, kNormed, kBias, kOutput, kQuery, kKey, kValue, kQueryHead, kKeyHead, kValueHead };

int strip(const ViewFixture& shown, int row) {
  const auto& regions = shown.picture().regions;
  const auto found = std::ranges::find(regions, row, &viz::Region::id);
  return found == regions.end() ? -1 : static_cast<int>(found - regions.begin());
}

TEST(Qkv, IsLayerNormTimesTheMatrixPlusTheBias) {
  const Scenario s(kRobot);
  constexpr int kPosition = 5;
  const auto d = static_cast<std::size_t>(s.config().n_embd);
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    SCOPED_TRACE(layer);
    const auto input = s.ask(AttentionInputOf{layer, kPosition});
    const std::string block = "h." + std::to_string(layer) + ".";
    const auto& gain = reference_model().parameter(block + "ln_1.weight");
    const auto& shift = reference_model().parameter(block + "ln_1.bias");
    const auto& weight = reference_model().parameter(block + "attn.c_attn.weight");
    const auto& bias = reference_model().parameter(block + "attn.c_attn.bias");
    ASSERT_EQ(input->residual.size(), d);
    ASSERT_EQ(input->output.size(), 3 * d);
    double mean = 0, variance = 0;
    for (const float x : input->residual) mean += static_cast<double>(x) / static_cast<double>(d);
    for (const float x : input->residual)
      variance += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean) / static_cast<double>(d);
    const double deviation = std::sqrt(variance + static_cast<double>(s.config().layer_norm_epsilon));
    for (std::size_t i = 0; i < d; ++i) {
      const double normed = (static_cast<double>(input->residual[i]) - mean) / deviation;
      ASSERT_NEAR(input->normed[i], normed * gain[i] + shift[i], kTolerance);
    }
    for (std::size_t j = 0; j < 3 * d; ++j) {
      ASSERT_NEAR(input->bias[j], bias[j], 1e-6);
      double sum = bias[j];
      for (std::size_t i = 0; i < d; ++i)
        sum += static_cast<double>(input->normed[i]) * weight[i * 3 * d + j];
      ASSERT_NEAR(input->output[j], sum, kTolerance) << j;
    }
  }
}

TEST(Qkv, PiecesAreTheHeads) {
  Scenario s(kRobot, {1, 2, 5});
  const auto rows = text_rows(ViewFixture("qkv", s, 1200, 900).table());
  const auto& head = reference_head(s);
  const std::size_t d_head = head.q[5].size();
  ASSERT_EQ(rows[0].size(), 11U);
  for (std::size_t i = 0; i < d_head; ++i) {
    const auto& of_head = rows[i];
    EXPECT_NEAR(std::stod(of_head[1 + kQueryHead]), head.q[5][i], kTolerance);
    EXPECT_NEAR(std::stod(of_head[1 + kKeyHead]), head.k[5][i], kTolerance);
    EXPECT_NEAR(std::stod(of_head[1 + kValueHead]), head.v[5][i], kTolerance);
    EXPECT_EQ(rows[2 * d_head + i][1 + kQuery], of_head[1 + kQueryHead]);
    EXPECT_EQ(rows[2 * d_head + i][1 + kOutput], of_head[1 + kQueryHead]);
  }
}

TEST(Qkv, PiecesChooseTheirHead) {
  const Scenario s(kRobot);
  const ViewFixture shown("qkv", s, 1200, 900);
  const int d = s.config().n_embd, d_head = s.config().d_head();
  EXPECT_EQ(in_words(shown.click(strip(shown, kKey), 0, 3 * d_head + 1)), "head 2 3");
  EXPECT_EQ(in_words(shown.click(strip(shown, kOutput), 0, 2 * d + d_head)), "head 2 1");
  EXPECT_EQ(in_words(shown.click(strip(shown, kResidual), 0, 3)), "");
}

}  // namespace
}  // namespace headscope::app::qkv_test
