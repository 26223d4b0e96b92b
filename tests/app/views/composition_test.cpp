// Circuits and composition of heads: the numbers are the answers', and clicks choose the receiver.
#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::composition_test {
namespace {

constexpr int kRaised = 0;

/// Compares the ids and numbers of the highest and lowest tokens.
void expect_rows(const Table& table, const auto& tokens) {
  EXPECT_EQ(fact_of(table, "rank"), tokens.own_rank + 1);
  EXPECT_EQ(fact_of(table, "token id"), tokens.own.id);
  EXPECT_EQ(fact_of(table, table.columns[3].name.ends_with("logit") ? "logit" : "score"),
            decimal(tokens.own.logit));
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), tokens.up.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][1], std::to_string(tokens.up[i].id));
    EXPECT_EQ(rows[i][3], plain(tokens.up[i].logit));
    EXPECT_EQ(rows[i][6], plain(tokens.down[i].logit));
  }
}

TEST(Circuits, ShowWhatTheHeadWritesAtTheChosenKey) {
  Scenario s("A robot must obey the orders");
  const std::vector<int> ids = s.run->tokens.ids();
  for (const int key : {-1, 1}) {
    s.select({3, 2, 4, key});
    const auto tokens = s.ask(TokensOfHead{3, 2, {}, ids[key < 0 ? 4 : key]});
    const ViewFixture shown("circuits", s, 900, 600);
    EXPECT_EQ(ids_of_role(shown.picture(), kRaised).size(), tokens->up.size());
    expect_rows(shown.table(), *tokens);
  }
}

TEST(Circuits, ShowWhatTheHeadLooksFor) {
  const Scenario s("A robot must obey the orders", {3, 2, 4, 1});
  for (const bool mlp : {false, true}) {
    const auto keys = s.ask(KeysOfToken{3, 2, {mlp, true}, s.run->tokens.ids()[4]});
    const ViewFixture shown("circuits", s, 900, 600,
                            {{"circuit", "keys"}, {"first-mlp", mlp ? "yes" : "no"}});
    expect_rows(shown.table(), *keys);
  }
}

TEST(Circuits, ShowTheStrongestPairs) {
  Scenario s("A robot must obey the orders", {1, 3, 4, -1});
  const auto pairs = s.ask(PairsOfHead{1, 3, {false, false}});
  const ViewFixture shown("circuits", s, 1000, 600, {{"circuit", "pairs"}, {"token-norm", "no"}});
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), pairs->strongest.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][1], std::to_string(pairs->strongest[i].row));
    EXPECT_EQ(rows[i][3], std::to_string(pairs->strongest[i].col));
    EXPECT_EQ(rows[i][5], plain(pairs->strongest[i].value));
  }
}

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 1;

TEST(CompositionView, TheTableHasEveryPairWithTheBaseline) {
  const Scenario s(kRobot);
  for (const auto& [name, kind] :
       {std::pair("q", CompositionKind::q), {"k", CompositionKind::k}, {"v", CompositionKind::v}}) {
    const Table table = ViewFixture("composition", s, 1000, 700, {{"composition", name}}).table();
    const auto rows = text_rows(table);
    const auto c = s.ask(CompositionOf{kind});
    ASSERT_EQ(rows.size(), 8U * 8U * 15U) << "pairs of layers times pairs of heads";
    EXPECT_EQ(std::get<std::string>(std::ranges::find(table.facts, "kind", &TableFact::name)->value), name);
    EXPECT_EQ(fact_of(table, "random"), c->baseline);
    for (const auto& row : rows) {
      const int sender = 8 * std::stoi(row[0]) + std::stoi(row[1]),
                receiver = 8 * std::stoi(row[2]) + std::stoi(row[3]);
      ASSERT_TRUE(c->is_pair(sender, receiver));
      ASSERT_EQ(std::stof(row[4]), c->value(sender, receiver));
      ASSERT_EQ(std::stod(row[5]), c->excess(sender, receiver));
    }
  }
}

TEST(CompositionView, ListsTheStrongestPairsOfAllOrOfTheChosenHead) {
  Scenario s(kRobot, {2, 3, -1});
  const auto c = s.ask(CompositionOf{});
  for (const bool chosen : {false, true}) {
    const ViewFixture shown("composition", s, 1300, 4000, {{"composition-pairs", chosen ? "chosen" : "all"}});
    const auto expected = strongest_pairs(*c, chosen ? 0 : 60, false, chosen ? 19 : -1);
    const std::vector<int> rows = shown.all_of(kListRole);
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(shown.tooltip(rows[i])[0], head_name(expected[i].sender / 8, expected[i].sender % 8) + " → " +
                                               head_name(expected[i].receiver / 8, expected[i].receiver % 8));
    EXPECT_EQ(expected.size(), chosen ? 16U + 24U : 60U) << "16 senders, 24 receivers";
  }
}

TEST(CompositionView, SaysWhereThereIsNoNumber) {
  const TemporaryFolder folder;
  write_model_with_nan(folder, "h.0.attn.c_proj.weight");
  const Scenario s(Prompt{kRobot, {}, false}, {1, 0, -1}, load_model(folder.path(), {}));
  const ViewFixture shown("composition", s, 900, 700);
  EXPECT_EQ(senseless_item(shown.scene()), -1);
  EXPECT_TRUE(std::isnan(numbers_of(shown.table(), "composition")[0]));
}

}  // namespace
}  // namespace headscope::app::composition_test
