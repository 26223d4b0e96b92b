// Points in two dimensions: equal units, positions of marks, labels that cover nothing.
#include "viz/charts/scatter.h"

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::scatter_test {
namespace {

using namespace testing;

ScatterChart chart_of(int count) {
  ScatterChart chart;
  chart.kinds = {{"left", ScatterChart::Shape::circle, kLight.query},
                 {"right", ScatterChart::Shape::triangle, kLight.key}};
  chart.x_title = "across";
  chart.y_title = "up";
  unsigned seed = 5;
  for (int i = 0; i < count; ++i) {
    const auto next = [&] {
      seed = seed * 1664525 + 1013904223;
      return static_cast<double>(seed >> 8) / (1 << 24);
    };
    chart.marks.push_back({8 * next() - 3, next(), i % 2, i % 2 == 0 ? kLight.query : kLight.key,
                           "label " + std::to_string(i), i == 3});
  }
  return chart;
}

/// The painted labels of a chart with their boxes.
struct Painted {
  Picture picture;
  ScatterLayout layout;
  std::vector<std::pair<std::size_t, Rect>> labels;  ///< with the index of the mark
};
Painted painted(const ScatterChart& chart, Rect area) {
  Painted result{{testing::blank(area.right(), area.bottom(), kLight.surface), {}}, {}, {}};
  result.layout = lay_out_scatter(chart, area, style_of());
  paint_scatter(result.picture, chart, result.layout, style_of());
  for (const testing::TextBox& box : testing::text_boxes(result.picture.scene, *fonts()))
    if (box.text.starts_with("label "))
      result.labels.emplace_back(std::stoul(box.text.substr(6)), box.bounds);
  return result;
}

TEST(Scatter, HasOneUnitAlongBothAxes) {
  for (const Rect area : {Rect{10, 10, 500, 300}, Rect{0, 0, 300, 700}}) {
    const ScatterChart chart = chart_of(40);
    const ScatterLayout layout = lay_out_scatter(chart, area, style_of());
    ASSERT_EQ(layout.places.size(), 40U);
    const auto &a = chart.marks[0], &b = chart.marks[1];
    const auto across = static_cast<double>(layout.places[1].x - layout.places[0].x) / (b.x - a.x);
    const auto up = static_cast<double>(layout.places[0].y - layout.places[1].y) / (b.y - a.y);
    EXPECT_NEAR(across, up, 1e-3 * across);
    for (const Point& place : layout.places) EXPECT_TRUE(layout.frame.contains(place));
  }
  const ScatterLayout one = lay_out_scatter(chart_of(0), {0, 0, 300, 200}, style_of());
  EXPECT_TRUE(std::isfinite(one.x.low) && one.x.low < one.x.high);
}

TEST(Scatter, PaintsEachMarkInItsColourAndTheChosenOneLast) {
  const ScatterChart chart = chart_of(12);
  const auto [picture, layout, labels] = painted(chart, {0, 0, 600, 400});
  const Bitmap pixels = rasterize(picture.scene, *fonts(), 1);
  const Point chosen = layout.places[3];
  EXPECT_LE(testing::channel_difference(pixels.at(static_cast<int>(chosen.x), static_cast<int>(chosen.y)),
                                        chart.marks[3].fill),
            3);
  ASSERT_EQ(picture.regions.size(), 1U);
  const Region& region = picture.regions.front();
  EXPECT_EQ(region.col_count, static_cast<int>(layout.frame.w));
  EXPECT_EQ(region.row_count, static_cast<int>(layout.frame.h));
}

TEST(Scatter, OfVeryManyMarksTheChosenOneAndTheOutermostAreNamed) {
  ScatterChart chart = chart_of(0);
  for (int i = 0; i < 600; ++i) {  // a spiral, dense in its middle
    const double turn = 2.4 * i, away = i * i / 600.0;
    chart.marks.push_back({away * std::cos(turn), away * std::sin(turn), 0, kLight.query,
                           "label " + std::to_string(i), i == 40});
  }
  const Painted result = painted(chart, {0, 0, 700, 500});
  std::vector<std::size_t> named;
  for (const auto& [mark, box] : result.labels) named.push_back(mark);
  EXPECT_EQ(std::ranges::count(named, 40U), 1) << "the chosen one, in the midst";
  EXPECT_GT(std::ranges::count_if(named, [](std::size_t mark) { return mark > 500; }), 5);
  EXPECT_EQ(testing::text_faults(result.picture.scene, *fonts()), "");
}

}  // namespace
}  // namespace headscope::viz::scatter_test
