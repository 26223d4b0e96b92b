// The picture of a sweep compared with the answer, complete and partial, and the commands of its cells.

#include "app/run/analyses/sweep.h"

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::sweep_test {
namespace {

constexpr int kGrid = 0;  // index of the region

SweepOf of_heads(const Scenario& s) {
  return {.measured = difference_at(s.selection.query)};
}

TEST(SweepView, HeadsAtPositionsHaveARowEach) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 900, {{"sweep-over", "head-position"}});
  const auto sweep =
      s.ask(SweepOf{.over = SweepOver::head_positions, .measured = difference_at(s.selection.query)});
  const int heads = s.config().n_head, layers = s.config().n_layer;
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, layers * heads);
  ASSERT_EQ(grid.col_count, s.selection.query + 1);
  for (const auto& [layer, head, position] :
       {std::tuple(0, 0, 3), std::tuple(2, 7, 1), std::tuple(5, 3, 6)}) {
    const int row = layer * heads + head;
    const double difference = sweep->difference(Metric::difference, layer, head * grid.col_count + position);
    EXPECT_THAT(shown.tooltip(kGrid, row, position), Contains(HasSubstr(exact(difference))));
    EXPECT_EQ(
        in_words(shown.click(kGrid, row, position)),
        "head " + std::to_string(layer) + " " + std::to_string(head) + ", key " + std::to_string(position));
  }
  const viz::Hit cell{kGrid, 4 * heads + 3, 2};
  const auto row = find_view("sweep")->on(shown.context(), shown.picture(), &cell,
                                          {Gesture::Kind::double_click, {}, {}, {.shift = true}});
  EXPECT_EQ(std::get<ToggleEdit>(row.at(0)).edit, parse_edits("L4H3.z=0", *bundled()).at(0))
      << "the head's row";
}

TEST(SweepView, NeuronsAreAListTheStrongestFirst) {
  const Scenario s(kRobot);
  const NamedOptions options{{"sweep-over", "neurons"}, {"sweep-neurons", "12"}};
  const ViewFixture shown("sweep", s, 900, 600, options);
  const SweepOf question{.over = SweepOver::neurons,
                         .site = model::Site::mlp_post,
                         .measured = difference_at(s.selection.query),
                         .neurons = 12};
  const Table table = shown.table();
  ASSERT_EQ(table.rows(), 12U);
  const auto changes = numbers_of(table, "change");
  EXPECT_TRUE(
      std::ranges::is_sorted(changes, std::greater(), [](double change) { return std::abs(change); }));
  const auto layers = numbers_of(table, "layer"), neurons = numbers_of(table, "neuron");
  for (int row = 0; row < 12; ++row)
    EXPECT_EQ(shown.tooltip(row).front(),
              neuron_name(static_cast<int>(layers[row]), static_cast<int>(neurons[row])));
  // Without the exact differences they are in the order of their estimates.
  Sweep part = *s.ask(question);
  part.known.assign(part.known.size(), false);
  OneAnswer answers(question, part, false);
  const ViewFixture begun("sweep", s.context(900, 600, answers), options);
  EXPECT_EQ(begun.tooltip(0).front(), neuron_name(part.neurons[0].layer, part.neurons[0].neuron));
}

