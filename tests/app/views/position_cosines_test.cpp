// The cosines of positions, read from the picture.

#include "app/run/analyses/geometry.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::position_cosines_test {
namespace {

TEST(PositionCosinesView, ColoursAreThoseOfTheCosines) {
  const ViewFixture shown("cosines", scenario(12), 1600, 1000);
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  const viz::ColorTable color_of(viz::diverging_scale(1), light());
  for (const bool learned : {true, false}) {
    const int map = shown.encoding(learned ? 0 : 1);
    ASSERT_GE(map, 0);
    for (const auto& [row, col] : {std::pair{0, 0}, {3, 200}, {255, 255}}) {
      const auto color = shown.color_of(map, row, col);
      ASSERT_TRUE(color);
      EXPECT_EQ(*color, color_of(cosines->matrix(learned).at(row, col)));
    }
  }
}

TEST(PositionCosinesView, AClickOnARowDrawsItsCurveAndTakesItAway) {
  const ViewFixture shown("cosines", scenario(12), 900, 700, {{"from-positions", "10,20"}});
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 40, 3)), "from-positions 10,20,40");
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 10, 3)), "from-positions 20");
  EXPECT_EQ(in_words(shown.press(Key::right)), "from-positions 11,21");
  const ViewFixture ends("cosines", scenario(12), 900, 700, {{"from-positions", "0,255"}});
  EXPECT_EQ(in_words(ends.press(Key::left)), "");
  const Table table = shown.table();
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  EXPECT_EQ(numbers_of(table, "learned with 20")[7], decimal(cosines->matrix(true).at(20, 7)));
  EXPECT_EQ(numbers_of(table, "sinusoidal with 10")[7], decimal(cosines->matrix(false).at(10, 7)));
}

}  // namespace
}  // namespace headscope::app::position_cosines_test
