// Views of edited runs: their vectors and steps are the run's, and their words say where an edit acts.

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::edited_run_test {
namespace {

constexpr int kLayer = 2, kHead = 1, kQuery = 5;

Scenario scenario_of(const char* edits, Selection selection = {kLayer, kHead, kQuery}) {
  Prompt prompt{kRobot, {}, false};
  if (*edits) prompt.edits = parse_edits(edits, *bundled());
  return Scenario(prompt, selection);
}

/// The stream that enters a block is another than left the block before, if an edit comes between.
TEST(EditedVectors, ThePassShowsTheStreamThatEntersABlock) {
  const Scenario s = scenario_of("L2.resid_pre[5]*=0.5");
  const auto pass = s.ask(PassOfToken{kQuery});
  const BlockPass &before = *pass->blocks[kLayer - 1], &block = *pass->blocks[kLayer];
  const auto kept = s.run->run->resid(kLayer, kQuery);
  EXPECT_TRUE(std::ranges::equal(block.resid_pre, kept));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(block.resid_pre[i], before.resid_post[i] * 0.5F);
    EXPECT_NEAR(block.resid_mid[i], block.resid_pre[i] + block.attn_out[i], 1e-4);
  }
  EXPECT_NEAR(block.attn_cosine, cosine_of(kept, block.resid_mid), 1e-9);
  const ViewFixture shown("pass", s, 1400, 900);
  EXPECT_THAT(texts(shown.scene()), Contains("L2 resid_pre, edited"));
  EXPECT_THAT(shown.picture().subtitle, EndsWith("; L2 resid_pre, edited"));
  EXPECT_THAT(texts(shown.scene()), Contains(viz::number(norm_of(kept), 4)));
  int rows = 0;
  for (const auto& row : text_rows(shown.table())) {
    if (row[1] != "resid_pre") continue;
    ++rows;
    EXPECT_EQ(row[0], "2");
    EXPECT_EQ(row[2], plain(block.pre_norm));
  }
  EXPECT_EQ(rows, 1) << "where it is not the last row again";
  EXPECT_THAT(texts(ViewFixture("pass", scenario_of("L2.resid_pre[4]*=0.5"), 1400, 900).scene()),
              Not(Contains("L2 resid_pre, edited")));
}

TEST(EditedVectors, TheDifferenceOfAPassBeginsWhereTheEditActs) {
  const Scenario s = edited("L2.resid_pre[5]*=0.5", {kLayer, kHead, kQuery});
  const auto difference = s.ask_difference(PassOfToken{kQuery});
  EXPECT_GT(difference->resid_norm(kLayer), 1);
  EXPECT_EQ(norm_of(difference->blocks[kLayer - 1]->resid_post), 0);
}

/// z may become anything, which the list shows in a row of its own.
TEST(EditedVectors, AZThatIsSetIsShown) {
  for (const char* edits :
       {"L2H1.z=mean", "L2H1.z[5][3]=1", "L2H1.z[5]*=0.5", "L2H1.z<-\"The old king had a daughter\""}) {
    const Scenario s = scenario_of(edits);
    const ViewFixture shown("query", s, 1400, 800);
    const int sum = shown.fixed_strip(Vector::edited_z);
    ASSERT_GE(sum, 0) << edits;
    const auto merged = s.ask(MergedHeadsOf{kLayer, kQuery});
    const auto d = static_cast<std::size_t>(s.config().d_head());
    const auto z = std::span(merged->of.z).subspan(kHead * d, d);
    for (std::size_t i = 0; i < d; ++i)
      EXPECT_NEAR(
          number_after(shown.tooltip(sum, static_cast<int>(Vector::edited_z), static_cast<int>(i)), "] ")
              ->value,
          z[i], 1e-5)
          << edits << " " << i;
  }
}

}  // namespace
}  // namespace headscope::app::edited_run_test
