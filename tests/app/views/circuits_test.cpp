// The view of head circuits: its numbers equal the answer, for the selected key or the query.

#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::circuits_test {
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
    const auto tokens = s.ask(TokensOfHead{3, 2, ids[key < 0 ? 4 : key]});
    const ViewFixture shown("circuits", s, 900, 600);
    EXPECT_EQ(ids_of_role(shown.picture(), kRaised).size(), tokens->up.size());
    expect_rows(shown.table(), *tokens);
  }
}

TEST(Circuits, ShowWhatTheHeadLooksFor) {
  const Scenario s("A robot must obey the orders", {3, 2, 4, 1});
  for (const bool mlp : {false, true}) {
    const auto keys = s.ask(KeysOfToken{3, 2, s.run->tokens.ids()[4], {mlp, true}});
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

}  // namespace
}  // namespace headscope::app::circuits_test
