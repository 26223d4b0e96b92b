// Value-weighted attention and rollout, compared with the definitions in double precision.
#include "app/run/analyses/patterns.h"
#include "model/files/error.h"
#include "tests/app/view_fixture.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/textbook.h"

namespace headscope::app::patterns_test {
namespace {

using Head = ReferenceGpt2::Head;

TEST(WeightedValuesOf, AreTheNormsOfWhatIsWritten) {
  const Scenario& s = scenario(30);
  for (const auto& [layer, head] : {std::pair{0, 3}, {4, 7}}) {
    const Head& of = reference_head(s, layer, head);
    const auto answer = s.ask(WeightedValuesOf{layer, head});
    EXPECT_TRUE(answer->masked.causal());
    for (std::size_t k = 0; k < 30; ++k) {
      const double written = norm(head_output(reference_model(), layer, head, of.v[k]));
      for (std::size_t q = 0; q < 30; ++q)
        EXPECT_NEAR(static_cast<double>(answer->values[q * 30 + k]), of.weights[q][k] * written,
                    1e-4 * written);
    }
  }
}

/// The rollout through layers 0 to `layer`.
std::vector<std::vector<double>> rollout(const ReferenceGpt2::Result& result, int layer) {
  const std::size_t n = result.heads[0][0].weights.size();
  std::vector<std::vector<double>> all(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) all[i][i] = 1;
  for (int l = 0; l <= layer; ++l) {
    std::vector<std::vector<double>> next(n, std::vector<double>(n));
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t k = 0; k < n; ++k) {
        double step = q == k ? 0.5 : 0;
        for (const Head& head : result.heads[l])
          step += 0.5 * head.weights[q][k] / static_cast<double>(result.heads[0].size());
        for (std::size_t j = 0; j < n; ++j) next[q][j] += step * all[k][j];
      }
    }
    all = next;
  }
  return all;
}

TEST(RolloutOf, IsTheProductOfTheLayersUnderTheMaskThatTheRunHad) {
  for (const bool edited : {false, true}) {
    const Scenario s = edited ? with_edits("L1H2.mask=none") : Scenario::of_length(30);
    const auto reference =
        reference_model().run(s.run->tokens.ids(), model::by_hand(s.run->prompt.edits, {}));
    const auto n = static_cast<std::size_t>(s.length());
    for (const int layer : {0, 1, 5}) {
      const auto expected = rollout(reference, layer);
      const auto answer = s.ask(RolloutOf{layer});
      EXPECT_EQ(answer->masked.causal(), !edited || layer < 1);
      for (std::size_t q = 0; q < n; ++q)
        for (std::size_t k = 0; k < n; ++k)
          EXPECT_NEAR(static_cast<double>(answer->values[q * n + k]), expected[q][k], 1e-5);
    }
  }
}

}  // namespace
}  // namespace headscope::app::patterns_test
