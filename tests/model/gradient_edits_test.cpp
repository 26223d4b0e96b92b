// Derivatives through edited passes: every kind at every site, compared with a tape in float64.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/model/gradients_fixture.h"

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

TEST_F(GradientEditsTest, WithoutMaskGoToEveryKey) {
  expect_right({SetMask{}}, 9);
  expect_right({SetMask{}}, 9, PromptLoss{});
  expect_right({SetMask{1, {}, {}}}, 9);
  expect_right({SetMask{0, 2, {}}}, 9);
  expect_right({SetMask{}}, 80, LogProbability{7, 3});
}

TEST_F(GradientEditsTest, AMaskIsAnyMatrix) {
  const std::vector<std::vector<bool>> sees = some_mask();
  expect_right({SetMask{{}, {}, sees}}, 9, PromptLoss{});
  expect_right({SetMask{2, 1, sees}, ScaleValues{{{Site::attn_scores, 2}, 1, {}, {}}, 2}}, 9);
  expect_right({SetMask{2, 1, sees}, SetCells{{Site::attn_scores, 2}, 1, {{0, 3, 1}, {2, 1, 0.5F}}, false}},
               9, PromptLoss{});
}

TEST_F(GradientEditsTest, CellsOfTheFutureCount) {
  expect_right({SetCells{{Site::pattern, 1}, 0, {{2, 7, 0.5F}}, true}}, 9, PromptLoss{});
  expect_right({SetCells{{Site::attn_scores, 1}, {}, {{2, 7, 1}}, false}}, 9, PromptLoss{});
  expect_right({PatchFrom{{{Site::pattern, 1}, 2, {1}, {}}, tokens_of(6, 4), {5}}}, 9, PromptLoss{});
}

TEST_F(GradientEditsTest, AColumnCountsForEveryQueryThatSeesIt) {
  for (const bool renormalise : {false, true})
    expect_right(
        {SetMask{1, {}, {}},
         SetCells{{Site::pattern, 1}, 0, {{CellValue::kAllQueries, 4, 0.25F}, {6, 4, 0.5F}}, renormalise}},
        9, PromptLoss{});
}

TEST_F(GradientEditsTest, SeveralEditsOfARowCountInTheirOrder) {
  const HookPoint pattern{Site::pattern, 1};
  const SetCells first{pattern, 1, {{5, 2, 0.25F}, {7, 1, 0.5F}}, true},
      second{pattern, {}, {{7, 3, 0.125F}}, true};
  const ScaleValues scaled{{pattern, 1, {}, {}}, 0.75F};
  expect_right({first, second}, 8);
  expect_right({first, scaled, second}, 8);
  expect_right({scaled, second, first}, 8);
  expect_right({second, first, SetCells{pattern, 1, {{7, 3, 0.5F}}, false}}, 8);
}

TEST_F(GradientEditsTest, PositionsMayBeOthersOrNone) {
  expect_right({SetPositionIds{{0, 0, -1, 7}}}, 9);
}

TEST_F(GradientEditsTest, AListCountsInItsOrder) {
  const Edits list = list_in_order();
  expect_right(list, 8);
  Edits turned = list;
  std::swap(turned[0], turned[3]);
  std::swap(turned[1], turned[2]);
  expect_right(turned, 8, PromptLoss{});
}

TEST_F(GradientEditsTest, LongRunsAreTheReferences) {
  expect_right({SetCells{{Site::attn_scores, 0}, 1, {{130, 3, -kInfinity}, {70, 70, 2}}, false},
                ScaleValues{{{Site::pattern, 1}, 2, {64, 65}, {}}, 0.5F},
                SetCells{{Site::pattern, 1}, 0, {{131, 3, 0.25F}, {80, 70, 0.5F}}, true}},
               132, PromptLoss{});
}

}  // namespace
}  // namespace headscope::model::gradient_edits_test
