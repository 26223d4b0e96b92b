// The cosines of positions, read from the picture.

#include "app/run/analyses/position_geometry.h"
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

TEST(PositionCosinesView, MapsAreSquareAtEverySize) {
  for (const auto& [width, height] : {std::pair{1600.F, 1000.F}, {1000.F, 640.F}, {420.F, 900.F}}) {
    const ViewFixture shown("cosines", scenario(12), width, height);
    for (const int which : {0, 1}) {
      const viz::Rect& map = shown.region(shown.encoding(which)).rect;
      EXPECT_EQ(map.w, map.h) << width << " x " << height;
    }
  }
}

TEST(PositionCosinesView, MapsStandAsTheyAreLargest) {
  const ViewFixture square("cosines", scenario(12), 650, 600), tall("cosines", scenario(12), 400, 1000);
  const auto map = [](const ViewFixture& shown, int which) {
    return shown.region(shown.encoding(which)).rect;
  };
  EXPECT_EQ(map(square, 0).y, map(square, 1).y) << "side by side";
  EXPECT_GT(map(square, 0).w, 120);
  EXPECT_EQ(map(tall, 0).x, map(tall, 1).x) << "one above the other";
}

TEST(PositionCosinesView, APaneWithoutRoomForCurvesShowsTheMaps) {
  for (const char* view : {"cosines", "positions"}) {
    ViewContext c = scenario(12).context(345, 330);
    c.in_pane = true;
    const Picture picture = find_view(view)->build(c);
    int maps = 0;
    for (const viz::Region& region : picture.regions) {
      if (region.role != 0) continue;
      ++maps;
      EXPECT_GT(region.rect.w, 90) << view;
      EXPECT_GT(region.rect.h, 90) << view;
    }
    EXPECT_EQ(maps, 2) << view;
    const auto words = texts(picture.scene);
    for (const char* end : {view == std::string("cosines") ? "−1" : "≤ −0.18", "1"})
      EXPECT_THAT(words, Contains(end)) << "each map has its scale";
  }
}

TEST(PositionCosinesView, TooltipsTellBothCosines) {
  const ViewFixture shown("cosines", scenario(12), 900, 700);
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  const auto lines = shown.tooltip(shown.encoding(0), 40, 3);
  EXPECT_THAT(lines, Contains("distance 37"));
  EXPECT_THAT(lines, Contains("learned " + exact(cosines->matrix(true).at(40, 3))));
  EXPECT_THAT(lines, Contains("sinusoidal " + exact(cosines->matrix(false).at(40, 3)) + " (not GPT-2's)"));
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
  EXPECT_EQ(table.header[2], "learned with 20");
  EXPECT_EQ(table.rows[7][2], plain(cosines->matrix(true).at(20, 7)));
  EXPECT_EQ(table.rows[7][3], plain(cosines->matrix(false).at(10, 7)));
}

TEST(PositionCosinesView, TheFormulaHasTheModelsWidth) {
  EXPECT_THAT(texts(ViewFixture("cosines", scenario(12), 1600, 1000).scene()), Contains("2i/256"));
  EXPECT_THAT(texts(ViewFixture("positions", scenario(12), 1600, 1000).scene()),
              Contains("PE(p, 2i) = sin(p / 10000"));
}

}  // namespace
}  // namespace headscope::app::position_cosines_test
