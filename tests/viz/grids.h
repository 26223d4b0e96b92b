#pragma once
#include "tests/viz/pictures.h"
#include "viz/charts/heatmap.h"

/// Shared by tests of matrices.
namespace headscope::viz::testing {

inline HeatmapCells cells_of(const std::vector<float>& values, int rows, int cols,
                             const ColorScale& scale = linear_scale(1)) {
  HeatmapCells cells;
  cells.matrix = Matrix::row_major(values, rows, cols);
  cells.scale = scale;
  return cells;
}

/// A region with all of `rows` x `cols` cells over `rect`.
inline Region whole_grid(Rect rect, int rows, int cols) {
  return Region::grid(0, 0, rect, rows, cols);
}

}  // namespace headscope::viz::testing