TEST(SweepView, MarksTheCellsThatTheRunEditsAlready) {
  std::vector<int> aligned(static_cast<std::size_t>(Scenario(kRobot).length()), -1);
  aligned[1] = 0, aligned[2] = 3, aligned[4] = 4;
  const PatchPrompt other{std::vector<int>(aligned.size(), 11), aligned};
  const std::pair<SweepOver, int> grids[] = {{SweepOver::heads, 8},
                                             {SweepOver::positions, 5},
                                             {SweepOver::senders, 9},
                                             {SweepOver::head_positions, 40}};
  for (const auto& [over, columns] : grids)
    for (const SweepEdit kind : {SweepEdit::zero, SweepEdit::mean, SweepEdit::patch}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(over)) + " " + std::to_string(static_cast<int>(kind)));
      const SweepOf question{.over = over,
                             .site = sites_of(over).front(),
                             .receiver = {{{model::Site::q, 3}, 2, {}, {}}, 8},
                             .edit = kind,
                             .from = other,
                             .measured = difference_at(4)};
      Sweep grid;
      grid.layers = 6, grid.columns = columns;
      grid.known.assign(static_cast<std::size_t>(6 * columns), true);
      EditList list;
      for (const model::Edit& edit :
           parse_edits("L1.z=0; L3H1.z[0,2]=0; L2.resid_pre[1,3]=0; L4.resid_pre=0; "
                       "L3H1.q=0; L5H2.z=0; L1H1.z=0 -> L4H2.q",
                       *bundled()))
        list = with_edit(list, edit);
      std::vector<std::size_t> added;
      for (const auto& [layer, column] : {std::pair(2, 2), {2, 4}, {2, 1}, {0, 4}, {1, 2}})
        for (const model::Edit& edit : question.edits(layer, column)) {
          list = with_joined_edit(list, edit);
          added.push_back(static_cast<std::size_t>(layer * columns + column));
        }
      const auto applied =
          sweep::applied_cells(*Scenario(Prompt{kRobot, {}, false, list.active()}).run, question, grid);
      EXPECT_THAT(applied, IsSupersetOf(added));
      for (const std::size_t cell : applied)
        EXPECT_EQ(with_joined_edit(list, question.edits(question.place_of(grid, cell)).at(0)), list);
    }
}

TEST(SweepView, TheTableHasEveryEdit) {
  const Scenario s(kRobot);
  for (const auto& [name, metric] :
       {std::pair("logit", Metric::logit), std::pair("difference", Metric::difference),
        std::pair("probability", Metric::probability), std::pair("kl", Metric::divergence)}) {
    const ViewFixture shown("sweep", s, 900, 600,
                            {{"sweep-metric", name},
                             {"sweep-over", "layer-position"},
                             {"sweep-site", "mlp_out"},
                             {"sweep-change", "mean"}});
    const auto sweep = s.ask(SweepOf{.over = SweepOver::positions,
                                     .site = model::Site::mlp_out,
                                     .edit = SweepEdit::mean,
                                     .measured = difference_at(s.selection.query)});
    const Table table = shown.table();
    ASSERT_EQ(std::ssize(text_rows(table)), s.config().n_layer * s.length());
    EXPECT_EQ(fact_of(table, "before"), sweep->before.of(metric));
    const auto layers = numbers_of(table, "layer"), positions = numbers_of(table, "position"),
               changes = numbers_of(table, "change"), edited = numbers_of(table, "with the edit");
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const int layer = static_cast<int>(layers[row]), position = static_cast<int>(positions[row]);
      EXPECT_EQ(changes[row], sweep->difference(metric, layer, position));
      EXPECT_EQ(edited[row], sweep->at(layer, position).of(metric));
    }
  }
}

TEST(SweepView, CellsThatAreEstimatedAreInTheTableBesideTheExactOnes) {
  const Scenario s(kRobot);
  Sweep part = *s.ask(of_heads(s));
  for (std::size_t i = 12; i < part.known.size(); ++i) part.known[i] = false;
  OneAnswer answers(of_heads(s), part, false);
  const ViewFixture shown("sweep", s.context(900, 600, answers));
  const Table table = shown.table();
  ASSERT_EQ(table.rows(), 48U);
  EXPECT_EQ(numbers_of(table, "estimated change")[12], part.estimate(Metric::difference, 1, 4));
  EXPECT_TRUE(is_no_number(numbers_of(table, "change")[12])) << "not known yet";
  EXPECT_FALSE(is_no_number(numbers_of(table, "change")[11]));
  EXPECT_EQ(fact_of(table, "rank correlation"), part.estimate_correlation(Metric::difference));
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("first-order estimates")));
  ViewContext exact = s.context(900, 600);
  EXPECT_THAT(texts(ViewFixture("sweep", exact).scene()), Contains(HasSubstr("rank correlation")));
  exact.printed = true;
  EXPECT_THAT(texts(ViewFixture("sweep", exact).scene()), Not(Contains(HasSubstr("estimates"))));
}

