// The sources of a score: the picture against the answer, clicks, and the sums in the table.
#include "app/run/analyses/score_sources.h"

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::score_sources_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 1;

/// The last number of the first row that begins with a name.
double in_table(const Table& table, const std::string& name) {
  for (const auto& row : table.rows)
    if (row[0] == name) return std::stod(row[6]);
  ADD_FAILURE() << "no row " << name;
  return 0;
}

TEST(ScoreSourcesView, TheTableHasEveryPairAndAddsUp) {
  for (const int layer : {0, 2, 5}) {
    Scenario s(kRobot);
    s.select({layer, 1, 6, 3});
    const auto a = s.ask(ScoreSourcesOf{layer, 1, 6, 3});
    const Table table = ViewFixture("score_sources", s, 1000, 700).table();
    ASSERT_EQ(std::ssize(table.rows), a->count() * a->count() + 2 * a->count() + 5);
    double sum = 0;
    for (int i = 0; i < a->count(); ++i)
      for (int j = 0; j < a->count(); ++j) {
        const auto& row = table.rows[static_cast<std::size_t>(i * a->count() + j)];
        EXPECT_EQ(std::stod(row[6]), a->product(i, j));
        sum += std::stod(row[6]);
      }
    EXPECT_NEAR(sum, in_table(table, "sum"), 1e-9);
    EXPECT_EQ(in_table(table, "score of the model"), a->score);
    EXPECT_NEAR(in_table(table, "sum") + in_table(table, "rounding error"), a->score, 1e-9);
  }
}

TEST(ScoreSourcesView, NamesPartsInTheTable) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const Table table = ViewFixture("score_sources", s, 1000, 700).table();
  const std::vector<std::string> first{table.rows[0].begin(), table.rows[0].begin() + 6};
  EXPECT_THAT(first, ElementsAre("token embedding", "", "", "token embedding", "", ""));
  const auto& head = table.rows[2 * 14 + 11];  // L0 H0 and the MLP
  EXPECT_THAT(std::vector<std::string>(head.begin(), head.begin() + 6),
              ElementsAre("L0 H0", "0", "0", "L0 MLP", "0", ""));
  const auto& biases = table.rows[13 * 14 + 13];
  EXPECT_EQ(biases[0] + ", " + biases[3], "W_Q bias, W_K bias");
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

TEST(ScoreSourcesView, ListsTheStrongestFirst) {
  Scenario s(kRobot, {2, 1, 6, 3});
  const auto a = s.ask(ScoreSourcesOf{2, 1, 6, 3});
  for (const char* list : {"pairs", "query", "key"}) {
    const ViewFixture shown("score_sources", s, 1300, 2400, {{"score-list", list}});
    std::vector<double> values;
    for (const int row : shown.all_of(kListRole))
      values.push_back(app::testing::number_after(shown.tooltip(row), "scaled score ")->value);
    EXPECT_TRUE(std::ranges::is_sorted(values, std::greater<>(), [](double v) { return std::abs(v); }))
        << list;
    ASSERT_EQ(std::ssize(values), std::string(list) == "pairs" ? 60 : a->count());
    double largest = 0;
    for (int i = 0; i < a->count(); ++i) {
      if (std::string(list) == "query") largest = std::max(largest, std::abs(a->of_query(i)));
      if (std::string(list) == "key") largest = std::max(largest, std::abs(a->of_key(i)));
      for (int j = 0; j < a->count() && std::string(list) == "pairs"; ++j)
        largest = std::max(largest, std::abs(a->product(i, j)));
    }
    EXPECT_NEAR(std::abs(values[0]), largest, 1e-6);
    EXPECT_THAT(texts(shown.scene()), Contains(viz::fixed_number(a->sum(), 4)));
  }
}

