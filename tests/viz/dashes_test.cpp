// Lines told apart without their colours.

#include "viz/scene/dashes.h"

#include <cmath>
#include <set>

#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/curves.h"
#include "viz/charts/links.h"

namespace headscope::viz::dashes_test {
namespace {

using namespace testing;

const Theme kTheme = light_theme();
const Style kStyle{kTheme, *fonts(), 14, 1};

/// The lengths of the dashes of a line.
std::vector<float> lengths_of(std::span<const Point> points, std::span<const float> dashes) {
  Pieces pieces;
  cut_dashes(points, dashes, pieces);
  std::vector<float> lengths;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const std::span<const Point> piece = pieces[k];
    float& length = lengths.emplace_back();
    for (std::size_t i = 1; i < piece.size(); ++i)
      length += std::hypot(piece[i].x - piece[i - 1].x, piece[i].y - piece[i - 1].y);
  }
  return lengths;
}

TEST(Dashes, OfSevenLinesDifferAndSoDoThoseOfOneHue) {
  std::set<std::vector<float>> patterns;
  for (int i = 0; i < 14; ++i) {
    const std::vector<float> dashes = dashes_of(i, 4);
    EXPECT_EQ(dashes.size() % 2, 0U) << i;
    if (i < 7) patterns.insert(dashes);
    if (i >= 7) {
      EXPECT_NE(dashes, dashes_of(i - 7, 4)) << "a paler line of the same hue " << i;
    }
  }
  EXPECT_EQ(patterns.size(), 7U);
  EXPECT_TRUE(dashes_of(0, 4).empty()) << "a single line is solid";
}

TEST(Dashes, HaveTheirLengthsRoundBendsAndAlongShortSteps) {
  const std::vector<Point> bend{{0, 0}, {31, 0}, {31, 200}, {231, 200}};
  std::vector<Point> steps;
  for (int i = 0; i < 400; ++i) steps.push_back({1.3F * static_cast<float>(i), 10});
  for (int i = 1; i < 7; ++i) {
    const std::vector<float> dashes = dashes_of(i, 4);
    for (const auto& points : {bend, steps}) {
      const std::vector<float> lengths = lengths_of(points, dashes);
      ASSERT_GT(lengths.size(), 8U);
      for (std::size_t k = 0; k + 1 < lengths.size(); ++k)
        EXPECT_NEAR(lengths[k], dashes[2 * k % dashes.size()], 1e-3) << i << ": dash " << k;
    }
  }
}

TEST(Dashes, OfALineThatIsEndlessOnTheScreenAreNotCountedOut) {
  const std::vector<Point> far{{0, 0}, {1e30F, 1e30F}, {1e30F, 0}};
  EXPECT_EQ(lengths_of(far, dashes_of(2, 4)).size(), 1U);
}

TEST(Dashes, AreGapsInEveryPlayersPicture) {
  const std::vector<float> dashes = dashes_of(1, 4);
  const std::vector<Point> points{{10, 10}, {230, 10}};
  const std::size_t count = lengths_of(points, dashes).size();
  for (const bool joined : {true, false}) {
    Scene scene = blank(240, 20);
    if (joined) scene.add(Polyline{points, {0, 0, 0, 255}, 2, dashes});
    if (!joined) scene.add(Segments{points, {0, 0, 0, 255}, 2, dashes});
    const Bitmap pixels = rasterize(scene, *fonts(), 1);
    std::size_t changes = 0;
    for (int x = 1; x < pixels.width; ++x)
      changes += (pixels.at(x, 10).g < 128) != (pixels.at(x - 1, 10).g < 128);
    EXPECT_EQ(changes, 2 * count);
    const std::string svg = to_svg(scene, *fonts());
    EXPECT_EQ(std::ranges::count(svg.substr(svg.rfind("<path")), 'M'), static_cast<int>(count));
    Scene solid = blank(240, 20);
    solid.add(Polyline{points, {0, 0, 0, 255}, 2});
    EXPECT_NE(to_pdf(scene, *fonts()), to_pdf(solid, *fonts()));
  }
}

/// A chart of flat curves.
CurveChart seven_curves(const std::vector<float>& flat) {
  CurveChart chart;
  for (int i = 0; i < 7; ++i)
    chart.curves.push_back({Matrix::row(flat), std::to_string(i), categorical(kTheme, i), i});
  chart.count = static_cast<int>(flat.size());
  return chart;
}

TEST(Dashes, TellCurvesApartWithoutColoursAndNamesHaveASampleOfTheLine) {
  const std::vector<float> flat(100, 0.3F);
  Picture picture{blank(700, 300), {}};
  paint_curves(picture, seven_curves(flat), {60, 30, 500, 240}, kStyle);
  std::vector<std::vector<float>> curves, samples;
  for (const Polyline& line : items_of<Polyline>(picture.scene)) curves.push_back(line.dashes);
  for (const Segments& line : items_of<Segments>(picture.scene)) {
    if (line.points.front().x <= 560) continue;  // in the plot
    samples.push_back(line.dashes);
    EXPECT_TRUE(line.dashes.empty() || lengths_of(line.points, line.dashes).size() > 1) << "a gap shows";
  }
  EXPECT_EQ(std::set(curves.begin(), curves.end()).size(), 7U);
  EXPECT_EQ(samples, curves);
}

TEST(Dashes, TellLinksApartInBothArrangementsAndInTheLegend) {
  const std::vector<std::string> words{"A", "robot", "must", "obey"};
  for (const auto arrangement : {LinkChart::Arrangement::columns, LinkChart::Arrangement::arcs}) {
    LinkChart chart;
    chart.arrangement = arrangement;
    chart.from = {words, "query", kTheme.query};
    chart.to = {words, "key", kTheme.key};
    for (int i = 0; i < 3; ++i)
      chart.series.push_back({"L0 H" + std::to_string(i), categorical(kTheme, i), i});
    for (int i = 0; i < 3; ++i) chart.links.push_back({3, 0, i, 0.5F});
    chart.width_title = "difference in weight";
    Picture picture{blank(700, 420), {}};
    const LinkLayout layout = lay_out_links(chart, {10, 10, 680, 400}, kStyle);
    paint_links(picture, chart, layout, kStyle);
    std::vector<std::vector<float>> lines, legend;
    for (const Segments& line : items_of<Segments>(picture.scene)) {
      if (line.points.front().y < layout.drawing.y) legend.push_back(line.dashes);
      if (line.points.front().x == layout.drawing.x && line.color.a < 255) lines.push_back(line.dashes);
    }
    for (const Polyline& line : items_of<Polyline>(picture.scene)) lines.push_back(line.dashes);
    EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), 3U);
    EXPECT_EQ(std::set(legend.begin(), legend.end()), std::set(lines.begin(), lines.end()));
    EXPECT_THAT(texts(picture.scene), ::testing::Contains("difference in weight"));
  }
}

}  // namespace
}  // namespace headscope::viz::dashes_test
