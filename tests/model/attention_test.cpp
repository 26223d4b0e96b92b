#include "model/pass/attention.h"

#include "tests/support/matchers.h"
#include "tests/support/number_matrix.h"

namespace headscope::model::attention_test {
namespace {

constexpr int kDHead = 20, kLayer = 1;
constexpr int kContext = 600;  // more pages than are read concurrently

Config config() {
  Config config;
  config.n_layer = 2;
  config.n_head = 3;
  config.n_embd = 3 * kDHead;
  config.n_ctx = kContext;
  return config;
}

class Attention : public ::testing::Test {
 protected:
  Attention() {
    std::normal_distribution<float> normal;
    for (int first = 0; first < kContext; first += Page::kPositions) {
      const auto page = std::make_shared<Page>(config(), first);
      const auto rows = page->claim(0, Page::kPositions);
      for (int layer = 0; layer < 2; ++layer) {
        for (int head = 0; head < 3; ++head) {
          for (int i = 0; i < Page::kPositions * kDHead; ++i) {
            rows->k(layer, head)[i] = normal(generator_);
            rows->v(layer, head)[i] = normal(generator_);
          }
        }
      }
      pages_.push_back(page);
    }
  }

  std::mt19937 generator_{3};
  std::vector<std::shared_ptr<Page>> pages_;
};

TEST_F(Attention, OneQueryInSeveralHeadsIsEachAloneToTheBit) {
  constexpr float kScale = 0.3F;
  std::vector<float> scratch(attention_scratch(config()));
  for (const PanelKernels& kernels : runnable_kernels()) {
    for (const int keys : {1, 63, 64, 65, 128, 200, 384, 400, kContext}) {
      for (const auto& [first, heads] : {std::pair{0, 3}, {1, 2}, {2, 1}}) {
        const NumberMatrix q(heads, kDHead, Precision::f32, generator_);
        Surrounded together(heads, kDHead);
        attend_one_query(kernels, head_of(config(), pages_, kLayer, first), keys, kScale, q.view(),
                         scratch.data(), together.view());
        for (int h = 0; h < heads; ++h) {
          const HeadCache one = head_of(config(), pages_, kLayer, first + h);
          Surrounded weights(1, keys), alone(1, kDHead);
          scores(kernels, one, q.view().middle_rows(h, 1), weights.view());
          softmax_causal(kernels, kScale, keys - 1, weights.view());
          weigh_values(kernels, one, weights.view(), alone.view());
          for (int col = 0; col < kDHead; ++col) {
            ASSERT_EQ(together(h, col), alone(0, col)) << kernels.name << ' ' << keys << ' ' << h;
          }
        }
        EXPECT_TRUE(together.surroundings_untouched());
      }
    }
  }
}

TEST_F(Attention, TheCausalSoftmaxIsItsStepsToTheBit) {
  model::Run run;
  run.config = config();
  run.tokens.resize(kContext);
  const HeadCache head = head_of(config(), pages_, kLayer, 1);
  for (const PanelKernels& kernels : runnable_kernels()) {
    for (const auto& [first, queries] : {std::pair{0, 1}, {0, 64}, {63, 2}, {128, 7}, {130, 64}}) {
      const NumberMatrix random(queries, first + queries, Precision::f32, generator_);
      Surrounded causal(queries, first + queries), steps(queries, first + queries);
      for (int i = 0; i < queries; ++i) {
        std::ranges::copy(random.view().row(i), causal.view().row_data(i));
        std::ranges::copy(random.view().row(i), steps.view().row_data(i));
      }
      softmax_causal(kernels, config().attention_scale(kLayer), first, causal.view());
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
