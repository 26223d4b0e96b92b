// The recomputed pass of one position: bit-identical to the run, or compared with the reference.
#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::token_pass_test {
namespace {

/// The largest difference between a vector and the reference's, relative to the reference's norm.
double error_of(const std::vector<float>& found, const std::vector<double>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(found[i]) - expected[i]));
    norm += expected[i] * expected[i];
  }
  return difference / std::sqrt(norm);
}

TEST(PassOfToken, HasTheVectorsOfTheReference) {
  const Scenario s(kRobot);
  const auto& expected = reference(s);
  for (const int position : {0, 5, s.length() - 1}) {
    const auto pass = s.ask(PassOfToken{position});
    const auto at = static_cast<std::size_t>(position);
    EXPECT_EQ(pass->position, position);
    EXPECT_LT(error_of(pass->resid(0), expected.blocks[0].resid_pre[at]), 1e-6);
    ASSERT_EQ(pass->blocks.size(), expected.blocks.size());
    for (std::size_t layer = 0; layer < pass->blocks.size(); ++layer) {
      SCOPED_TRACE("position " + std::to_string(position) + ", layer " + std::to_string(layer));
      const BlockPass& block = pass->blocks[layer];
      const auto& e = expected.blocks[layer];
      EXPECT_LT(error_of(block.attn_out, e.attn_out[at]), 1e-5);
      EXPECT_LT(error_of(block.resid_mid, e.resid_mid[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_pre, e.mlp_pre[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_post, e.mlp_post[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_out, e.mlp_out[at]), 1e-5);
      EXPECT_LT(error_of(block.resid_post, e.resid_post[at]), 1e-5);
      EXPECT_NEAR(block.cosine(false), cosine(e.resid_pre[at], e.resid_mid[at]), 1e-5);
      EXPECT_NEAR(block.cosine(true), cosine(e.resid_mid[at], e.resid_post[at]), 1e-5);
    }
  }
}

TEST(PassOfToken, IsToTheBitThatOfTheRun) {
  const Scenario& s = scenario(100);
  for (const int position : {0, 63, 64, 99}) {
    const auto pass = s.ask(PassOfToken{position});
    for (int layer = 0; layer <= s.config().n_layer; ++layer) {
      const auto kept = s.run->run->resid(layer, position);
      EXPECT_EQ(pass->resid(layer), std::vector<float>(kept.begin(), kept.end())) << position << " " << layer;
    }
    for (const BlockPass& block : pass->blocks)
      for (std::size_t i = 0; i < block.attn_out.size(); ++i)
        ASSERT_EQ(block.resid_mid[i] + block.mlp_out[i], block.resid_post[i]);
  }
}

}  // namespace
}  // namespace headscope::app::token_pass_test
