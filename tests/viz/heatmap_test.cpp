// Maps of cells and their numbers; pooled pixels show the cells under them, and pictures say how they are
// pooled.
#include "viz/charts/heatmap.h"
#include "tests/support/matchers.h"
#include "tests/viz/pictures.h"
#include "tests/viz/text_boxes.h"

namespace headscope::viz::heatmap_test {
namespace {

using namespace testing;

HeatmapCells cells_of(const std::vector<float>& values, int rows, int cols,
                      const ColorScale& scale = linear_scale(1)) {
  HeatmapCells cells;
  cells.matrix = Matrix::row_major(values, rows, cols);
  cells.scale = scale;
  return cells;
}

/// A region with all of `rows` x `cols` cells over `rect`.
Region whole_grid(Rect rect, int rows, int cols) {
  return Region::grid(0, 0, rect, rows, cols);
}

std::vector<std::string> cell_texts(const std::vector<float>& values, double scale = 1000,
                                    float width = 400) {
  Scene scene;
  const int count = static_cast<int>(values.size());
  const ColorScale marked = marked_for(diverging_scale(scale), value_range(Matrix::row(values)));
  paint_cell_values(scene, cells_of(values, 1, count, marked), whole_grid({0, 0, width, 100}, 1, count),
                    style_of());
  return texts(scene);
}

TEST(HeatmapValues, HaveTwoDigitsOfTheLargestThatColoursTellApart) {
  EXPECT_THAT(cell_texts({-0.5F, 0.0631F, 0}), ElementsAre("−0.50", "0.06", "0.00"));
  EXPECT_THAT(cell_texts({-0.0064F, 0.00123F, 0}), ElementsAre("−0.0064", "0.0012", "0.0000"));
  EXPECT_THAT(cell_texts({2.5e-5F, 1e-6F}), ElementsAre("0.000025", "0.000001"));
  EXPECT_THAT(cell_texts({4.25F, 1}), ElementsAre("4.25", "1.00"));
  EXPECT_THAT(cell_texts({64.25F, 1}), ElementsAre("64.2", "1.0"));
  EXPECT_THAT(cell_texts({-640.25F, 1}), ElementsAre("−640", "1"));
  EXPECT_THAT(cell_texts({0, 0}), ElementsAre("0.00", "0.00"));
  EXPECT_THAT(cell_texts({2.5e-9F, 0}), ElementsAre()) << "the scale says how small they are";
  const std::vector<float> values{-0.31F, 0.0041F, -0.0012F};  // told apart if their colours are
  EXPECT_THAT(cell_texts(values), ElementsAre("−0.31", "0.00", "0.00"));
  EXPECT_THAT(cell_texts(values, 0.005), ElementsAre("−0.3100", "0.0041", "−0.0012"));
  EXPECT_THAT(cell_texts({-123.4F, 0.0041F, -0.0012F}, 0.005, 150), ElementsAre("−123.4", "0.004", "−0.001"))
      << "beyond the scale, with the decimals that its cell has room for";
  EXPECT_THAT(cell_texts({3.03F, 0.5F, -1.25F}, 1, 90), ElementsAre("3.03", "−1.2")) << "in small cells";
}

TEST(HeatmapValues, HaveWiderCellsInALowArea) {
  const std::vector<float> values(36, 0.5F);
  Picture picture;
  Heatmap map;
  map.cells = cells_of(values, 6, 6);
  paint_heatmap(picture, map, {0, 0, 400, 160}, style_of());
  EXPECT_THAT(texts(picture.scene), Contains("0.50"));
}

TEST(HeatmapImage, PoolsByLargestMagnitudeAndLosesNoCell) {
  constexpr int kSide = 1000;
  for (const auto& [row, col] : {std::pair{0, 0}, {777, 123}, {999, 999}, {500, 0}, {31, 998}}) {
    std::vector<float> values(kSide * kSide, 0.01F);
    values[row * kSide + col] = -1;
    HeatmapCells cells = cells_of(values, kSide, kSide);
    cells.scale = diverging_scale(1);
    for (const float size : {100.F, 333.F, 999.F}) {
      for (const bool transposed : {false, true}) {
        HeatmapCells seen = cells;
        if (transposed) seen.matrix = cells.matrix.transposed();
        const Image image = heatmap_image(seen, whole_grid({0, 0, size, size}, kSide, kSide), style_of());
        ASSERT_EQ(image.bitmap->width, static_cast<int>(size));
        int found = 0;
        for (int y = 0; y < image.bitmap->height; ++y) {
          for (int x = 0; x < image.bitmap->width; ++x) {
            if (image.bitmap->at(x, y) != diverging(kLight, -1)) continue;
            ++found;
            EXPECT_NEAR((x + 0.5) * kSide / size, (transposed ? row : col) + 0.5, 0.51 + 0.5 * kSide / size);
            EXPECT_NEAR((y + 0.5) * kSide / size, (transposed ? col : row) + 0.5, 0.51 + 0.5 * kSide / size);
          }
        }
        EXPECT_EQ(found, 1) << row << "," << col << " " << size;
      }
    }
  }
}

TEST(HeatmapImage, ZoomedItCoversTheCellsInSight) {
  std::vector<float> values(20 * 20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 400;
  Region grid = whole_grid({100, 50, 210, 210}, 20, 20);
  grid.first_row = 3.5, grid.first_col = 10.25, grid.rows = grid.cols = 7;
  const Image image = heatmap_image(cells_of(values, 20, 20), grid, style_of());
  EXPECT_EQ(image.bitmap->width, 8);   // columns 10 .. 17
  EXPECT_EQ(image.bitmap->height, 8);  // rows 3 .. 10
  EXPECT_NEAR(image.dest.x, grid.cell_rect(3, 10).x, 1e-3);
  EXPECT_NEAR(image.dest.right(), grid.cell_rect(10, 17).right(), 1e-3);
}

TEST(FitGrid, SquareWholePixelsInsideTheArea) {
  for (const int n : {1, 7, 23, 100, 640, 1024}) {
    const Region grid = fit_grid({10, 10, 640, 480}, n, n, {}, 1, style_of());
    EXPECT_FLOAT_EQ(grid.rect.w, grid.rect.h);
    EXPECT_LE(grid.rect.bottom(), 490.01F);
    EXPECT_GE(grid.rect.h, (n == 23 ? 0.9999F : 0.84F) * 480) << "20 pixels a cell would leave 20 of them";
  }
  const Region zoomed = fit_grid({0, 0, 100, 100}, 50, 50, {45, -3, 10, 10}, 1, style_of());
  EXPECT_EQ(std::pair(zoomed.first_row, zoomed.first_col), std::pair(40.0, 0.0));
}

TEST(Labels, AreThinnedToNiceSteps) {
  EXPECT_EQ(label_step(20, 15), 1);
  EXPECT_EQ(label_step(8, 15), 2);
  EXPECT_EQ(label_step(4, 15), 5);
  EXPECT_EQ(label_step(0.6F, 15), 50);
  EXPECT_THAT(labelled_cells(0, 10, 10, 4, 15, -1), ElementsAre(0, 5));
  EXPECT_THAT(labelled_cells(0, 30, 30, 4, 15, 12), ElementsAre(0, 5, 12, 20, 25));
  EXPECT_THAT(labelled_cells(2.6, 4, 10, 40, 15, -1), ElementsAre(3, 4, 5, 6));
}

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
}  // namespace headscope::viz::heatmap_test
