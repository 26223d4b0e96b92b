// The linear map from position to position: its errors, read from the picture.

#include "app/run/analyses/position_geometry.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::position_shift_test {
namespace {

TEST(Shift, TooltipAndTableTellTheErrors) {
  const ViewFixture shown("shift", scenario(12), 900, 700);
  const auto shift = scenario(12).ask(ShiftOfPositions{});
  const auto lines = shown.tooltip(0, 0, 3);
  EXPECT_THAT(lines, Contains("3 positions ahead"));
  EXPECT_THAT(lines, Contains("learned, T fitted to all t: " + exact(shift->learned[3])));
  EXPECT_THAT(lines, Contains("learned at odd t, T fitted to even t: " + exact(shift->unseen[3])));
  const Table table = shown.table();
  ASSERT_EQ(table.rows.size(), shift->learned.size());
  EXPECT_EQ(table.rows[9][1], plain(shift->sinusoidal[9]));
  EXPECT_EQ(table.rows[9][4], plain(shift->stay[9]));
  EXPECT_EQ(in_words(shown.choose("Copy no map " + exact(shift->stay[2]), 0, 0, 2)),
            "copy " + plain(shift->stay[2]));
}

TEST(Shift, CurvesLieWhereTheirErrorsAre) {
  const ViewFixture shown("shift", scenario(12), 900, 700);
  const auto shift = scenario(12).ask(ShiftOfPositions{});
  const viz::Region& plot = shown.region(0);
  const auto lines = viz::testing::items_of<viz::Polyline>(shown.scene());
  ASSERT_EQ(lines.size(), 4U);
  // 2 is at the upper edge: larger errors are clipped.
  const viz::Point at = lines[3].points[40];
  // The axis begins below 0.
  const auto value = [&](float y) { return (plot.rect.bottom() - y) / plot.rect.h * 2.06F - 0.06F; };
  EXPECT_NEAR(value(at.y), shift->stay[40], 1e-3);
  EXPECT_GT(plot.rect.bottom() - lines[0].points[40].y, 3) << "the sinusoids' curve is seen above the frame";
  EXPECT_NEAR(at.x, plot.cell_rect(0, 40).center().x, 0.1);
}

TEST(Shift, ShowsPartsWhileItIsComputed) {
  PositionShift part = *scenario(12).ask(ShiftOfPositions{});
  for (auto* errors : {&part.sinusoidal, &part.learned, &part.unseen, &part.stay}) errors->resize(9);
  OneAnswer answers(ShiftOfPositions{}, part, false);
  ViewContext c = scenario(12).context(900, 700, answers);
  const Picture picture = find_view("shift")->build(c);
  EXPECT_THAT(texts(picture.scene), Contains("computing… k up to 8"));
  const viz::Hit beyond{0, 0, 30};
  EXPECT_TRUE(find_view("shift")->facts(c, picture, beyond).tooltip().empty());
}

}  // namespace
}  // namespace headscope::app::position_shift_test
