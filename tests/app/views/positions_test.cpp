// Positional encodings: curves, colours and limits read from the picture, compared with the weights.

#include <numbers>

#include "app/run/analyses/geometry.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::positions_test {
namespace {

TEST(Positions, SinusoidsAreThoseOfThePaper) {
  constexpr int kPositions = 1024, kDimensions = 96;
  const std::vector<float> encoding = sinusoidal_encoding(kPositions, kDimensions);
  for (const int pos : {0, 1, 2, 17, 500, 1023}) {
    for (int i = 0; 2 * i < kDimensions; ++i) {
      const long double angle = pos / std::pow(10000.0L, 2.0L * i / kDimensions);
      EXPECT_NEAR(encoding[pos * kDimensions + 2 * i], static_cast<double>(std::sin(angle)), 1e-6);
      EXPECT_NEAR(encoding[pos * kDimensions + 2 * i + 1], static_cast<double>(std::cos(angle)), 1e-6);
    }
  }
  for (const int d : {0, 1, 50, 95})
    EXPECT_NEAR(sinusoidal_value(777, d, kDimensions), encoding[777 * kDimensions + d], 1e-6);
}

/// A curve as drawn: the value at each position, according to the numbers on its axis.
struct DrawnCurve {
  std::vector<double> values;
  double rounding = 0;  ///< value of one pixel
};

/// Reads the curves of a plot, and removes the numbers to its left from the page.
std::vector<DrawnCurve> read_curves(const viz::Scene& scene, const viz::Region& plot, DrawnPage& page) {
  const viz::Rect& r = plot.rect;
  std::vector<std::pair<double, double>> marks;  // height, value
  for (const auto& box : page.take(viz::Rect{r.x - 60, r.y - 8, 60, r.h + 16})) {
    if (const auto number = read_number(box.text)) marks.emplace_back(box.bounds.center().y, number->value);
  }
  if (marks.size() < 2) return {};
  const auto [low, high] = std::minmax_element(marks.begin(), marks.end());
  const double per_pixel = (high->second - low->second) / (high->first - low->first);
  std::vector<DrawnCurve> curves;
  for (const viz::Polyline& line : items_of<viz::Polyline>(scene)) {
    const auto in_plot = [&](viz::Point p) {
      return p.x >= r.x && p.x <= r.right() && p.y >= r.y - 1 && p.y <= r.bottom() + 1;
    };
    if (!std::ranges::all_of(line.points, in_plot)) continue;
    DrawnCurve curve{{}, std::abs(per_pixel)};
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      EXPECT_NEAR(line.points[i].x, plot.cell_rect(0, static_cast<int>(i)).center().x, 0.5)
          << "position " << i;
      curve.values.push_back(low->second + (static_cast<double>(line.points[i].y) - low->first) * per_pixel);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

double reference_encoding(const Scenario& s, int encoding, int position, int dimension) {
  const auto width = s.config().n_embd;
  if (encoding == 0) return reference_model().parameter("wpe.weight")[position * width + dimension];
  const double angle = position / std::pow(10000.0, (dimension - dimension % 2) / static_cast<double>(width));
  return dimension % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(Positions, CurvesColoursAndTableAreTheWeightsOfTheModelAndThePaper) {
  const Scenario& s = scenario(12);
  constexpr std::array<int, 3> kDimensions{3, 8, 151};
  const ViewFixture shown("positions", s, 1500, 900, {{"curves", "3,8,151"}}, light(), 2);
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(s.config().n_ctx));
  DrawnPage page = shown.page();
  for (const int encoding : {0, 1}) {
    const auto curves = read_curves(shown.scene(), shown.region(shown.curves(encoding)), page);
    ASSERT_EQ(curves.size(), kDimensions.size());
    for (std::size_t i = 0; i < kDimensions.size(); ++i) {
      ASSERT_EQ(curves[i].values.size(), rows.size());
      for (std::size_t position = 0; position < rows.size(); ++position) {
        SCOPED_TRACE("encoding " + std::to_string(encoding) + ", dimension " +
                     std::to_string(kDimensions[i]) + ", position " + std::to_string(position));
        const std::string& cell =
            rows[position][1 + static_cast<std::size_t>(encoding) * kDimensions.size() + i];
        EXPECT_TRUE(agree(DrawnNumber{curves[i].values[position], curves[i].rounding}, cell,
                          reference_encoding(s, encoding, static_cast<int>(position), kDimensions[i]), 1e-6));
      }
    }
    const int grid = shown.encoding(encoding);
    const auto bars = lying_bars(shown.scene());
    ASSERT_EQ(bars.size(), 2U);
    const DrawnScale scale(page, bars[encoding]);
    EXPECT_NEAR(scale.low(), -scale.high(), 0.02 * scale.high());
    if (encoding == 1) {
      EXPECT_NEAR(scale.high(), 1, 0.02);
    }
    for (int dimension = 0; dimension < s.config().n_embd; dimension += 7) {
      for (int position = 0; position < s.config().n_ctx; position += 5) {
        EXPECT_TRUE(reads(scale, shown.color_of(grid, dimension, position),
                          reference_encoding(s, encoding, position, dimension)))
            << "encoding " << encoding << ", dimension " << dimension << ", position " << position;
      }
    }
  }
}

TEST(Positions, KeysTakeOtherDimensions) {
  const Scenario& s = scenario(12);
  const ViewFixture whole("positions", s, 900, 700, {{"curves", "4,5"}});
  EXPECT_EQ(in_words(whole.press(Key::right)), "curves 6,7");
  EXPECT_EQ(in_words(whole.press(Key::left)), "curves 2,3");
  EXPECT_EQ(in_words(whole.press(Key::down)), "");
}

TEST(Positions, DrawnCosinesAreTheTables) {
  const ViewFixture shown("positions", scenario(12), 1600, 1000,
                          {{"positions-show", "cosines"}, {"curves", "3,255"}});
  const auto cosines = scenario(12).ask(CosinesOfPositions{});
  const viz::ColorTable color_of(viz::diverging_scale(1), light());
  const Table table = shown.table();
  for (const bool learned : {true, false}) {
    const std::string with = learned ? "learned with " : "sinusoidal with ";
    for (const auto& [row, col] : {std::pair{3, 0}, {3, 200}, {255, 255}}) {
      const auto color = shown.color_of(shown.encoding(learned ? 0 : 1), row, col);
      ASSERT_TRUE(color);
      EXPECT_EQ(*color, color_of(cosines->matrix(learned).at(row, col)));
      EXPECT_EQ(numbers_of(table, with + std::to_string(row))[col],
                decimal(cosines->matrix(learned).at(row, col)));
    }
  }
}

TEST(Positions, AClickOnARowOfCosinesDrawsItsCurveAndTakesItAway) {
  const ViewFixture shown("positions", scenario(12), 900, 700,
                          {{"positions-show", "cosines"}, {"curves", "10,20"}});
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 40, 3)), "curves 10,20,40");
  EXPECT_EQ(in_words(shown.click(shown.encoding(1), 10, 3)), "curves 20");
  EXPECT_EQ(in_words(shown.press(Key::right)), "curves 11,21");
}

TEST(Positions, TheShiftShowsPartsWhileItIsComputed) {
  PositionShift part = *scenario(12).ask(ShiftOfPositions{});
  for (auto* errors : {&part.sinusoidal, &part.learned, &part.unseen, &part.stay}) errors->resize(9);
  OneAnswer answers(ShiftOfPositions{}, part, false);
  ViewContext c = scenario(12).context(900, 700, answers);
  set(c, "positions-show", "shift");
  const Picture picture = find_view("positions")->build(c);
  EXPECT_THAT(texts(picture.scene), Contains("computing… k up to 8"));
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
  ViewContext c = scenario(12).context(900, 700);
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
}  // namespace headscope::app::positions_test
