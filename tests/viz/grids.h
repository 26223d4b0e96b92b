#pragma once
#include "tests/viz/pictures.h"
#include "viz/charts/heatmap.h"

/// Shared by tests of matrices.
namespace headscope::viz::testing {

/// The light theme, with text of 14 pixels.
inline Style grid_style(float device_scale = 1) {
  static const Theme theme = light_theme();
  return {theme, *fonts(), 14, device_scale};
}

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