TEST(ScoreSourcesView, LayersTakeHeadsTogether) {
  Scenario s(kRobot, {2, 1, 6, 3});
  const ScoreSources layers = heads_together(*s.ask(ScoreSourcesOf{2, 1, 6, 3}));
  const ViewFixture shown("score_sources", s, 1300, 900, {{"score-parts", "layers"}});
  EXPECT_EQ(shown.region(kGrid).row_count, layers.count());
  EXPECT_THAT(texts(shown.scene()), Contains("L1 attention"));
  EXPECT_THAT(
      shown.tooltip(kGrid, 4, 2),
      Contains("scaled score " + exact(static_cast<double>(static_cast<float>(layers.product(4, 2))))));
  EXPECT_TRUE(shown.click(kGrid, 4, 2).empty()) << "several heads";
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

TEST(ScoreSourcesView, SaysWhatIsTheSameForEveryKey) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const ViewFixture shown("score_sources", s, 1600, 1000);
  const std::string words = "the same for every key: no effect on the weight";
  for (int col = 0; col < 14; ++col)
    EXPECT_EQ(std::ranges::count(shown.tooltip(kGrid, 3, col), words), col >= 12 ? 1 : 0) << col;
  // It is: the columns of the biases have one sum for all keys.
  const auto a = s.ask(ScoreSourcesOf{1, 2, 6, 3}), b = s.ask(ScoreSourcesOf{1, 2, 6, 0});
  for (const int bias : {12, 13}) EXPECT_NEAR(a->of_key(bias), b->of_key(bias), 1e-9);
  EXPECT_GT(std::abs(a->of_key(11) - b->of_key(11)), 1e-3);
}

TEST(ScoreSourcesView, TakesTheStrongestKeyUnlessOneIsChosen) {
  Scenario s(kRobot, {3, 2, 6, -1});
  int strongest = 0;
  for (int key = 0; key <= 6; ++key)
    if (s.weight(6, key) > s.weight(6, strongest)) strongest = key;
  const ViewFixture shown("score_sources", s, 1300, 900);
  EXPECT_THAT(texts(shown.scene()), Contains("Score sources: " + token_name(s.run->tokens, 6) + " → " +
                                             token_name(s.run->tokens, strongest)));
}

TEST(ScoreSourcesView, EditsHaveAPartOfTheirOwn) {
  const Scenario s = with_edits("L1.resid_mid[*][3]+=2", {2, 1, 6, 3});
  const auto a = s.ask(ScoreSourcesOf{2, 1, 6, 3});
  ASSERT_TRUE(a->edited());
  const ViewFixture shown("score_sources", s, 1300, 1600, {{"score-list", "query"}});
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("edits: what they add outside the other parts")));
  bool found = false;
  for (const int row : shown.all_of(kListRole)) {
    if (shown.tooltip(row)[0] != "edits in q × all of k") continue;
    found = true;
    EXPECT_THAT(shown.tooltip(row), Contains("scaled score " + exact(a->of_query(a->count() - 1))));
  }
  EXPECT_TRUE(found);
}

TEST(ScoreSourcesView, SaysWhatReplacesTheScore) {
  const Scenario set = with_edits("L2H1.scores[6,3]=1.5", {2, 1, 6, 3});
  EXPECT_THAT(texts(ViewFixture("score_sources", set, 1300, 900).scene()),
              Contains("an edit replaces this score by 1.5000"));
  const Scenario plain(kRobot, {2, 1, 6, 3});
  EXPECT_THAT(texts(ViewFixture("score_sources", plain, 1300, 900).scene()),
              Not(Contains(HasSubstr("an edit replaces"))));
}

TEST(ScoreSourcesView, ADifferenceIsThatOfTheProducts) {
  const Scenario s = edited("L1.attn_out[*][7]*=0.5", {3, 2, 6, 3});
  const auto d = s.ask_difference(ScoreSourcesOf{3, 2, 6, 3});
  const Table table = table_of(Side::difference, "score_sources", s);
  EXPECT_EQ(table.header[6], "change of scaled score");
  EXPECT_EQ(std::stod(table.rows[0][6]), d->product(0, 0));
  EXPECT_EQ(in_table(table, "score of the model"), d->score);
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
  EXPECT_EQ(in_table(table, "token embedding"), std::stod(table.rows[0][6]));
  EXPECT_TRUE(std::isnan(in_table(table, "sum")));
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("all products NaN")));
}

}  // namespace
}  // namespace headscope::app::score_sources_test
