#include "viz/charts/chips.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::chips_test {
namespace {

using namespace testing;

ChipFlow flow() {
  ChipFlow f;
  for (int i = 0; i < 60; ++i) {
    Chip chip;
    chip.label = i == 10 ? "·" + std::string(300, 'x') : "·token" + std::to_string(i);
    chip.break_after = i == 3;
    f.chips.push_back(chip);
  }
  return f;
}

TEST(Chips, StandInLinesWithoutTouching) {
  for (const float width : {90.F, 300.F, 1000.F}) {
    const ChipFlow f = flow();
    const auto places = place_chips(f, width, style_of());
    ASSERT_EQ(places.size(), f.chips.size());
    EXPECT_EQ(places[4].line, places[3].line + 1);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_LE(places[i].x + places[i].w, width + 0.01F);
      if (i > 0 && places[i].line == places[i - 1].line) {
        EXPECT_GT(places[i].x, places[i - 1].x + places[i - 1].w);
      }
      if (i > 0) {
        EXPECT_GE(places[i].line, places[i - 1].line);
      }
    }
  }
}

}  // namespace
}  // namespace headscope::viz::chips_test
