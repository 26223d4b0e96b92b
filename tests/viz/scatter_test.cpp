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

TEST(Scatter, OfVeryManyMarksTheChosenOneAndTheOutermostAreNamed) {
  ScatterChart chart = chart_of(0);
  for (int i = 0; i < 600; ++i) {  // a spiral, dense in its middle
    const double turn = 2.4 * i, away = i * i / 600.0;
    chart.marks.push_back({away * std::cos(turn), away * std::sin(turn), 0, kLight.query,
                           "label " + std::to_string(i), i == 40});
  }
  Picture picture{testing::blank(700, 500, kLight.surface), {}};
  paint_scatter(picture, chart, lay_out_scatter(chart, {0, 0, 700, 500}, style_of()), style_of());
  std::vector<int> named;
  for (const std::string& text : texts(picture.scene))
    if (text.starts_with("label ")) named.push_back(std::stoi(text.substr(6)));
  EXPECT_EQ(std::ranges::count(named, 40), 1) << "the chosen one, in the midst";
  EXPECT_GT(std::ranges::count_if(named, [](int mark) { return mark > 500; }), 5);
  EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
}

}  // namespace
}  // namespace headscope::viz::scatter_test
