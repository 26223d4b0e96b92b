// The linear map from position to position: its errors, read from the picture.

#include "app/run/analyses/geometry.h"
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
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), shift->learned.size());
  EXPECT_EQ(rows[9][1], plain(shift->sinusoidal[9]));
  EXPECT_EQ(rows[9][4], plain(shift->stay[9]));
  EXPECT_EQ(in_words(shown.choose("Copy no map " + exact(shift->stay[2]), 0, 0, 2)),
            "copy " + plain(shift->stay[2]));
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
