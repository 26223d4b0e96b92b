// Pooled pixels show the cells under them, pictures say how they are pooled, and pointing at a cell keeps its
// colour.

#include "tests/support/matchers.h"
#include "tests/viz/grids.h"
#include "tests/viz/text_boxes.h"
#include "viz/charts/heatmap.h"

namespace headscope::viz::pooling_test {
namespace {

using namespace testing;

std::vector<float> random_values(int count, unsigned seed = 3) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(static_cast<float>(seed >> 8) / (1 << 23) - 1);
  }
  return values;
}

/// The integral of a matrix from its corner to (row, col), each cell being constant.
double integral(const Matrix& m, double row, double col) {
  double sum = 0;
  for (int r = 0; r < m.rows && r < row; ++r) {
    for (int c = 0; c < m.cols && c < col; ++c)
      sum += double{m.at(r, c)} * std::min(1.0, row - r) * std::min(1.0, col - c);
  }
  return sum;
}

/// A pixel shows the strongest or the mean of the cells under it that are not masked.
TEST(MaskedCells, CountForNoPixel) {
  constexpr int kCells = 60, kPixels = 20, kEach = kCells / kPixels;
  const std::vector<float> values = random_values(kCells * kCells);
  std::vector<std::uint8_t> masked(values.size());
  unsigned seed = 9;
  for (std::size_t i = 0; i < masked.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const bool block = i / kCells / kEach == 4 || i % kCells / kEach == 11;  // all cells of some pixels
    masked[i] = block || (seed >> 28) < 11 ? 1 : 0;
  }
  for (const Pooling pooling : {Pooling::strongest, Pooling::mean}) {
    HeatmapCells cells = cells_of(values, kCells, kCells, diverging_scale(1));
    cells.masked = masked;
    cells.pooling = pooling;
    const Image image =
        heatmap_image(cells, whole_grid({0, 0, kPixels, kPixels}, kCells, kCells), style_of());
    ASSERT_EQ(image.bitmap->width, kPixels);
    const ColorTable color(cells.scale, kLight);
    for (int y = 0; y < kPixels; ++y) {
      for (int x = 0; x < kPixels; ++x) {
        float strongest = 0, sum = 0;
        int count = 0;
        for (int r = y * kEach; r < (y + 1) * kEach; ++r) {
          for (int c = x * kEach; c < (x + 1) * kEach; ++c) {
            const int i = r * kCells + c;
            if (masked[i] != 0) continue;
            if (std::abs(values[i]) > std::abs(strongest)) strongest = values[i];
            sum += values[i];
            ++count;
          }
        }
        const Color pixel = image.bitmap->at(x, y);
        // Means over hardly any cells are masked.
        if (count == 0 || (pooling == Pooling::mean && 4 * count <= kEach * kEach)) {
          EXPECT_EQ(pixel.a, 0) << x << " " << y;
        } else {
          const float expected = pooling == Pooling::mean ? sum / static_cast<float>(count) : strongest;
          EXPECT_LE(testing::channel_difference(pixel, color(expected)), 2) << x << " " << y;
        }
      }
    }
  }
}

TEST(PooledMeans, AreThoseOfTheCellsUnderEachPixelByTheirParts) {
  constexpr int kRows = 70, kCols = 45, kHeight = 26, kWidth = 17;
  const std::vector<float> values = random_values(kRows * kCols);
  for (const bool transposed : {false, true}) {
    HeatmapCells cells =
        cells_of(values, transposed ? kCols : kRows, transposed ? kRows : kCols, diverging_scale(1));
    if (transposed) cells.matrix = cells.matrix.transposed();
    cells.pooling = Pooling::mean;
    Region grid = whole_grid({0, 0, kWidth, kHeight}, kRows, kCols);
    grid.first_row = 3.3, grid.rows = 60.5, grid.first_col = 0.25, grid.cols = 44;
    const Image image = heatmap_image(cells, grid, style_of());
    ASSERT_EQ(image.bitmap->width, kWidth);
    ASSERT_EQ(image.bitmap->height, kHeight);
    const double h = grid.rows / kHeight, w = grid.cols / kWidth;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const double top = grid.first_row + y * h, left = grid.first_col + x * w;
        const double mean =
            (integral(cells.matrix, top + h, left + w) - integral(cells.matrix, top, left + w) -
             integral(cells.matrix, top + h, left) + integral(cells.matrix, top, left)) /
            (h * w);
        EXPECT_LE(testing::channel_difference(image.bitmap->at(x, y), diverging(kLight, mean)), 3)
            << x << "," << y;
      }
    }
  }
}

TEST(Crosshair, LeavesTheColourOfTheCellThatIsRead) {
  for (const auto& [n, scale] : {std::pair{12, 1.F}, {40, 1.F}, {100, 1.F}, {200, 2.F}}) {
    const std::vector<float> values = random_values(n * n);
    HeatmapCells cells = cells_of(values, n, n, diverging_scale(1));
    const Region grid = whole_grid({20, 20, 400, 400}, n, n);
    Scene plain = testing::blank(440, 440);
    paint_cells(plain, cells, grid, style_of(kLight, 14, scale));
    for (const auto& [row, col] : {std::pair{0, 0}, {n / 2, n / 3}, {n - 1, 2}}) {
      Scene pointed = plain;
      paint_crosshair(pointed, grid, row, col, kLight.query, kLight.key, style_of(kLight, 14, scale));
      const Bitmap before = rasterize(plain, *fonts(), scale), after = rasterize(pointed, *fonts(), scale);
      const Rect cell = grid.cell_rect(row, col);
      for (int y = static_cast<int>(std::ceil(cell.y * scale)); y < static_cast<int>(cell.bottom() * scale);
           ++y) {
        for (int x = static_cast<int>(std::ceil(cell.x * scale)); x < static_cast<int>(cell.right() * scale);
             ++x) {
          ASSERT_EQ(after.at(x, y), before.at(x, y)) << n << ": " << row << "," << col;
        }
      }
      const Point far{grid.cell_rect(row, n - 3).center()};  // in the same row
      EXPECT_NE(after.at(static_cast<int>(far.x * scale), static_cast<int>(far.y * scale)),
                before.at(static_cast<int>(far.x * scale), static_cast<int>(far.y * scale)));
    }
  }
}

}  // namespace
}  // namespace headscope::viz::pooling_test
