// The view of composition: its numbers are the answer's, clicks choose both heads, and two models have a
// difference.
#include "app/run/analyses/composition.h"

#include "app/views/parts/names.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "viz/scene/scale.h"

namespace headscope::app::composition_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 1;

/// The numbers of a pair in the table: composition, random, above random.
std::vector<double> in_table(const Table& table, int sender, int receiver) {
  for (const auto& row : table.rows)
    if (8 * std::stoi(row[0]) + std::stoi(row[1]) == sender &&
        8 * std::stoi(row[2]) + std::stoi(row[3]) == receiver) {
      std::vector<double> numbers;
      for (std::size_t i = 4; i < row.size(); ++i) numbers.push_back(std::stod(row[i]));
      return numbers;
    }
  ADD_FAILURE() << "no pair " << sender << " " << receiver;
  return {0, 0, 0};
}

TEST(CompositionView, TheTableHasEveryPairWithTheBaseline) {
  const Scenario s(kRobot);
  for (const char* kind : {"q", "k", "v"}) {
    const ViewFixture shown("composition", s, 1000, 700, {{"composition", kind}});
    const Table table = shown.table();
    const auto c = s.ask(CompositionOf{kind[0] == 'q'   ? CompositionKind::q
                                       : kind[0] == 'k' ? CompositionKind::k
                                                        : CompositionKind::v});
    ASSERT_EQ(table.rows.size(), 8U * 8U * 15U) << "pairs of layers times pairs of heads";
    EXPECT_EQ(table.header[4], std::string(kind) + " composition");
    for (int sender = 0; sender < c->heads(); ++sender)
      for (int receiver = 0; receiver < c->heads(); ++receiver) {
        if (!c->is_pair(sender, receiver)) continue;
        const auto numbers = in_table(table, sender, receiver);
        ASSERT_EQ(static_cast<float>(numbers[0]), c->value(sender, receiver));
        ASSERT_EQ(numbers[1], 1 / std::sqrt(255.0));
        ASSERT_EQ(numbers[2], c->excess(sender, receiver));
      }
  }
}

TEST(CompositionView, TheMouseTellsTheNumberAndAClickChoosesBothHeads) {
  const Scenario s(kRobot);
  const ViewFixture shown("composition", s, 1300, 900);
  const auto c = s.ask(CompositionOf{});
  const viz::Region& grid = shown.region(kGrid);
  EXPECT_EQ(grid.row_count, 40);
  EXPECT_EQ(grid.col_count, 40);
  const int sender = 19, receiver = 38;  // L2 H3, L4 H6
  const int col = receiver - 8;
  EXPECT_THAT(shown.tooltip(kGrid, sender, col),
              ElementsAre("L2 H3 → L4 H6", "Q-composition " + exact(c->value(sender, receiver)),
                          "above random " + exact(c->excess(sender, receiver)),
                          "random matrices: " + exact(1 / std::sqrt(255.0))));
  const ViewActions actions = shown.click(kGrid, sender, col);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<SelectHead>(actions[0]).layer, 4);
  EXPECT_EQ(std::get<SelectHead>(actions[0]).head, 6);
  const auto& option = std::get<SetOption>(actions[1]);
  EXPECT_EQ(option.option->name, "senders");
  EXPECT_EQ(std::get<std::vector<int>>(option.value), std::vector<int>{head_number(2, 3)});
  EXPECT_EQ(in_words(shown.choose("Show L2 H3", kGrid, sender, col)), "head 2 3");
  EXPECT_EQ(in_words(shown.choose("Show L4 H6", kGrid, sender, col)), "head 4 6");
  EXPECT_EQ(
      in_words(shown.choose("Copy above random " + exact(c->excess(sender, receiver)), kGrid, sender, col)),
      "copy " + plain(c->excess(sender, receiver)));
  EXPECT_TRUE(shown.click(kGrid, sender, 2).empty()) << "the receiver is in an earlier layer";
  EXPECT_TRUE(shown.tooltip(kGrid, sender, 2).empty());
  EXPECT_EQ(in_words(shown.press(Key::up)), "head by -1 0");
}

TEST(CompositionView, ColoursAreSigned) {
  const Scenario s(kRobot);
  const ViewFixture shown("composition", s, 1300, 900);
  const auto c = s.ask(CompositionOf{});
  double largest = 0;
  for (const ComposedPair& pair : strongest_pairs(*c, 0)) largest = std::max(largest, std::abs(pair.excess));
  const viz::ColorTable expected(viz::diverging_scale(largest), light());
  for (int sender = 0; sender < 40; sender += 3)
    for (int receiver = 8; receiver < 48; ++receiver) {
      const auto color = shown.color_of(kGrid, sender, receiver - 8);
      if (!c->is_pair(sender, receiver)) {
        EXPECT_TRUE(!color || color->a == 0);
        continue;
      }
      ASSERT_TRUE(color);
      EXPECT_LE(channel_difference(*color, expected(static_cast<float>(c->excess(sender, receiver)))), 3);
    }
}

