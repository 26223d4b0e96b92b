// One query's weights step by step: bit-identical to the model.
#include "app/run/analyses/patterns.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::softmax_row_test {
namespace {

TEST(SoftmaxRow, IsTheRowOfTheStagesToTheBit) {
  for (const int length : {1, 12, 100, bundled()->transformer->config().n_ctx}) {
    const Scenario& s = scenario(length);
    for (const auto& [layer, head] : {std::pair{0, 0}, {2, 1}}) {
      const auto stages = s.ask(StagesOf{layer, head});
      for (const int query : {0, length / 3, 63, 64, length - 1}) {
        if (query >= length) continue;
        SCOPED_TRACE(std::to_string(length) + " tokens, query " + std::to_string(query));
        const auto row = s.ask(SoftmaxRowOf{layer, head, query});
        ASSERT_EQ(row->weights.size(), static_cast<std::size_t>(query) + 1);
        const float share = 1.0F / row->sum;
        for (int key = 0; key <= query; ++key) {
          const auto k = static_cast<std::size_t>(key);
          ASSERT_EQ(row->scores[k], stages->matrix(Stage::scores).at(query, key));
          ASSERT_EQ(row->scaled[k], stages->matrix(Stage::scaled).at(query, key));
          ASSERT_EQ(row->weights[k], stages->matrix(Stage::pattern).at(query, key));
          ASSERT_LE(row->scaled[k], row->largest);
          ASSERT_EQ(row->powers[k] * share, row->weights[k]) << "the sum is the model's own";
        }
        EXPECT_EQ(row->scaled[row->largest_key], row->largest);
        EXPECT_EQ(row->powers[row->largest_key], 1);
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::softmax_row_test
