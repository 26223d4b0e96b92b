// Views of edited runs: their vectors and steps are the run's, and their words say where an edit acts.

#include "app/run/analyses/merged_heads.h"
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

/// The texts of a view of an edited run at query 5 of L2 H1.
std::vector<std::string> texts_of(const char* view, const char* edits) {
  return texts(ViewFixture(view, scenario_of(edits), 1600, 1000).scene());
}

TEST(EditedVectors, SayThatTheyAreEditedWhereAnEditActsOnThem) {
  const std::string z = "each head's sum of weight × value", slices = "one slice per head";
  EXPECT_THAT(texts_of("merge", "L2H3.z=0"), Contains(z + "; edited")) << "strips show all heads";
  EXPECT_THAT(texts_of("merge", "L2.resid_mid[5]*=2"), Contains("with what attention writes; edited"));
  EXPECT_THAT(texts_of("qkv", "L2H0.k=0"), Contains(slices + "; edited"));
  EXPECT_THAT(texts_of("mlp", "L2.mlp_post[5][7]=0"), Contains(EndsWith(", edited")));
  for (const char* elsewhere : {"L1H3.z=0", "L2H3.z[4]=0"})
    EXPECT_THAT(texts_of("merge", elsewhere), Contains(z));
  for (const char* elsewhere : {"L1H3.k=0", "L2H0.k[4]=0", "L2H0.z=0"})
    EXPECT_THAT(texts_of("qkv", elsewhere), Not(Contains(slices + "; edited"))) << elsewhere;
  EXPECT_THAT(texts_of("mlp", "L2.mlp_post[4][7]=0"), Not(Contains(EndsWith(", edited"))));
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
  const ViewFixture shown("way", s, 1400, 900);
  EXPECT_THAT(texts(shown.scene()), Contains("L2 resid_pre, edited"));
  EXPECT_THAT(shown.picture().subtitle, EndsWith("; L2 resid_pre, edited"));
  EXPECT_THAT(texts(shown.scene()), Contains(viz::number(norm_of(kept), 4)));
  int rows = 0;
  for (const auto& row : shown.table().rows) {
    if (row[1] != "resid_pre") continue;
    ++rows;
    EXPECT_EQ(row[0], "2");
    EXPECT_EQ(row[2], plain(block.pre_norm));
  }
  EXPECT_EQ(rows, 1) << "where it is not the last row again";
  EXPECT_THAT(texts(ViewFixture("way", scenario_of("L2.resid_pre[4]*=0.5"), 1400, 900).scene()),
              Not(Contains("L2 resid_pre, edited")));
}

TEST(EditedVectors, TheDifferenceOfAPassBeginsWhereTheEditActs) {
  const Scenario s = edited("L2.resid_pre[5]*=0.5", {kLayer, kHead, kQuery});
  const auto difference = s.ask_difference(PassOfToken{kQuery});
  EXPECT_GT(difference->resid_norm(kLayer), 1);
  EXPECT_EQ(norm_of(difference->blocks[kLayer - 1]->resid_post), 0);
}

TEST(EditedVectors, AnEmbeddingThatIsEditedIsNotCalledASum) {
  const auto said = [](const char* edits) {
    return texts(ViewFixture("embedding", scenario_of(edits), 1200, 800).scene());
  };
  for (const char* edits : {"embed[5]*=2", "pos_embed[5]=0", "L0.resid_pre[5]*=2"}) {
    EXPECT_THAT(said(edits), Contains("after edits")) << edits;
    EXPECT_THAT(said(edits), Not(Contains("sum"))) << edits;
    EXPECT_THAT(said(edits), Contains("→")) << edits;
  }
  for (const char* edits : {"embed[4]*=2", "L1.resid_pre[5]*=2"}) {
    EXPECT_THAT(said(edits), Contains("sum")) << edits;
    EXPECT_THAT(said(edits), Not(Contains("→"))) << edits;
  }
}

/// z comes before the result, of which it is no part.
TEST(EditedVectors, AnEditedResultLeavesZAsItIs) {
  for (const char* edits : {"L2H1.result[5]*=2", "L2H1.result=0"}) {
    const ViewFixture shown("query", scenario_of(edits), 1400, 800),
        plain("query", scenario_of(""), 1400, 800);
    EXPECT_THAT(texts(shown.scene()), Not(Contains(HasSubstr("edited, z ="))));
    EXPECT_EQ(shown.table().rows.size(), plain.table().rows.size()) << "no row of an edited sum";
  }
  EXPECT_THAT(ViewFixture("query", scenario_of("L2H1.result=0"), 1400, 800).picture().subtitle,
              HasSubstr(": writes nothing"));
}

