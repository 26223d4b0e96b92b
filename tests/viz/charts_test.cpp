// Charts: links, curves, points in two dimensions and paths in three, and the numbers of their axes.
#include "tests/support/matchers.h"
#include "tests/viz/color_science.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/curves.h"
#include "viz/charts/links.h"
#include "viz/charts/number_axis.h"
#include "viz/charts/scatter.h"
#include "viz/scene/path3d.h"

namespace headscope::viz::charts_test {
namespace {

using namespace testing;

const Style kStyle = style_of();
const std::vector<std::string> kWords{"A", "robot", "must", "obey"};

LinkChart arcs_of_weights() {
  LinkChart c;
  c.arrangement = LinkChart::Arrangement::arcs;
  c.from = {kWords, "query", kLight.query, 3};
  c.to = {kWords, "key", kLight.key, -1};
  c.series = {{{200, 0, 0, 255}}, {{0, 0, 200, 255}}};
  c.links = {{3, 0, 0, 0.2F}, {2, 1, 1, 0.2F}, {1, 1, 0, 0.5F}, {3, 1, 1, 1.0F}};
  c.marked_from = 3;
  return c;
}

TEST(Links, ArcsRiseFromTheirItemsAndLoopsComeBack) {
  const LinkChart chart = arcs_of_weights();
  const LinkLayout layout = lay_out_links(chart, {10, 10, 680, 400}, kStyle);
  Picture picture{testing::blank(700, 420), {}};
  paint_links(picture, chart, layout, kStyle);
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

TEST(Curves, AnArrowMarksWhereACurveLeavesThePlot) {
  const std::vector<float> inside{0, 1, 2}, above{0, 1, 3, 9}, below{0, -1, -3, 0, -3};
  CurveChart chart;
  chart.low = -2, chart.high = 2, chart.count = 5;
  chart.curves = {{Matrix::row(inside), "inside", categorical(kDark, 0)},
                  {Matrix::row(above), "above", categorical(kDark, 1)},
                  {Matrix::row(below), "below", categorical(kDark, 2)}};
  Picture picture{testing::blank(500, 300), {}};
  const Rect plot{60, 40, 300, 200};
  const Region region = paint_curves(picture, chart, plot, style_of(kDark));
  const auto arrows = items_of<FillPolygon>(picture.scene);
  ASSERT_EQ(arrows.size(), 2U) << "one where a curve first leaves";
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(arrows[i].color, chart.curves[i + 1].color);
    const Point tip = arrows[i].points[2];
    EXPECT_NEAR(tip.x, (region.cell_rect(0, 1).center().x + region.cell_rect(0, 2).center().x) / 2, 0.5);
    EXPECT_TRUE(i == 0 ? tip.y < plot.y : tip.y > plot.bottom());
  }
}

TEST(Curves, NamesAreReadableAndCurvesKeepTheirColour) {
  const std::vector<float> flat(9, 0.1F);
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    CurveChart chart;
    for (int i = 0; i < 7; ++i)
      chart.curves.push_back({Matrix::row(flat), "curve " + std::to_string(i), categorical(theme, i)});
    chart.count = 9;
    Picture picture{testing::blank(500, 300), {}};
    const Style style = style_of(theme);
    const float height = paint_curve_names(picture.scene, chart, "row", {0, 0, 300, 40}, style);
    EXPECT_GT(height, style.line(style.small())) << "in two lines";
    paint_curves(picture, chart, {60, 80, 300, 200}, style);
    int names = 0;
    for (const GlyphRun& run : items_of<GlyphRun>(picture.scene)) {
      if (!run.text.starts_with("curve ")) continue;
      EXPECT_GE(contrast(run.color, theme.surface), 4.5) << run.text;
      ++names;
    }
    EXPECT_EQ(names, 7);
    const auto lines = items_of<Polyline>(picture.scene);
    ASSERT_EQ(lines.size(), 7U);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(lines[static_cast<std::size_t>(i)].color, categorical(theme, i));
  }
}

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
  EXPECT_THAT(texts(picture.scene), Contains(std::to_string(named.size()) + " of 600 named"));
  EXPECT_EQ(testing::text_faults(picture.scene, *fonts()), "");
}

TEST(Scatter, OfFewMarksThoseInACrowdAreNamedAtTheEndsOfLines) {
  ScatterChart chart = chart_of(0);
  for (int i = 0; i < 9; ++i)
    chart.marks.push_back({i % 3 * 0.5, i / 3 * 0.5, 0, kLight.query, "mark " + std::to_string(i)});
  for (const double far : {-5.0, 5.0}) chart.marks.push_back({far, far, 0, kLight.query, "far"});
  Picture picture{testing::blank(700, 500, kLight.surface), {}};
  paint_scatter(picture, chart, lay_out_scatter(chart, {0, 0, 700, 500}, style_of()), style_of());
  EXPECT_THAT(texts(picture.scene), Contains("mark 4")) << "in the middle of the others";
}