TEST(SweepView, ACellSelectsAndGivesItsEdit) {
  Scenario s(kRobot);
  const ViewFixture heads("sweep", s, 900, 600);
  EXPECT_EQ(in_words(heads.click(kGrid, 4, 3)), "head 4 3");
  const ViewActions copied = heads.choose("Copy the edit “L4 H3 off”", kGrid, 4, 3);
  ASSERT_EQ(copied.size(), 1U);
  EXPECT_EQ(parse_edits(std::get<CopyText>(copied[0]).text, *bundled()), of_heads(s).edits(4, 3));
  const viz::Hit cell{kGrid, 4, 3};
  const auto edit_of = [&](bool shift) {
    const ViewActions actions = find_view("sweep")->on(
        heads.context(), heads.picture(), &cell, {Gesture::Kind::double_click, {}, {}, {.shift = shift}});
    return std::get<ToggleEdit>(actions.at(0)).edit;
  };
  EXPECT_EQ(edit_of(false), of_heads(s).edits(4, 3).at(0));
  EXPECT_EQ(edit_of(true), parse_edits("L4.z=0", *bundled()).at(0)) << "all heads of the layer";
  const ViewFixture positions("sweep", s, 900, 600, {{"sweep-over", "layer-position"}});
  EXPECT_EQ(in_words(positions.click(kGrid, 3, 5)), "head 3 1, key 5");
}

TEST(SweepView, PatchesFromWhatTheRunIsComparedWithAndSaysWhatThatRestores) {
  Scenario s(kRobot);
  std::vector<int> ids = s.run->run->tokens;
  ids[2] = ids[5];
  s.compare(Prompt{"", ids});
  SweepOf question = of_heads(s);
  question.edit = SweepEdit::patch;
  question.from = patch_prompt_of(*s.run);
  const ViewFixture shown("sweep", s, 900, 600, {{"sweep-change", "patch"}});
  EXPECT_THAT(texts(shown.scene()), Contains("Each head patched from the second prompt"));
  const auto menu = find_view("sweep")->facts(shown.context(), shown.picture(), {kGrid, 4, 3}).menu();
  const auto apply =
      std::ranges::find_if(menu, [](const auto& line) { return line.label.starts_with("Apply “"); });
  ASSERT_NE(apply, menu.end());
  EXPECT_EQ(std::get<ToggleEdit>(apply->actions.at(0)).edit, question.edits(4, 3).at(0));
  const auto sweep = s.ask(question);
  model::Workspace workspace(1);
  const auto there =
      logits_after(*s.run->baseline, counterpart_of(*s.run, sweep->measured.position), {workspace});
  const double second = source_reading(*sweep, there).of(Metric::difference),
               before = sweep->before.of(Metric::difference);
  const Table table = shown.table();
  EXPECT_NEAR(fact_of(table, "second"), second, 1e-6);
  EXPECT_NEAR(numbers_of(table, "restored")[4 * 8 + 3],
              sweep->difference(Metric::difference, 4, 3) / (second - before), 1e-6);
}

TEST(SweepView, PathsLeadFromEachSenderToTheReceiver) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 700,
                          {{"sweep-over", "senders"},
                           {"sweep-receiver", "q"},
                           {"sweep-receiver-layer", "3"},
                           {"sweep-receiver-head", "2"}});
  const auto sweep = s.ask(SweepOf{.over = SweepOver::senders,
                                   .receiver = {{{model::Site::q, 3}, 2, {}, {}}, s.config().n_head},
                                   .measured = difference_at(s.selection.query)});
  const int mlp = s.config().n_head;
  ASSERT_EQ(shown.region(kGrid).col_count, mlp + 1);
  EXPECT_THAT(shown.tooltip(kGrid, 3, 1), ElementsAre("L3 H1", "not before the receiver"));
  const auto changes = numbers_of(shown.table(), "change");
  ASSERT_EQ(std::ssize(changes), 3 * (mlp + 1)) << "those before the receiver";
  for (int layer = 0; layer < 3; ++layer)
    for (int column = 0; column <= mlp; ++column)
      EXPECT_EQ(changes[layer * (mlp + 1) + column], sweep->difference(Metric::difference, layer, column));
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 3)), "head 1 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 8)), "head 1 1") << "the MLP's layer";
  const ViewActions applied = shown.choose("Apply “L1 H3 off on the direct path to L3 H2 q”", kGrid, 1, 3);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(applied[0]).edit, parse_edits("L1H3.z=0 -> L3H2.q", *bundled()).at(0));
  EXPECT_EQ(in_words(ViewFixture("sweep", s, 900, 600).choose("Show paths into L4 H5 q", kGrid, 4, 5)),
            "sweep-over senders, sweep-receiver q, sweep-receiver-layer 4, sweep-receiver-head 5");
}

}  // namespace
}  // namespace headscope::app::sweep_test