/// z may become anything, which the list shows in a row of its own.
TEST(EditedVectors, AZThatIsSetIsShown) {
  for (const char* edits :
       {"L2H1.z=mean", "L2H1.z[5][3]=1", "L2H1.z[5]*=0.5", "L2H1.z<-\"The old king had a daughter\""}) {
    const Scenario s = scenario_of(edits);
    const Table table = ViewFixture("query", s, 1400, 800).table();
    ASSERT_EQ(table.rows.back().front(), "edited sum") << edits;
    const auto merged = s.ask(MergedHeadsOf{kLayer, kQuery});
    const auto d = static_cast<std::size_t>(s.config().d_head());
    const auto z = std::span(merged->of.z).subspan(kHead * d, d);
    for (std::size_t i = 0; i < d; ++i)
      EXPECT_NEAR(std::stod(table.rows.back()[table.header.size() - d + i]), z[i], 1e-5) << edits << " " << i;
  }
  EXPECT_EQ(ViewFixture("query", scenario_of("L2H1.z[4]=mean"), 1400, 800).table().rows.back().front(),
            "sum");
}

TEST(EditedAttention, AnEditedScoreIsInTheRangeOfItsColours) {
  const auto largest_said = [](const ViewContext& c) {
    double largest = 0;
    for (std::string words : texts(find_view("scores")->build(c).scene)) {
      const std::size_t digit = words.find_first_of("0123456789");
      if (digit != words.npos && words.find("·") == words.npos)
        largest = std::max(largest, std::strtod(words.c_str() + digit, nullptr));
    }
    return largest;
  };
  const Scenario s = edited("L2H1.scores[5,3]=200", {kLayer, kHead, 7});
  for (const Side side : {Side::run, Side::difference}) {
    ViewContext c = on(side, "scores", s, 900, 800);
    set(c, "score-stage", "3");
    EXPECT_GE(largest_said(c), 150) << "at the end of the colour bar";
  }
}

TEST(EditedAttention, ARolloutSaysThatItsRowsSumToOneOnlyIfTheyDo) {
  const auto subtitle = [](const char* edits) {
    return ViewFixture("heatmap", scenario_of(edits), 1200, 900, {{"cell-values", "rollout"}})
        .picture()
        .subtitle;
  };
  for (const char* even : {"", "L1H3.z=0", "L3H1.pattern[5,2]=0.5", "mask=none"})
    EXPECT_THAT(subtitle(even), HasSubstr("rows sum to 1")) << even;
  for (const char* odd : {"L1.pattern=0", "L1H3.pattern[5,2]=0.5", "L2H2.scores[5,*]=null"})
    EXPECT_THAT(subtitle(odd), Not(HasSubstr("sum to 1"))) << odd;
}

TEST(EditedVectors, WhatIsOfTheWeightsAloneIsNotCalledEdited) {
  const Scenario s = scenario_of("L2H1.z=0");
  EXPECT_THAT(caption(*find_view("heatmap"), s.context(900, 600)), HasSubstr("with head L2 H1 zeroed"));
  for (const char* view : {"circuits", "positions", "cosines", "parameters"})
    EXPECT_THAT(caption(*find_view(view), s.context(900, 600)), Not(HasSubstr("head L2 H1 zeroed"))) << view;
}

TEST(EditedVectors, EditsOfPositionsBeyondThePromptAreNotNamed) {
  const Scenario s = scenario_of("L2H1.z[200]=0; L3H0.z=0"), none = scenario_of("L2H1.z[200]=0");
  EXPECT_THAT(caption(*find_view("heatmap"), s.context(900, 600)), HasSubstr("with head L3 H0 zeroed"));
  EXPECT_THAT(caption(*find_view("heatmap"), none.context(900, 600)), Not(HasSubstr("with")));
}

TEST(EditedAttention, AQueryWithoutKeysHasWeightsOfZeroByDefinition) {
  const std::vector<std::string> said = texts_of("score", "L2H1.scores[5,*]=null");
  EXPECT_THAT(said, Contains("by definition"));
  EXPECT_THAT(said, Not(Contains(HasSubstr("NaN"))));
}

TEST(EditedAttention, TheLargestEntropyIsOfTheKeysThatAreSeen) {
  const auto subtitle = [](const char* edits) {
    return ViewFixture("softmax", scenario_of(edits, {kLayer, kHead, 3}), 1200, 700).picture().subtitle;
  };
  EXPECT_THAT(subtitle("L2H1.scores[3,0-1]=null"), HasSubstr(" of 1 bits"));
  EXPECT_THAT(subtitle("L2H1.pattern[1,2]=0.5"), HasSubstr(" of 2 bits")) << "of other queries";
}

}  // namespace
}  // namespace headscope::app::edited_run_test
