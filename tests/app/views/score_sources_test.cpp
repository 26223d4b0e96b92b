// The sources of a score: the picture against the answer, clicks, and the sums in the table.
#include "app/run/analyses/score_sources.h"

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::score_sources_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
TEST(ScoreSourcesView, TheTableHasEveryPairAndAddsUp) {
  for (const int layer : {0, 2, 5}) {
    Scenario s(kRobot);
    s.select({layer, 1, 6, 3});
    const auto a = s.ask(ScoreSourcesOf{layer, 1, 6, 3});
    const Table table = ViewFixture("score_sources", s, 1000, 700).table();
    const std::vector<double> products = numbers_of(table, "scaled score");
    EXPECT_EQ(products, a->products);
    EXPECT_NEAR(std::accumulate(products.begin(), products.end(), 0.0), fact_of(table, "sum"), 1e-9);
    EXPECT_EQ(fact_of(table, "scaled score"), a->score);
    EXPECT_NEAR(fact_of(table, "sum") + fact_of(table, "rounding error"), a->score, 1e-9);
    EXPECT_EQ(fact_of(table, "weight"), decimal(s.ask(PatternOf{layer, 1})->matrix().at(6, 3)));
    const Table keys = ViewFixture("score_sources", s, 1000, 700, {{"score-list", "key"}}).table();
    EXPECT_EQ(numbers_of(keys, "scaled score")[1], a->of_key(1));
  }
}

/// With few parts the grid has them all; else the strongest, and all others together.
TEST(ScoreSourcesView, TheGridAddsUpToTheScore) {
  for (const int layer : {0, 1, 5}) {
    Scenario s(kRobot);
    s.select({layer, 1, 6, 3});
    const auto a = s.ask(ScoreSourcesOf{layer, 1, 6, 3});
    for (const auto& [width, height] : {std::pair{1600.F, 1000.F}, {900.F, 700.F}}) {
      const ViewFixture shown("score_sources", s, width, height);
      const viz::Region& grid = shown.region(kGrid);
      const bool all = grid.row_count == a->count();
      EXPECT_TRUE(all || layer > 0);
      EXPECT_LE(grid.row_count, 24);
      EXPECT_EQ(std::ranges::count(texts(shown.scene()), "others"), all ? 0 : 2);
      double sum = 0;
      for (int row = 0; row < grid.row_count; ++row)
        for (int col = 0; col < grid.col_count; ++col)
          sum += app::testing::number_after(shown.tooltip(kGrid, row, col), "scaled score ")->value;
      EXPECT_NEAR(sum, a->sum(), 1e-4);
    }
  }
}

TEST(ScoreSourcesView, AClickGoesToTheHeadThatWroteThePart) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const ViewFixture shown("score_sources", s, 1600, 1000);
  ASSERT_EQ(shown.region(kGrid).row_count, 14);
  EXPECT_EQ(in_words(shown.click(kGrid, 3, 5)), "head 0 3, query 3") << "that of k, which wrote at the key";
  EXPECT_EQ(in_words(shown.click(kGrid, 3, 0)), "head 0 1, query 6") << "an embedding is no head";
  EXPECT_TRUE(shown.click(kGrid, 0, 0).empty());
  const std::string at_query = "Show L0 H1 at query " + token_name(s.run->tokens, 6);
  EXPECT_EQ(in_words(shown.choose(at_query, kGrid, 3, 5)), "head 0 1, query 6");
}

TEST(ScoreSourcesView, ADifferenceIsThatOfTheProducts) {
  const Scenario s = edited("L1.attn_out[*][7]*=0.5", {3, 2, 6, 3});
  const auto d = s.ask_difference(ScoreSourcesOf{3, 2, 6, 3});
  const Table table = table_of(Side::difference, "score_sources", s);
  EXPECT_EQ(numbers_of(table, "difference of scaled score")[0], d->product(0, 0));
  EXPECT_EQ(fact_of(table, "difference of scaled score"), d->score);
  const ViewFixture shown("score_sources", on(Side::difference, "score_sources", s, 1300, 900));
  EXPECT_THAT(texts(shown.scene()), Contains(EndsWith(": difference")));
}

TEST(ScoreSourcesView, SaysWhichNumbersAreNone) {
  const TemporaryFolder folder;
  write_model_with_nan(folder, "h.1.attn.c_attn.bias");
  const Scenario s(Prompt{kRobot, {}, false}, {1, 0, 6, 3}, load_model(folder.path(), {}));
  const ViewFixture shown("score_sources", s, 1600, 1000);
  EXPECT_EQ(senseless_item(shown.scene()), -1);
  const Table table = shown.table();
  EXPECT_TRUE(std::isnan(fact_of(table, "sum")));
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("all products NaN")));
}

}  // namespace
}  // namespace headscope::app::score_sources_test
