// Positions as a path in space: turning it, and the facts about its points.

#include "app/run/analyses/geometry.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::staircase_test {
namespace {

ViewFixture shown_with(const NamedOptions& options = {}) {
  return ViewFixture("staircase", scenario(12), 1600, 1000, options);
}

ViewActions drag(const ViewFixture& shown, viz::Point by) {
  const viz::Hit hit{0, 100, 100};
  return find_view("staircase")
      ->on(shown.context(), shown.picture(), &hit, {Gesture::Kind::drag, {}, by, {}});
}

TEST(Staircase, ADragTurnsAndTiltsAllTheWayRound) {
  EXPECT_EQ(in_words(drag(shown_with(), {25, 0})), "turn 40");
  EXPECT_EQ(in_words(drag(shown_with(), {0, -25})), "tilt 15");
  EXPECT_EQ(in_words(drag(shown_with({{"turn", "175"}}), {25, 0})), "turn -175");
  EXPECT_EQ(in_words(drag(shown_with({{"tilt", "85"}}), {0, 100})), "tilt 90");
  EXPECT_EQ(in_words(shown_with().press(Key::left)), "turn 25");
}

TEST(Staircase, TheTableHasBothPaths) {
  const Table table = shown_with().table();
  const auto rows = text_rows(table);
  const auto path = scenario(12).ask(PathOfPositions{});
  const int d = bundled()->transformer->config().n_embd;
  EXPECT_EQ(rows[50][2], plain(path->coordinates[50 * 3 + 1]));
  const int dimension = std::stoi(table.columns[5].name.substr(std::string("sinusoidal ").size()));
  EXPECT_EQ(rows[50][5], plain(sinusoidal_value(50, dimension, d)));
}

}  // namespace
}  // namespace headscope::app::staircase_test
