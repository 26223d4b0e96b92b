#include "viz/charts/links.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::links_test {
namespace {

using namespace testing;

const Style kStyle = style_of();
const std::vector<std::string> kWords{"A", "robot", "must", "obey"};

LinkChart chart(LinkChart::Arrangement arrangement) {
  LinkChart c;
  c.arrangement = arrangement;
  c.from = {kWords, "query", kLight.query, 3};
  c.to = {kWords, "key", kLight.key, -1};
  c.series = {{{200, 0, 0, 255}}, {{0, 0, 200, 255}}};
  c.links = {{3, 0, 0, 0.2F}, {2, 1, 1, 0.2F}, {1, 1, 0, 0.5F}, {3, 1, 1, 1.0F}};
  c.marked_from = 3;
  return c;
}

Picture painted(const LinkChart& c, LinkLayout& layout, float width = 700, float height = 420) {
  Picture picture{testing::blank(width, height), {}};
  layout = lay_out_links(c, {10, 10, width - 20, height - 20}, kStyle);
  if (layout.fits) paint_links(picture, c, layout, kStyle);
  return picture;
}

TEST(Links, LinesJoinTheirRowsHeavierOnesWiderFullerAndLater) {
  LinkLayout layout;
  const LinkChart c = chart(LinkChart::Arrangement::columns);
  const Picture picture = painted(c, layout);
  EXPECT_TRUE(picture.whole);
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  std::vector<Segments> lines;
  for (const Segments& s : items_of<Segments>(picture.scene))
    if (s.points.front().x == layout.drawing.x && s.points.back().x == layout.drawing.right())
      lines.push_back(s);
  ASSERT_EQ(lines.size(), 4U);
  const auto row_of = [&](float y) {
    return static_cast<int>((y - layout.drawing.y) / (layout.drawing.h / 4));
  };
  const std::vector<std::pair<int, int>> rows{{3, 0}, {2, 1}, {1, 1}, {3, 1}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(row_of(lines[i].points[0].y), rows[i].first);
    EXPECT_EQ(row_of(lines[i].points[1].y), rows[i].second);
    const Color series = c.series[c.links[i].series].color;
    EXPECT_EQ(lines[i].color.with_alpha(255), series);
  }
  EXPECT_EQ(lines[0].width, lines[1].width);
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_GT(lines[i].width, lines[i - 1].width);
    EXPECT_GT(lines[i].color.a, lines[i - 1].color.a);
  }
  ASSERT_EQ(picture.regions.size(), 2U);
  for (const Region& region : picture.regions) EXPECT_EQ(region.row_count, 4);
}

TEST(Links, ArcsRiseFromTheirItemsAndLoopsComeBack) {
  LinkLayout layout;
  const Picture picture = painted(chart(LinkChart::Arrangement::arcs), layout);
  EXPECT_TRUE(picture.whole);
  EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  const auto arcs = items_of<Polyline>(picture.scene);
  ASSERT_EQ(arcs.size(), 4U);
  ASSERT_EQ(picture.regions.size(), 1U);
  const auto column_of = [&](Point p) {
    return static_cast<int>((p.x - layout.drawing.x) / (layout.drawing.w / 4));
  };
  const std::vector<std::pair<int, int>> columns{{3, 0}, {2, 1}, {1, 1}, {3, 1}};
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto& points = arcs[i].points;
    EXPECT_EQ(column_of(points.front()), columns[i].first);
    EXPECT_EQ(column_of(points.back()), columns[i].second);
    EXPECT_NEAR(points.front().y, layout.drawing.bottom(), 0.01);
    EXPECT_NEAR(points.back().y, layout.drawing.bottom(), 8);  // start of its arrow
    for (const Point p : points) {
      EXPECT_GE(p.y, layout.drawing.y);
      EXPECT_LE(p.y, layout.drawing.bottom() + 0.01F);
    }
  }
  EXPECT_EQ(items_of<FillPolygon>(picture.scene).size(), 3U) << "a loop needs no head";
}

}  // namespace
}  // namespace headscope::viz::links_test