TEST(CompositionView, ListsTheStrongestPairsOfAllOrOfTheChosenHead) {
  Scenario s(kRobot, {2, 3, -1});
  const auto c = s.ask(CompositionOf{});
  for (const bool chosen : {false, true}) {
    const ViewFixture shown("composition", s, 1300, 2400, {{"composition-pairs", chosen ? "chosen" : "all"}});
    const auto expected = strongest_pairs(*c, chosen ? 0 : 60, false, chosen ? 19 : -1);
    const std::vector<int> rows = shown.all_of(kListRole);
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(shown.tooltip(rows[i])[0], head_name(expected[i].sender / 8, expected[i].sender % 8) + " → " +
                                               head_name(expected[i].receiver / 8, expected[i].receiver % 8));
    EXPECT_EQ(expected.size(), chosen ? 16U + 24U : 60U) << "16 senders, 24 receivers";
  }
}

TEST(CompositionView, MarksSendersAndSaysTheNumberOfTheMarkedPair) {
  Scenario s(kRobot, {4, 6, -1});
  const auto c = s.ask(CompositionOf{});
  const ViewFixture shown("composition", s, 1300, 900, {{"senders", "2.3"}});
  EXPECT_THAT(texts(shown.scene()),
              Contains("L2 H3 → L4 H6: " + viz::fixed_number(c->excess(19, 38), 4) + " above random"));
  const viz::Rect cell = shown.region(kGrid).cell_rect(19, 30);
  const auto frames = items_of<viz::StrokeRect>(shown.scene());
  EXPECT_TRUE(std::ranges::any_of(frames, [&](const viz::StrokeRect& frame) {
    return frame.rect.contains(cell.center()) && frame.rect.w < 2 * cell.w && frame.rect.h < 2 * cell.h;
  }));
  // A head that is none, of the last layer, or later than the receiver is not said.
  for (const char* sender : {"7.1", "5.1", "4.7", "none"}) {
    const ViewFixture none("composition", s, 1300, 900, {{"senders", sender}});
    EXPECT_THAT(texts(none.scene()), Not(Contains(HasSubstr(" → L4 H6: ")))) << sender;
  }
}

TEST(CompositionView, NamesLayersWhereHeadsHaveNoRoom) {
  const Scenario s(kRobot);
  const ViewFixture large("composition", s, 1600, 1400), small("composition", s, 600, 500);
  EXPECT_THAT(texts(large.scene()), Contains("L3 H5"));
  EXPECT_THAT(texts(small.scene()), ::testing::IsSupersetOf({"L0", "L4", "L5"}));
  EXPECT_THAT(texts(small.scene()), Not(Contains("L3 H5")));
}

TEST(CompositionView, PartsAreShownAsTheyCome) {
  Scenario s(kRobot);
  Composition part = *s.ask(CompositionOf{});
  part.done = 3;
  for (int sender = 0; sender < 48; ++sender)
    for (int receiver = 24; receiver < 48; ++receiver)
      part.values[static_cast<std::size_t>(sender) * 48 + static_cast<std::size_t>(receiver)] = std::nanf("");
  OneAnswer answers(CompositionOf{}, part, false);
  const ViewFixture shown("composition", s.context(1300, 900, answers));
  EXPECT_THAT(texts(shown.scene()), Contains("computing… receivers of layers up to 2"));
  EXPECT_EQ(shown.tooltip(kGrid, 3, 30)[1], "computing…");
  EXPECT_EQ(shown.table().rows.size(), 8U * 8U * 3U);
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
  EXPECT_EQ(table.header[4], "difference of q composition");
  const auto a = s.ask(CompositionOf{}), b = other.ask(CompositionOf{});
  EXPECT_EQ(static_cast<float>(in_table(table, 19, 38)[0]), a->value(19, 38) - b->value(19, 38));
  const ViewFixture shown("composition", on(Side::difference, "composition", compared, 1300, 900));
  EXPECT_THAT(texts(shown.scene()), Contains("Q-composition of heads: difference"));
  EXPECT_EQ(shown.tooltip(kGrid, 19, 30)[1],
            "difference in Q-composition " + exact(a->value(19, 38) - b->value(19, 38)));
}

TEST(CompositionView, SaysWhereThereIsNoNumber) {
  const TemporaryFolder folder;
  write_model_with_nan(folder, "h.0.attn.c_proj.weight");
  const Scenario s(Prompt{kRobot, {}, false}, {1, 0, -1}, load_model(folder.path(), {}));
  const ViewFixture shown("composition", s, 900, 700);
  EXPECT_EQ(senseless_item(shown.scene()), -1);
  EXPECT_EQ(shown.tooltip(kGrid, 0, 1)[1], "no number: one of the matrices is 0 or not finite");
  EXPECT_THAT(shown.tooltip(kGrid, 1, 1)[1], StartsWith("Q-composition "));
  EXPECT_EQ(shown.table().rows[0][4], "nan");
}

TEST(CompositionView, AModelOfOneLayerHasNone) {
  const TemporaryFolder folder;
  write_other_model(folder, {.layers = 1, .heads = 2, .width = 8, .positions = 64, .vocabulary = 4096});
  const Scenario s(Prompt{kRobot, {}, false}, {0, 1, -1}, load_model(folder.path(), {}));
  const ViewFixture shown("composition", s, 900, 700);
  EXPECT_THAT(texts(shown.scene()), Contains("a single layer: no head reads what another one writes"));
}

}  // namespace
}  // namespace headscope::app::composition_test
