#include "app/run/analyses/predictions.h"

#include <cstring>

#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::app::next_token_test {
namespace {

namespace fs = std::filesystem;

class NextTokenTest : public ::testing::Test {
 protected:
  NextToken after(int position, const std::string& with_nan = "", std::size_t at = 0) {
    const TemporaryFolder folder;
    if (with_nan.empty()) {
      write_other_model(folder);
    } else {
      write_model_with_nan(folder, with_nan, at);
    }
    PromptRun run;
    run.model = load_model(folder.path(), {});
    run.tokens = tokenize(*run.model, {"The old king", {}, false});
    last_ = run.tokens.length() - 1;
    run.run = run.model->transformer->forward(run.tokens.ids(), workspace_);
    return NextAfter{position}.compute(run, {workspace_});
  }

  model::Workspace workspace_{1};
  int last_ = 0;
};

TEST_F(NextTokenTest, SaysNothingOfARunThatIsFinite) {
  const NextToken next = after(-1);
  EXPECT_EQ(next.not_finite, "");
  EXPECT_EQ(next.position, last_);
  EXPECT_TRUE(std::isfinite(next.logits.back()));
  EXPECT_EQ(next.bytes(), next.logits.size() * sizeof(float));
}

TEST_F(NextTokenTest, SaysWhereTheRunIsNotFinite) {
  for (const int position : {-1, 0, 1}) {
    const NextToken next = after(position, "h.1.attn.c_attn.bias", 5);
    EXPECT_EQ(next.not_finite,
              "the run has non-finite values, first seen in blocks.1.attn.hook_q, head 1, position 0");
    EXPECT_EQ(next.bytes(), next.logits.size() * sizeof(float) + next.not_finite.size());
  }
}

TEST_F(NextTokenTest, SaysWhereTheLogitsAloneAreNotFinite) {
  const std::string note = "the run has non-finite values, first seen in logits, position ";
  EXPECT_EQ(after(1, "ln_f.bias", 3).not_finite, note + "1");
  EXPECT_EQ(after(-1, "wte.weight", 4095 * 8).not_finite, note + std::to_string(last_));
}

}  // namespace
}  // namespace headscope::app::next_token_test