Path3 steps() {
  Path3 path;
  path.points = {{0, 0, 0}, {10, 0, 0}, {10, 4, 0}, {10, 4, 1}};
  path.colors = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {}};
  path.high = {10, 4, 1};
  path.titles = {"east", "north", "up"};
  path.labelled = {0, 3, 1};
  return path;
}

TEST(Path3, TurnsAboutTheUprightAxisAndTiltsTowardsTheEye) {
  const auto expect = [](Point3 p, Camera camera, Point3 wanted) {
    const Point3 s = seen(p, camera);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(s[i], wanted[i], 1e-12) << i;
  };
  expect({1, 0, 0}, {0, 0}, {1, 0, 0});
  expect({0, 0, 1}, {0, 0}, {0, 1, 0});
  expect({0, 1, 0}, {0, 0}, {0, 0, -1});   // away
  expect({0, -1, 0}, {90, 0}, {1, 0, 0});  // the front is now on the right
  expect({0, 0, 1}, {70, 90}, {0, 0, 1});  // from above
  expect({0, 1, 0}, {0, 90}, {0, 1, 0});
}

TEST(Path3, ABoxKeepsItsSizeFromEverySide) {
  Path3 path = steps();
  const auto length = [&](std::size_t a, std::size_t b) {
    const auto p = projected(path, {0, 0, 400, 400});
    return std::hypot(p[a].x - p[b].x, p[a].y - p[b].y);
  };
  const float side = length(0, 1);
  EXPECT_GT(side, 180);
  path.camera = {90, 0};
  EXPECT_NEAR(length(0, 1), 0, 1e-3);
  EXPECT_NEAR(length(1, 2), side, 1e-3) << "each side of the box is as long";
  EXPECT_NEAR(length(2, 3), side, 1e-3);
  for (const double turn : {0., 33., 135., -170.})
    for (const double tilt : {-90., -20., 45., 90.}) {
      path.camera = {turn, tilt};
      for (const Point p : projected(path, {0, 0, 400, 400})) EXPECT_TRUE(Rect({0, 0, 400, 400}).contains(p));
    }
}

TEST(Path3, ThePointUnderTheMouseIsTheNearestWithinReach) {
  const std::vector<Point> points{{10, 10}, {20, 10}, {20, 30}};
  EXPECT_EQ(nearest_point(points, {14, 10}, 8), 0);
  EXPECT_EQ(nearest_point(points, {16, 11}, 8), 1);
  EXPECT_EQ(nearest_point(points, {60, 60}, 8), -1);
}

TEST(Path3, WhatDoesNotVaryLiesInTheMiddle) {
  Path3 path = steps();
  path.low = path.high = {1, 1, 1};
  path.points = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  for (const Point p : projected(path, {0, 0, 100, 50})) {
    EXPECT_FLOAT_EQ(p.x, 50);
    EXPECT_FLOAT_EQ(p.y, 25);
  }
  Picture picture{testing::blank(400, 400), {}};
  paint_path(picture, path, {0, 0, 400, 400}, kStyle);
  EXPECT_TRUE(items_of<Polyline>(picture.scene).empty());
}

TEST(NumberAxis, LimitsAreRoundNumbersJustAboveTheValue) {
  for (double value = 1e-9; value < 1e9; value *= 1.013)
    EXPECT_LE(round_limit(value), 1.51 * value) << "a third of the axis stays empty";
  for (const auto& [value, limit] : {std::pair{1.0, 1.0},
                                     {0.11, 0.15},
                                     {0.2, 0.2},
                                     {0.21, 0.25},
                                     {0.26, 0.3},
                                     {0.51, 0.6},
                                     {22, 25},
                                     {28.3, 30},
                                     {81, 100},
                                     {1.01, 1.5},
                                     {0.05, 0.05},
                                     {3.1e-7, 4e-7},
                                     {0.001, 0.001},
                                     {7e20, 8e20}}) {
    EXPECT_NEAR(round_limit(value), limit, 1e-9 * limit) << value;
  }
  EXPECT_EQ(round_limit(0), 1);
  EXPECT_EQ(round_limit(std::nan("")), 1);
}

TEST(NumberAxis, PlacesNumbersAlongALengthThatMayLeadUp) {
  const NumberAxis axis{-1, 3};
  EXPECT_EQ(axis.along(0, 10, 80), 30);
  EXPECT_EQ(axis.along(0, 100, -80), 80);
  EXPECT_EQ(axis.along(4, 10, 80), 110) << "beyond its end";
  EXPECT_EQ(axis.clamped(4, 10, 80), 90);
  EXPECT_EQ((NumberAxis{2, 2}).along(2, 10, 80), 10) << "a range of nothing divides by nothing";
}

}  // namespace
}  // namespace headscope::viz::charts_test
