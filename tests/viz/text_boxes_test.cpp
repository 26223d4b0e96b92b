// Tests the check itself: it must report what a reader would see.
#include "tests/viz/text_boxes.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"

namespace headscope::viz::text_boxes_test {
namespace {

using namespace testing;

Scene with_texts(Point first, float first_angle, Point second, float second_angle) {
  Scene scene = testing::blank(200, 100);
  const Color black{0, 0, 0, 255};
  scene.add(
      make_text_middle(*fonts(), "first", first, 14, black, FontStyle::regular, Align::left, first_angle));
  scene.add(
      make_text_middle(*fonts(), "second", second, 14, black, FontStyle::regular, Align::left, second_angle));
  return scene;
}

TEST(TextFaults, SeesTextsThatTouch) {
  EXPECT_THAT(text_faults(with_texts({20, 50}, 0, {40, 52}, 0), *fonts()), HasSubstr("overlap"));
  EXPECT_THAT(text_faults(with_texts({20, 60}, -0.785F, {20, 50}, 0), *fonts()), HasSubstr("overlap"));
  EXPECT_EQ(text_faults(with_texts({20, 50}, 0, {100, 50}, 0), *fonts()), "");
}

TEST(TextFaults, SlantedNeighboursWhoseBoundsCrossDoNotTouch) {
  EXPECT_EQ(text_faults(with_texts({20, 80}, -0.785F, {42, 80}, -0.785F), *fonts()), "");
  EXPECT_THAT(text_faults(with_texts({20, 80}, -0.785F, {26, 80}, -0.785F), *fonts()), HasSubstr("overlap"));
}

TEST(TextFaults, SeesTextsThatLeaveThePicture) {
  EXPECT_THAT(text_faults(with_texts({20, 50}, 0, {180, 50}, 0), *fonts()), HasSubstr("\"second\" leaves"));
  EXPECT_THAT(text_faults(with_texts({20, 2}, 0, {100, 50}, 0), *fonts()), HasSubstr("\"first\" leaves"));
  EXPECT_THAT(text_faults(with_texts({20, 20}, -1.5707963F, {100, 50}, 0), *fonts()),
              HasSubstr("\"first\" leaves"));
}

}  // namespace
}  // namespace headscope::viz::text_boxes_test
