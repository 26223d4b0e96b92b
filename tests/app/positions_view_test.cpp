// The Positions view: readable curves for any model shape, zooming, and the note about pooling.

#include <numbers>

#include "app/run/analyses/sinusoidal.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::positions_view_test {
namespace {

const Scenario& shortest() {
  static const Scenario s = Scenario::of_length(12);
  return s;
}

double periods(int dimension, int n_ctx, int d_model) {
  return n_ctx * std::pow(10000.0, -static_cast<double>(dimension - dimension % 2) / d_model) /
         (2 * std::numbers::pi);
}

/// Noise, so that no dimension is smoother than another.
std::vector<float> noise(int n_ctx, int d_model) {
  std::vector<float> values;
  unsigned seed = 7;
  for (int i = 0; i < n_ctx * d_model; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(static_cast<float>(seed >> 8));
  }
  return values;
}

TEST(ReadableDimensions, MakeHalfAPeriodToFourOfAnyContext) {
  for (const int d_model : {1, 2, 3, 5, 8, 48, 64, 768, 1600}) {
    for (const int n_ctx : {1, 2, 8, 64, 256, 1024}) {
      const std::vector<int> dimensions = readable_dimensions(noise(n_ctx, d_model), n_ctx, d_model);
      SCOPED_TRACE(std::to_string(d_model) + " dimensions, " + std::to_string(n_ctx) + " positions");
      ASSERT_EQ(dimensions.size(), static_cast<std::size_t>(std::min(4, d_model)));
      for (std::size_t i = 0; i < dimensions.size(); ++i) {
        EXPECT_GE(dimensions[i], i == 0 ? 0 : dimensions[i - 1] + 1);
        EXPECT_LT(dimensions[i], d_model);
      }
      if (d_model < 48 || n_ctx < 64) continue;
      for (int i = 0; i < 4; ++i)
        EXPECT_NEAR(std::log2(periods(dimensions[i], n_ctx, d_model)), 2 - i, 0.5001);
    }
  }
}

TEST(ReadableDimensions, AreThoseThatTheModelLearnedSmoothly) {
  constexpr int kPositions = 1024, kDimensions = 768;
  std::vector<float> learned = noise(kPositions, kDimensions);
  const std::vector<int> defaults = readable_dimensions(learned, kPositions, kDimensions);
  std::vector<int> smooth;
  for (const double wanted : {4.0, 2.0, 1.0, 0.5}) {  // the first odd dimension of each half octave
    int d = 1;
    while (periods(d, kPositions, kDimensions) > wanted * 1.4) d += 2;
    smooth.push_back(d);
    for (int p = 0; p < kPositions; ++p) learned[p * kDimensions + d] = static_cast<float>(p % 300);
  }
  learned[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(readable_dimensions(learned, kPositions, kDimensions), smooth);
  EXPECT_NE(defaults, smooth);
}

/// Number of turning points of a curve: noise has about as many as points.
int turns(const viz::Polyline& curve) {
  int count = 0;  // comparisons with the gaps between dashes are false
  for (std::size_t i = 1; i + 1 < curve.points.size(); ++i)
    count += (curve.points[i].y - curve.points[i - 1].y) * (curve.points[i + 1].y - curve.points[i].y) < 0;
  return count;
}

TEST(Positions, StartWithCurvesThatCanBeRead) {
  const ViewContext c = shortest().context(900, 700);
  const Picture picture = find_view("positions")->build(c);
  const auto curves = items_of<viz::Polyline>(picture.scene);
  ASSERT_EQ(curves.size(), 8U);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_LE(turns(curves[i]), 9);  // the sinusoids
  for (const int d : bundled()->readable_dimensions)
    EXPECT_THAT(texts(picture.scene), Contains(std::to_string(d)));
  EXPECT_EQ(find_view("positions")->table(c).header[1],
            "learned " + std::to_string(bundled()->readable_dimensions[0]));
}

TEST(Positions, TellsTheirDefaultAndTakesItByName) {
  const OptionSpec& option = *find_option("dimensions");
  EXPECT_THAT(find_view("positions")->options, Contains(&option));
  EXPECT_THAT(std::string(option.help), HasSubstr("auto: four"));
  EXPECT_EQ(to_text(option, option.default_value), "auto");
  Options o;
  set(o, "dimensions", "3,7");
  EXPECT_EQ(o.value(option), OptionValue(std::vector<int>{3, 7}));
  set(o, "dimensions", "auto");
  EXPECT_EQ(o, Options());
}

TEST(Positions, ZoomShowsAPartOfMapsAndCurves) {
  ViewContext c = shortest().context(900, 700);
  const auto whole = find_view("positions")->build(c);
  set(c, "encoding-zoom", "20:36,30:70");
  const auto part = find_view("positions")->build(c);
  EXPECT_EQ(text_faults(part.scene, *c.fonts), "");
  ASSERT_EQ(part.regions.size(), whole.regions.size());
  const model::Config& config = c.run->run->config;
  for (std::size_t i = 0; i < part.regions.size(); ++i) {
    const viz::Region& region = part.regions[i];
    EXPECT_EQ(region.rect, whole.regions[i].rect);
    EXPECT_EQ(region.first_col, 30);
    EXPECT_EQ(region.cols, 40);
    EXPECT_EQ(region.col_count, config.n_ctx);
    if (region.role != kEncodingRole) continue;
    EXPECT_EQ(region.first_row, 20);
    EXPECT_EQ(region.rows, 16);
    EXPECT_EQ(region.row_count, config.n_embd);
  }
  // A cell has the matrix' value, and is drawn where the region says.
  const viz::Region& grid = part.regions[3];
  ASSERT_EQ(grid.id, 1);
  for (const viz::Item& item : part.scene.items) {
    const auto* image = std::get_if<viz::Image>(&item);
    if (!image || std::abs(image->dest.x - grid.rect.x) > 0.5F) continue;
    ASSERT_EQ(image->bitmap->width, 40);
    ASSERT_EQ(image->bitmap->height, 16);
    for (const auto& [row, col] : {std::pair{20, 30}, {25, 69}, {35, 44}}) {
      const double value = static_cast<double>(sinusoidal_value(col, row, config.n_embd));
      EXPECT_LE(channel_difference(image->bitmap->at(col - 30, row - 20), viz::diverging(light(), value)), 2);
    }
    return;
  }
  FAIL() << "no map";
}

TEST(Positions, HoverNamesTheCellThatIsZoomedToAndLeavesItsColour) {
  ViewContext c = shortest().context(900, 700);
  set(c, "encoding-zoom", "20:28,30:38");
  const View& view = *find_view("positions");
  const Picture picture = view.build(c);
  const viz::Region& grid = picture.regions[1];
  const viz::Point at = grid.cell_rect(22, 33).center();
  const auto hit = viz::hit_test(picture.regions, at);
  ASSERT_TRUE(hit);
  const Facts facts = view.facts(c, picture, *hit);
  EXPECT_THAT(facts.tooltip(), Contains("dimension 22"));
  EXPECT_THAT(facts.status(), HasSubstr("position 33"));
  viz::Scene pointed = picture.scene;
  viz::append(pointed, facts.overlay, {0, 0});
  const viz::Bitmap before = viz::rasterize(picture.scene, *c.fonts, 1),
                    after = viz::rasterize(pointed, *c.fonts, 1);
  const viz::Rect cell = grid.cell_rect(22, 33);
  for (int y = static_cast<int>(cell.y) + 1; y < static_cast<int>(cell.bottom()); ++y) {
    for (int x = static_cast<int>(cell.x) + 1; x < static_cast<int>(cell.right()); ++x)
      ASSERT_EQ(before.at(x, y), after.at(x, y));
  }
}

TEST(Positions, WhereRowsAreFewerThanDimensionsTheyAreSinesAndCosinesNotTheirMeans) {
  const ViewContext c = shortest().context(900, 420);
  const Picture picture = find_view("positions")->build(c);
  const auto map = std::ranges::find_if(
      picture.regions, [](const viz::Region& r) { return r.role == kEncodingRole && r.id == 1; });
  ASSERT_NE(map, picture.regions.end());
  ASSERT_LT(map->rect.h, map->row_count) << "pooled";
  // The slowest sinusoids: sines near 0, cosines near 1. Their mean would be 0.5.
  int sines = 0, cosines = 0;
  for (int y = 1; y <= 12; ++y) {
    const auto color =
        image_color_at(picture.scene, {map->rect.x + 2, map->rect.bottom() - static_cast<float>(y) + 0.5F});
    ASSERT_TRUE(color);
    sines += channel_difference(*color, viz::diverging(light(), 0)) < 40;
    cosines += channel_difference(*color, viz::diverging(light(), 1)) < 40;
  }
  EXPECT_EQ(sines, 6);
  EXPECT_EQ(cosines, 6);
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("room for 50 % of the dimensions")));
}

TEST(Positions, SayHowCellsArePooled) {
  const ViewContext small = shortest().context(640, 560);
  EXPECT_THAT(texts(find_view("positions")->build(small).scene), Contains(HasSubstr("positions averaged")));
  ViewContext c = small;
  set(c, "encoding-zoom", "0:8,0:8");
  EXPECT_THAT(texts(find_view("positions")->build(c).scene), Not(Contains(HasSubstr("averaged"))));
}

}  // namespace
}  // namespace headscope::app::positions_view_test
