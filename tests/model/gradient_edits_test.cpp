// Derivatives through edited passes: every kind at every site, compared with a tape in float64.

#include "tests/model/gradients_fixture.h"
#include "tests/support/matchers.h"

namespace headscope::model::gradient_edits_test {
namespace {

class GradientEditsTest : public GradientsFixture {
 protected:
  void expect_right(const Edits& edits, int length, const Metric& metric = LogProbability{7}) {
    expect_reference_gradients(*reference_, *transformer_, *run(tokens_of(length), edits), metric,
                               workspace_);
  }
};

class GradientOfEveryKind : public GradientEditsTest, public ::testing::WithParamInterface<EditCase> {};

INSTANTIATE_TEST_SUITE_P(Sites, GradientOfEveryKind, ::testing::ValuesIn(edit_cases()), name_of);

TEST_P(GradientOfEveryKind, IsTheReferences) {
  const Edits edits = edits_from(GetParam(), transformer_->config());
  expect_right(edits, 8);
  expect_right(edits, 8, PromptLoss{});
}

TEST_F(GradientEditsTest, OfLogitsCountForEveryMetric) {
  const EditSite all{{Site::logits}, {}, {}, {}}, some{{Site::logits}, {}, {2, 7}, {7, 3}};
  for (const Edits& edits :
       {Edits{ScaleValues{all, 0.5F}}, Edits{SetValues{some, {0.5F, 2}}},
        Edits{ScaleValues{some, 3}, AddVector{all, {1}, 2}}, Edits{PatchFrom{some, tokens_of(8, 3), {}}}})
    for (const Metric& metric :
         {Metric{TokenLogit{7}}, Metric{LogitDifference{3, 9, 2}}, Metric{PromptLoss{}}})
      expect_right(edits, 8, metric);
}

class GradientOfEveryList : public GradientEditsTest, public ::testing::WithParamInterface<EditList> {};
INSTANTIATE_TEST_SUITE_P(Lists, GradientOfEveryList, ::testing::ValuesIn(edit_lists()),
                         [](const auto& list) { return list.param.name; });

TEST_P(GradientOfEveryList, IsTheReferences) {
  expect_right(GetParam().edits, GetParam().length, PromptLoss{});
}

}  // namespace
}  // namespace headscope::model::gradient_edits_test
