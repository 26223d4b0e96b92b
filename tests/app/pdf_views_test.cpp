// Compares PDFs, rendered by poppler, with the pixels of the same picture: a file looks like the window. The
// views between them draw every kind of item.

#include "app/views/export.h"
#include "tests/app/views/view_suite.h"
#include "tests/viz/poppler.h"
#include "viz/players/players.h"

namespace headscope::app::pdf_views_test {
namespace {

using viz::Bitmap;
using viz::Color;

/// Each of `count` bytes becomes what `choose` makes of it and the one `offset` bytes behind it.
template <class Choose>
void choose_with(std::uint8_t* bytes, std::size_t count, std::size_t offset, const Choose& choose) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = choose(bytes[i], bytes[i + offset]);
}

/// For each pixel the minimum (or maximum) of every channel within `radius`, along rows and columns. A window
/// that is twice as large is chosen from two windows, so that the radius hardly matters.
template <class Choose>
Bitmap extremes(const Bitmap& bitmap, int radius, const Choose& choose) {
  constexpr std::size_t kChannels = sizeof(Color);
  const auto width = static_cast<std::size_t>(bitmap.width), height = static_cast<std::size_t>(bitmap.height),
             r = static_cast<std::size_t>(radius), wanted = 2 * r + 1;
  const std::size_t across = width + 2 * r, down = height + 2 * r;
  // The pixels at the edges are repeated around the bitmap, which changes no extreme.
  std::vector<Color> padded(across * down);
  for (std::size_t y = 0; y < down; ++y)
    for (std::size_t x = 0; x < across; ++x)
      padded[y * across + x] = bitmap.at(static_cast<int>(std::clamp(x, r, r + width - 1) - r),
                                         static_cast<int>(std::clamp(y, r, r + height - 1) - r));
  auto* bytes = reinterpret_cast<std::uint8_t*>(padded.data());
  const auto along = [&](std::size_t stride) {
    for (std::size_t window = 1, more = 0; window < wanted; window += more) {
      more = std::min(window, wanted - window);
      choose_with(bytes, (padded.size() - more * stride) * kChannels, more * stride * kChannels, choose);
    }
  };
  along(1);
  along(across);
  Bitmap chosen = bitmap;
  for (std::size_t y = 0; y < height; ++y) std::copy_n(&padded[y * across], width, &chosen.pixels[y * width]);
  return chosen;
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
INSTANTIATE_TEST_SUITE_P(Views, ViewsAsPdf,
                         ::testing::Values("heads", "tokens", "flow", "query_key_space", "next"),
                         [](const auto& test) { return test.param; });

/// The number of such pixels allowed, in millionths.
struct Allowance {
  double something_else = 60;
  double missing = 200;
};

/// If many columns or several lines share a pixel, their blend depends on the reader.
Allowance allowance_of(const std::string& view) {
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
  for (const double dpi : {144, 300})
    expect_same("something else is there", dpi, allowed.something_else,
                viz::testing::poppler_pixels(pdf, dpi), drawn(2 * dpi));
  expect_same("something is missing", 144, allowed.missing, drawn(144),
              viz::testing::poppler_pixels(pdf, 288));
}

}  // namespace
}  // namespace headscope::app::pdf_views_test
