// The Positions view: readable curves for any model shape, zooming, and the note about pooling.

#include <numbers>

#include "app/run/analyses/geometry.h"
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

TEST(ReadableDimensions, MakeOnePeriodAndAnEighthOfAnyContext) {
  for (const int d_model : {1, 2, 3, 5, 8, 48, 64, 768, 1600}) {
    for (const int n_ctx : {1, 2, 8, 64, 256, 1024}) {
      const std::vector<int> dimensions = readable_dimensions(noise(n_ctx, d_model), n_ctx, d_model);
      SCOPED_TRACE(std::to_string(d_model) + " dimensions, " + std::to_string(n_ctx) + " positions");
      ASSERT_EQ(dimensions.size(), static_cast<std::size_t>(std::min(2, d_model)));
      for (std::size_t i = 0; i < dimensions.size(); ++i) {
        EXPECT_GE(dimensions[i], i == 0 ? 0 : dimensions[i - 1] + 1);
        EXPECT_LT(dimensions[i], d_model);
      }
      if (d_model < 48 || n_ctx < 64) continue;
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(std::log2(periods(dimensions[i], n_ctx, d_model)), -3 * i, 0.5001);
    }
  }
}

TEST(ReadableDimensions, AreThoseThatTheModelLearnedSmoothly) {
  constexpr int kPositions = 1024, kDimensions = 768;
  std::vector<float> learned = noise(kPositions, kDimensions);
  const std::vector<int> defaults = readable_dimensions(learned, kPositions, kDimensions);
  std::vector<int> smooth;
  for (const double wanted : {1.0, 0.125}) {  // the first odd dimension of each half octave
    int d = 1;
    while (periods(d, kPositions, kDimensions) > wanted * 1.4) d += 2;
    smooth.push_back(d);
    for (int p = 0; p < kPositions; ++p) learned[p * kDimensions + d] = static_cast<float>(p % 300);
  }
  learned[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(readable_dimensions(learned, kPositions, kDimensions), smooth);
  EXPECT_NE(defaults, smooth);
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

}  // namespace
}  // namespace headscope::app::positions_view_test
