// The view of composition: its numbers are the answer's, clicks choose the receiver, and two models have a
// difference.
#include "app/run/analyses/head_circuit.h"

#include "app/views/parts/names.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::composition_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 1;

/// The number of a pair in the table.
float in_table(const Table& table, int sender, int receiver) {
  for (const auto& row : text_rows(table))
    if (8 * std::stoi(row[0]) + std::stoi(row[1]) == sender &&
        8 * std::stoi(row[2]) + std::stoi(row[3]) == receiver)
      return std::stof(row[4]);
  return std::nanf("");
}

TEST(CompositionView, TheTableHasEveryPairWithTheBaseline) {
  const Scenario s(kRobot);
  for (const auto& [name, kind] :
       {std::pair("q", CompositionKind::q), {"k", CompositionKind::k}, {"v", CompositionKind::v}}) {
    const Table table = ViewFixture("composition", s, 1000, 700, {{"composition", name}}).table();
    const auto rows = text_rows(table);
    const auto c = s.ask(CompositionOf{kind});
    ASSERT_EQ(rows.size(), 8U * 8U * 15U) << "pairs of layers times pairs of heads";
    EXPECT_EQ(facts_of(table).at("kind"), name);
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

TEST(CompositionView, AClickChoosesTheReceiver) {
  const Scenario s(kRobot);
  const ViewFixture shown("composition", s, 1300, 900);
  const int sender = 19, receiver = 38;  // L2 H3, L4 H6
  const int col = receiver - 8;
  EXPECT_EQ(in_words(shown.click(kGrid, sender, col)), "head 4 6");
  EXPECT_TRUE(shown.click(kGrid, sender, 2).empty()) << "the receiver is in an earlier layer";
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

TEST(CompositionView, TwoModelsHaveADifference) {
  const SecondModelFolder folder;
  Scenario s(kRobot);
  EXPECT_FALSE(can_show_difference(*find_view("composition"), s.context(900, 700)));
  const Scenario other(Prompt{kRobot, {}, false}, {2, 1, -1}, load_model(folder.path(), {}));
  PromptRun both = *s.run;
  compare_with(both, other.run, Alignment::position);
  const Scenario compared(std::move(both));
  const Table table = table_of(Side::difference, "composition", compared);
  const auto a = s.ask(CompositionOf{}), b = other.ask(CompositionOf{});
  EXPECT_EQ(in_table(table, 19, 38), a->value(19, 38) - b->value(19, 38));
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
