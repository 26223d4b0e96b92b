// The view of sweeps over paths from senders to a receiver.

#include "app/run/analyses/sweep.h"

#include <numbers>
#include <set>

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::sweep_paths_test {
namespace {

constexpr int kGrid = 0;  // index of the region
const NamedOptions kPaths{{"sweep-over", "senders"},
                          {"sweep-receiver", "q"},
                          {"sweep-receiver-layer", "3"},
                          {"sweep-receiver-head", "2"}};

SweepOf of_paths(const Scenario& s) {
  return {.over = SweepOver::senders,
          .receiver = {{{model::Site::q, 3}, 2, {}, {}}, s.config().n_head},
          .position = s.selection.query};
}

TEST(SweepView, PathsLeadFromEachSenderToTheReceiver) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 700, kPaths);
  const SweepOf question = of_paths(s);
  const auto sweep = s.ask(question);
  const int mlp = s.config().n_head;
  ASSERT_EQ(shown.region(kGrid).col_count, mlp + 1);
  EXPECT_THAT(texts(shown.scene()),
              IsSupersetOf({"Paths into L3 H2 q, each sender zeroed", "MLP", "H0", "sender"}));
  EXPECT_THAT(shown.picture().subtitle, EndsWith("; direct paths, past other heads and MLPs"));
  EXPECT_THAT(texts(shown.scene()), Not(Contains(HasSubstr("estimates"))));
  for (const int layer : {0, 2})
    for (const int column : {1, mlp}) {
      const std::string name =
          column == mlp ? "L" + std::to_string(layer) + " MLP" : head_name(layer, column);
      EXPECT_THAT(shown.tooltip(kGrid, layer, column),
                  IsSupersetOf({name, edit_words(question.edits(layer, column).at(0)),
                                "from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                                    exact(sweep->at(layer, column).of(SweepMetric::difference))}));
    }
  EXPECT_THAT(shown.tooltip(kGrid, 3, 1), ElementsAre("L3 H1", "not before the receiver"));
  EXPECT_THAT(shown.tooltip(kGrid, 5, mlp), ElementsAre("L5 MLP", "not before the receiver"));
  Table table = shown.table();
  ASSERT_EQ(std::ssize(table.rows), s.config().n_layer * (mlp + 1) + 1);
  EXPECT_EQ(table.rows.back()[3], "none");
  table.rows.pop_back();
  EXPECT_EQ(table.header[1], "sender");
  EXPECT_THAT(table.rows[mlp], ElementsAre("0", "MLP", "", "L0 mlp_out off on the direct path to L3 H2 q",
                                           ::testing::_, ::testing::_));
  EXPECT_EQ(std::stod(table.rows[mlp][4]), sweep->difference(SweepMetric::difference, 0, mlp));
  EXPECT_EQ(table.rows.back()[3], "") << "not before the receiver";
}

TEST(SweepView, ACellOfAPathSelectsItsSenderAndGivesItsEdit) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 900, 600, kPaths);
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 3)), "head 1 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 8)), "head 1 1") << "the MLP's layer";
  const ViewActions applied = shown.choose("Apply “L1 H3 off on the direct path to L3 H2 q”", kGrid, 1, 3);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(applied[0]).edit, parse_edits("L1H3.z=0 -> L3H2.q", *bundled()).at(0));
  const ViewActions row =
      shown.choose("Apply to the whole row: “L1 z off on the direct path to L3 H2 q”", kGrid, 1, 3);
  EXPECT_EQ(std::get<ToggleEdit>(row.at(0)).edit, parse_edits("L1.z=0 -> L3H2.q", *bundled()).at(0));
  const auto set = [](const ViewActions& actions) {
    std::vector<std::pair<std::string, int>> values;
    for (const ViewAction& action : actions)
      values.emplace_back(std::get<SetOption>(action).option->name,
                          std::get<int>(std::get<SetOption>(action).value));
    return values;
  };
  using Values = std::vector<std::pair<std::string, int>>;
  const Values here{
      {"sweep-over", 2}, {"sweep-receiver", 1}, {"sweep-receiver-layer", 4}, {"sweep-receiver-head", 5}};
  EXPECT_EQ(set(shown.choose("Show paths into L4 H5 q", kGrid, 4, 5)), here);
  EXPECT_EQ(set(ViewFixture("sweep", s, 900, 600).choose("Show paths into L4 H5 q", kGrid, 4, 5)), here);
  const Scenario edited(Prompt{kRobot, {}, false, parse_edits("L1H3.z=0 -> L3H2.q", *bundled())});
  EXPECT_THAT(texts(ViewFixture("sweep", edited, 900, 600, kPaths).scene()),
              Contains(EndsWith("• already edited")));
}

TEST(SweepView, PathsToTheLogitsComeFromAllLayersAndNoneToTheFirst) {
  const Scenario s(kRobot);
  const ViewFixture logits("sweep", s, 900, 600, {{"sweep-over", "senders"}, {"sweep-change", "mean"}});
  EXPECT_THAT(texts(logits.scene()), Contains("Paths into the logits, each sender replaced by its mean"));
  EXPECT_THAT(logits.tooltip(kGrid, 5, 7),
              Contains("L5 H7 = mean over positions on the direct path to the logits"));
  const ViewFixture first(
      "sweep", s, 900, 600,
      {{"sweep-over", "senders"}, {"sweep-receiver", "v"}, {"sweep-receiver-layer", "0"}});
  EXPECT_THAT(texts(first.scene()), Contains(HasSubstr("nothing sends to layer 0")));
  EXPECT_THAT(find_view("sweep")->refuse(first.context()), EndsWith("see --sweep-receiver-layer"));
  const ViewFixture all("sweep", s, 900, 600, {{"sweep-over", "senders"}, {"sweep-receiver", "v"}});
  EXPECT_THAT(texts(all.scene()), Contains("Paths into L5 v, each sender zeroed"));
}

TEST(SweepView, PathsAreAskedByTheOptionsOfAQuestion) {
  const Scenario s(kRobot);
  ViewContext c = s.context(900, 600);
  for (const char* receiver : {"logits", "L3H2.q", "L5.v"}) {
    SweepOf question = of_paths(s);
    question.receiver.at = parse_receiver(receiver, *bundled());
    question.token = TokenChoice::of(11);
    question.against = TokenChoice::best(4);
    c.options = sweep_options(question, SweepMetric::logit);
    OneAnswer answers(question, *s.ask(question));
    c.answers = &answers;
    EXPECT_THAT(texts(find_view("sweep")->build(c).scene),
                Contains("Paths into " + receiver_name(question.receiver) + ", each sender zeroed"));
  }
}

}  // namespace
}  // namespace headscope::app::sweep_paths_test
