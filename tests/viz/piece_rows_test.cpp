#include "viz/text/piece_rows.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::piece_rows_test {
namespace {

using namespace testing;

const Theme kLight = light_theme();
const Style kStyle{kLight, *fonts(), 14, 1};

PieceRows abc() {
  PieceRows p;
  p.units = 3;
  p.number_title = "rank";
  p.made = kLight.accent;
  p.role = 5;
  p.rows = {{{{0, 1, "a", false}, {1, 1, "b", false}, {2, 1, "c", false}}, "", "three bytes"},
            {{{0, 1, "a", false}, {1, 2, "bc", true}}, "1,234", "b and c"},
            {{{0, 3, "abc", true}}, "77", "a and bc"}};
  return p;
}

Picture paint(float width, float height) {
  Picture picture;
  picture.scene = testing::blank(width + 20, height + 20, kLight.surface);
  paint_piece_rows(picture, abc(), {10, 10, width, height}, kStyle);
  return picture;
}

TEST(PieceRows, APieceSpansWhatItIsMadeOf) {
  const Picture picture = paint(500, 200);
  EXPECT_TRUE(picture.whole);
  const auto boxes = items_of<FillRect>(picture.scene);
  ASSERT_EQ(boxes.size(), 6U);
  const Rect &a = boxes[0].rect, &b = boxes[1].rect, &c = boxes[2].rect, &bc = boxes[4].rect,
             &abc = boxes[5].rect;
  EXPECT_FLOAT_EQ(bc.x, b.x);
  EXPECT_FLOAT_EQ(bc.right(), c.right());
  EXPECT_FLOAT_EQ(abc.x, a.x);
  EXPECT_FLOAT_EQ(abc.right(), c.right());
  EXPECT_GT(bc.y, b.bottom());
  EXPECT_EQ(boxes[4].color, kLight.accent);
  EXPECT_EQ(boxes[3].color, kLight.raised);
  ASSERT_EQ(picture.regions.size(), 3U);
  EXPECT_EQ(picture.regions[2].id, 2);
  EXPECT_EQ(picture.regions[2].role, 5);
  EXPECT_NEAR(picture.regions[1].cell_rect(0, 2).center().x, c.center().x, 0.5);
}

TEST(PieceRows, NotesGiveWayToNumbersAndRowsToTheHeight) {
  EXPECT_THAT(texts(paint(500, 200).scene), Contains("b and c"));
  const Picture narrow = paint(110, 200);
  EXPECT_THAT(texts(narrow.scene), Not(Contains("b and c")));
  EXPECT_THAT(texts(narrow.scene), Contains("1,234"));
  const Picture low = paint(500, piece_rows_height(2, kStyle));
  EXPECT_EQ(low.regions.size(), 1U);
  EXPECT_THAT(texts(low.scene), Contains("… and 2 more")) << "in the second row's place";
  EXPECT_FALSE(low.whole);
  EXPECT_EQ(paint(500, piece_rows_height(3, kStyle)).regions.size(), 3U);
  EXPECT_EQ(paint(500, piece_rows_height(1, kStyle)).regions.size(), 1U);
  for (const float width : {20.F, 60.F, 110.F, 180.F, 500.F, 1500.F})
    EXPECT_EQ(testing::text_faults(paint(width, 200).scene, *fonts()), "") << width;
}

}  // namespace
}  // namespace headscope::viz::piece_rows_test
