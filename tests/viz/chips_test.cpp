#include "viz/charts/chips.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::chips_test {
namespace {

using namespace testing;

ChipFlow flow() {
  ChipFlow f;
  f.role = 2;
  for (int i = 0; i < 60; ++i) {
    Chip chip;
    chip.label = i == 10 ? "·" + std::string(300, 'x') : "·token" + std::to_string(i);
    chip.fill = kLight.raised;
    chip.text = kLight.text;
    if (i == 5) chip.outline = kLight.query;
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

TEST(Chips, PaintWholeLinesFromTheFirstThatIsAsked) {
  const ChipFlow f = flow();
  const auto places = place_chips(f, 400, style_of());
  Picture picture{testing::blank(420, 3 * chip_line_height(style_of()) + 10), {}};
  paint_chips(picture, f, places, 2, {10, 5, 400, 3 * chip_line_height(style_of())}, style_of());
  ASSERT_FALSE(picture.regions.empty());
  for (const Region& region : picture.regions) {
    const int line = places[region.id].line;
    EXPECT_GE(line, 2);
    EXPECT_LE(line, 4);
    EXPECT_LE(region.rect.bottom(), picture.scene.height);
  }
  EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
}

}  // namespace
}  // namespace headscope::viz::chips_test
