// Compares every view's PDF, rendered by poppler, with the pixels of the same picture: a file looks like the
// window.

#include "app/views/export.h"
#include "tests/app/views/view_suite.h"
#include "tests/viz/poppler.h"
#include "viz/players/players.h"

namespace headscope::app {
namespace {

using viz::Bitmap;
using viz::Color;

/// For each pixel the minimum (or maximum) of every channel within `radius`.
template <class Choose>
Bitmap extremes(const Bitmap& bitmap, int radius, const Choose& choose) {
  const auto along = [&](const Bitmap& from, int dx, int dy) {
    Bitmap to = from;
    for (int y = 0; y < from.height; ++y) {
      for (int x = 0; x < from.width; ++x) {
        Color& best = to.at(x, y);
        for (int k = -radius; k <= radius; ++k) {
          const int nx = x + k * dx, ny = y + k * dy;
          if (nx < 0 || ny < 0 || nx >= from.width || ny >= from.height) continue;
          const Color c = from.at(nx, ny);
          best = {choose(best.r, c.r), choose(best.g, c.g), choose(best.b, c.b), 255};
        }
      }
    }
    return to;
  };
  return along(along(bitmap, 1, 0), 0, 1);
}

/// Counts pixels whose colour is outside the range of those at and next to the same place in a picture twice
/// as large, and records the first one.
struct UnexpectedPixels {
  int count = 0;
  int x = 0;
  int y = 0;
  Color color = {};
};
UnexpectedPixels unexpected_pixels(const Bitmap& seen, const Bitmap& twice, int radius) {
  constexpr int kTolerance = 26;  // a tenth of the range: readers blend colours differently
  const auto least = [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); };
  const auto most = [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); };
  const Bitmap low = extremes(twice, radius, least), high = extremes(twice, radius, most);
  UnexpectedPixels unexpected;
  for (int y = 0; y < std::min(seen.height, twice.height / 2); ++y) {
    for (int x = 0; x < std::min(seen.width, twice.width / 2); ++x) {
      const Color c = seen.at(x, y), from = low.at(2 * x, 2 * y), to = high.at(2 * x, 2 * y);
      const auto outside = [&](int v, int a, int b) { return v < a - kTolerance || v > b + kTolerance; };
      if (!outside(c.r, from.r, to.r) && !outside(c.g, from.g, to.g) && !outside(c.b, from.b, to.b)) continue;
      if (unexpected.count++ == 0) unexpected.x = x, unexpected.y = y, unexpected.color = c;
    }
  }
  return unexpected;
}

class ViewsAsPdf : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, ViewsAsPdf, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

/// The number of such pixels allowed, in millionths.
struct Allowance {
  double something_else = 60;
  double missing = 200;
};

/// If many columns or several lines share a pixel, their blend depends on the reader.
Allowance allowance_of(const std::string& view) {
  if (view == "mlp" || view == "parameters" || view == "positions" || view == "shift") return {2000, 2000};
  if (view == "flow") return {150, 200};
  return {};
}

TEST_P(ViewsAsPdf, AreDrawnByReadersAsTheirPixelsAre) {
  if (!viz::testing::has_poppler()) GTEST_SKIP() << "poppler-utils is not installed";
  const ViewContext c = scenario(12).context(520, 400);
  const ExportOptions options{.scale = kVectorScale, .page = Page::at_least};
  const viz::Scene scene = export_scene_of(view(), c, options);
  const std::string pdf = export_bytes(FileFormat::pdf, view(), c, options);
  const auto expect_same = [](const char* what, double dpi, double allowed, const Bitmap& seen,
                              const Bitmap& twice) {
    ASSERT_FALSE(seen.empty());
    EXPECT_NEAR(seen.width, twice.width / 2, 1);
    EXPECT_NEAR(seen.height, twice.height / 2, 1);
    const UnexpectedPixels unexpected =
        unexpected_pixels(seen, twice, static_cast<int>(std::lround(dpi / 48)));
    const auto [r, g, b, a] = unexpected.color;
    EXPECT_LE(unexpected.count, allowed * 1e-6 * static_cast<double>(seen.pixels.size()))
        << what << " at " << dpi << " dpi; the first is " << int{r} << " " << int{g} << " " << int{b}
        << " at " << unexpected.x << ", " << unexpected.y;
  };
  const auto drawn = [&](double dpi) {
    return viz::rasterize(scene, *fonts(), static_cast<float>(dpi / 96));
  };
  const Allowance allowed = allowance_of(GetParam());
  for (const double dpi : {144, 200, 300})
    expect_same("something else is there", dpi, allowed.something_else,
                viz::testing::poppler_pixels(pdf, dpi), drawn(2 * dpi));
  expect_same("something is missing", 144, allowed.missing, drawn(144),
              viz::testing::poppler_pixels(pdf, 288));
}

}  // namespace
}  // namespace headscope::app
