// From the heads back to the residual stream: the numbers of the pass, and parts that add up.

#include "app/run/analyses/token_pass.h"
#include "app/run/edits/edit_text.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::merge_test {
namespace {

constexpr int kPosition = 5;
constexpr int kPart = 0, kStrip = 2;

// Bit-identical, also at the end of a page.
TEST(Merge, IsWhatThePassComputed) {
  const Scenario& s = scenario(100);
  for (const int position : {0, 63, 64, 99}) {
    const auto pass = s.ask(PassOfToken{position});
    for (int layer = 0; layer < s.config().n_layer; ++layer) {
      const auto merged = s.ask(MergedHeadsOf{layer, position});
      EXPECT_EQ(merged->of.out, pass->blocks[layer]->attn_out) << layer << " " << position;
      EXPECT_EQ(merged->after, pass->blocks[layer]->resid_mid) << layer << " " << position;
    }
  }
}

TEST(Merge, TheTableSaysWhatEachHeadAdds) {
  Scenario s(kRobot, {1, 2, kPosition});
  const Table table = ViewFixture("merge", s, 1400, 900).table();
  const auto rows = text_rows(table);
  const auto heads = static_cast<std::size_t>(s.config().n_head),
             d = static_cast<std::size_t>(s.config().n_embd);
  const std::size_t first = 3 + static_cast<std::size_t>(s.config().d_head());
  ASSERT_EQ(rows.size(), heads + 4);
  ASSERT_EQ(table.columns.size(), first + d);
  EXPECT_EQ(rows[2][0], "L1 H2");
  EXPECT_EQ(rows[heads][0], "bias");
  const auto value = [&](std::size_t row, std::size_t i) { return std::stod(rows[row][first + i]); };
  std::vector<double> sum(d, 0.0);
  double along = 0;
  for (std::size_t row = 0; row <= heads; ++row) {
    double square = 0, dot = 0;
    for (std::size_t i = 0; i < d; ++i) {
      sum[i] += value(row, i);
      square += value(row, i) * value(row, i);
      dot += value(row, i) * value(heads + 1, i);
    }
    EXPECT_NEAR(std::stod(rows[row][1]), std::sqrt(square), 1e-5) << row;
    EXPECT_NEAR(std::stod(rows[row][2]), dot / std::stod(rows[heads + 1][1]), 1e-5) << row;
    along += std::stod(rows[row][2]);
  }
  EXPECT_NEAR(along, std::stod(rows[heads + 1][1]), 1e-5) << "the sum's norm";
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_NEAR(sum[i], value(heads + 1, i), 1e-5);
    EXPECT_NEAR(value(heads + 2, i) + value(heads + 1, i), value(heads + 3, i), 1e-5) << "residual stream";
  }
}

TEST(Merge, PiecesChooseTheirHead) {
  Scenario s(kRobot, {1, 2, kPosition});
  const ViewFixture shown("merge", s, 1400, 900);
  EXPECT_EQ(in_words(shown.click(shown.find(kStrip, 0), 0, 3 * s.config().d_head() + 1)), "head 1 3");
  EXPECT_EQ(in_words(shown.click(shown.find(kPart, 1))), "head 1 1");
  EXPECT_EQ(in_words(shown.click(shown.find(kPart, s.config().n_head))), "") << "the bias is no head";
}

TEST(Merge, EditsOfTheSumAreAPart) {
  const Scenario s(Prompt{kRobot, {}, false, parse_edits("L1.attn_out[5]*=0.5", *bundled())},
                   {1, 2, kPosition});
  const auto merged = s.ask(MergedHeadsOf{1, kPosition});
  const std::size_t d = merged->bias.size();
  ASSERT_EQ(merged->edits.size(), d);
  for (std::size_t i = 0; i < d; ++i) {
    float sum = merged->bias[i] + merged->edits[i];
    for (std::size_t at = i; at < merged->of.results.size(); at += d) sum += merged->of.results[at];
    EXPECT_NEAR(sum, merged->of.out[i], 1e-4);
  }
  EXPECT_THAT(texts_of(ViewFixture("merge", s, 1400, 900).table(), "part"), Contains("edits"));
}

}  // namespace
}  // namespace headscope::app::merge_test
