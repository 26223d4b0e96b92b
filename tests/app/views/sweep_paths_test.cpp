// The view of sweeps over paths from senders to a receiver.

#include "app/run/analyses/sweep.h"

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/sweep_question.h"
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
  const auto sweep = s.ask(of_paths(s));
  const int mlp = s.config().n_head;
  ASSERT_EQ(shown.region(kGrid).col_count, mlp + 1);
  EXPECT_THAT(shown.tooltip(kGrid, 3, 1), ElementsAre("L3 H1", "not before the receiver"));
  const auto changes = numbers_of(shown.table(), "change");
  ASSERT_EQ(std::ssize(changes), 3 * (mlp + 1)) << "those before the receiver";
  for (int layer = 0; layer < 3; ++layer)
    for (int column = 0; column <= mlp; ++column)
      EXPECT_EQ(changes[layer * (mlp + 1) + column],
                sweep->difference(SweepMetric::difference, layer, column));
}

TEST(SweepView, ACellOfAPathSelectsItsSenderAndGivesItsEdit) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 900, 600, kPaths);
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 3)), "head 1 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 1, 8)), "head 1 1") << "the MLP's layer";
  const ViewActions applied = shown.choose("Apply “L1 H3 off on the direct path to L3 H2 q”", kGrid, 1, 3);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(applied[0]).edit, parse_edits("L1H3.z=0 -> L3H2.q", *bundled()).at(0));
  EXPECT_EQ(in_words(ViewFixture("sweep", s, 900, 600).choose("Show paths into L4 H5 q", kGrid, 4, 5)),
            "sweep-over senders, sweep-receiver q, sweep-receiver-layer 4, sweep-receiver-head 5");
}

}  // namespace
}  // namespace headscope::app::sweep_paths_test
