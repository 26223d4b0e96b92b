// The double-precision GPT-2 used by the views' tests, compared with the one in numpy.
#include "tests/support/reference_gpt2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/model/golden.h"

namespace headscope::testing::reference_gpt2_test {
namespace {

/// Compares the rows of one head in a tensor [pos, head, d_head], or [head, query, key] if `by_head`. Masked
/// cells are skipped.
void expect_rows(const Golden& golden, const std::string& name, int head,
                 const std::vector<std::vector<double>>& rows, bool by_head = false) {
  const Tensor& tensor = golden.activations.at(name);
  const auto width = rows[0].size(), heads = static_cast<std::size_t>(tensor.shape[by_head ? 0 : 1]);
  double largest = 0;
  for (const float value : tensor.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t at = by_head ? static_cast<std::size_t>(head) * rows.size() + row
                                   : row * heads + static_cast<std::size_t>(head);
    for (std::size_t i = 0; i < width; ++i) {
      const float expected = tensor.values[at * width + i];
      if (std::isinf(expected)) continue;
      ASSERT_NEAR(rows[row][i], static_cast<double>(expected), 2e-7 * largest)
          << name << " head " << head << " row " << row << " column " << i;
    }
  }
}

TEST(ReferenceGpt2, IsTheOneInNumpy) {
  for (const std::string& model : golden_names()) {
    SCOPED_TRACE(model);
    const Golden golden = read_golden(golden_folder(model));
    const ReferenceGpt2::Result result = ReferenceGpt2(golden_folder(model)).run(golden.tokens);
    for (std::size_t layer = 0; layer < result.heads.size(); ++layer) {
      const std::string block = "blocks." + std::to_string(layer) + ".attn.hook_";
      for (std::size_t head = 0; head < result.heads[layer].size(); ++head) {
        const ReferenceGpt2::Head& found = result.heads[layer][head];
        const int h = static_cast<int>(head);
        expect_rows(golden, block + "q", h, found.q);
        expect_rows(golden, block + "k", h, found.k);
        expect_rows(golden, block + "v", h, found.v);
        expect_rows(golden, block + "z", h, found.z);
        expect_rows(golden, block + "attn_scores", h, found.scaled, true);
        expect_rows(golden, block + "pattern", h, found.weights, true);
      }
    }
    const std::vector<float>& logits = golden.activations.at("logits").values;
    const std::size_t vocabulary = result.logits[0].size();
    ASSERT_EQ(logits.size(), golden.tokens.size() * vocabulary);
    for (std::size_t i = 0; i < logits.size(); ++i)
      ASSERT_NEAR(result.logits[i / vocabulary][i % vocabulary], static_cast<double>(logits[i]), 1e-5);
  }
}

}  // namespace
}  // namespace headscope::testing::reference_gpt2_test
