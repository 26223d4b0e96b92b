#include "model/pass/attention.h"

#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"

namespace headscope::model::attention_test {
namespace {

constexpr int kLayer = 1;

TEST(Attention, TheCausalSoftmaxIsItsStepsToTheBit) {
  model::Run run;
  run.config.n_head = 3;
  run.config.n_embd = 60;
  const HeadCache head{.pages = {}, .layer = kLayer, .head = 1};
  std::mt19937 generator(3);
  for (const PanelKernels& kernels : runnable_kernels()) {
    for (const auto& [first, queries] : {std::pair{0, 1}, {0, 64}, {63, 2}, {128, 7}, {130, 64}}) {
      const NumberMatrix random(queries, first + queries, Precision::f32, generator);
      Surrounded causal(queries, first + queries), steps(queries, first + queries);
      for (int i = 0; i < queries; ++i) {
        std::ranges::copy(random.view().row(i), causal.view().row_data(i));
        std::ranges::copy(random.view().row(i), steps.view().row_data(i));
      }
      softmax_causal(kernels, run.config.attention_scale(kLayer), first, causal.view());
      scale_and_mask(run, head, first, steps.view());
      softmax_masked(kernels, run, head, first, steps.view());
      for (int i = 0; i < queries; ++i)
        for (int key = 0; key < first + queries; ++key)
          ASSERT_EQ(causal(i, key), steps(i, key)) << kernels.name << ' ' << i << ' ' << key;
      EXPECT_TRUE(causal.surroundings_untouched());
    }
  }
}

}  // namespace
}  // namespace headscope::model::attention_test
